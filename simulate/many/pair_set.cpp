#include "krohn/simulate/many/pair_set.h"

#include <algorithm>
#include <utility>

namespace krohn {
namespace {

/// Records whose memory is asked for in advance.
constexpr std::size_t kBlock = 64;

}  // namespace

void PairSet::insert(std::span<const std::uint32_t> records, Ranks::Words& fresh) {
  const std::size_t count = records.size() / width_;
  const auto record = [&](std::size_t i) { return records.subspan(i * width_, width_); };
  const auto is_fresh = [&](std::size_t i) { fresh[i / 32] |= 1u << i % 32; };
  fresh.assign((count + 31) / 32, 0);
  suspects_.clear();
  std::uint64_t hashes[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t here = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < here; ++i) {
      young_.prefetch_entry(hashes[i] = RecordSet::hash(record(first + i)));
      if (old_) old_->prefetch_entry(hashes[i]);
    }
    for (std::size_t i = 0; i < here; ++i) {
      young_.prefetch_record(hashes[i]);
      if (old_) old_->prefetch_record(hashes[i]);
    }
    for (std::size_t i = 0; i < here; ++i) {
      if (old_ || !runs_.empty()) {
        if (is_in_memory(record(first + i))) continue;
        if (may_be_on_disk(hashes[i])) {
          suspects_.push_back(static_cast<std::uint32_t>(first + i));
          continue;
        }
      }
      if (young_.insert(record(first + i), hashes[i]).fresh) is_fresh(first + i);
    }
  }
  if (suspects_.empty()) return;
  look_up(records);
  for (std::size_t i = 0; i < suspects_.size(); ++i)
    if (!is_known_[i] && young_.insert(record(suspects_[i])).fresh) is_fresh(suspects_[i]);
}

bool PairSet::may_be_on_disk(std::uint64_t hash) const {
  return std::ranges::any_of(runs_, [&](const auto& run) { return run->may_have(hash); });
}

/// Which of the suspects are on disk, in the order of their records.
void PairSet::look_up(std::span<const std::uint32_t> records) {
  const auto record = [&](std::uint32_t suspect) {
    return records.subspan(std::size_t{suspects_[suspect]} * width_, width_);
  };
  std::vector<std::uint32_t> order(suspects_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(record(a), record(b));
  });
  is_known_.assign(suspects_.size(), false);
  for (const auto& run : runs_) {
    PairRun::Cursor cursor(*run);
    for (const std::uint32_t suspect : order) {
      if (is_known_[suspect] || !run->may_have(RecordSet::hash(record(suspect)))) continue;
      cursor.seek(record(suspect));
      if (cursor.is_at_end()) break;
      is_known_[suspect] = std::ranges::equal(cursor.record(), record(suspect));
    }
  }
}

std::uint64_t PairSet::size() const {
  std::uint64_t size = young_.size() + (old_ ? old_->size() : 0);
  for (const auto& run : runs_) size += run->size();
  return size;
}

std::uint64_t PairSet::run_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : runs_) bytes += run->bytes();
  return bytes;
}

void PairSet::make_room(std::uint64_t most, DiskSpace& space) {
  const std::uint64_t fixed = run_bytes(), left = most > fixed ? most - fixed : 0;
  // Beside two generations the records of one are there once more while they are sorted.
  if (young_.size() == 0 || young_.bytes() <= left / 8 * 3) return;
  if (old_) write_old(space);
  old_ = std::exchange(young_, RecordSet(width_));
}

void PairSet::write_old(DiskSpace& space) {
  std::unique_ptr<PairRun> run;
  {
    std::vector<std::uint32_t> records;
    records.reserve(std::size_t{old_->size()} * width_);
    for (RecordSet::Index i = 0; i < old_->size(); ++i)
      records.insert(records.end(), (*old_)[i].begin(), (*old_)[i].end());
    sort_records(records, width_);
    run = std::make_unique<PairRun>(space, width_, old_->size());
    for (std::size_t at = 0; at < records.size(); at += width_)
      run->append(std::span<const std::uint32_t>(records).subspan(at, width_));
    run->finish();
  }
  old_.reset();
  runs_.push_back(std::move(run));
  while (runs_.size() > 1 && runs_[runs_.size() - 2]->size() <= 2 * runs_.back()->size()) {
    auto merged = merge(*runs_[runs_.size() - 2], *runs_.back(), space, width_);
    runs_.pop_back();
    runs_.back() = std::move(merged);
  }
}

}  // namespace krohn
