#include "krohn/simulate/many/pair_run.h"

#include <algorithm>
#include <cstring>

#include "krohn/groups/error.h"
#include "krohn/groups/record_set.h"
#include "krohn/simulate/many/varint.h"

namespace krohn {
namespace {

/// Of a block, at least: a page of a disk, and so many records that the first of them, in memory, is little.
std::size_t block_bytes(std::size_t width) { return std::max<std::size_t>(4096, 256 * width); }

bool is_less(PairRun::Record a, PairRun::Record b) { return std::ranges::lexicographical_compare(a, b); }

/// Records as rows of words, for a quicksort that looks at one word at a time: those that are less than a pivot's
/// there, then those that share it, which are sorted by the next word, then the others.
class RowSort {
 public:
  RowSort(std::uint32_t* rows, std::size_t width) : rows_(rows), width_(width) {}

  void sort(std::size_t begin, std::size_t end, std::size_t word) {
    while (end - begin > 1 && word < width_) {
      const std::uint32_t pivot = middle(any(begin, end, word), any(begin, end, word), any(begin, end, word));
      std::size_t less = begin, greater = end;
      for (std::size_t row = begin; row < greater;) {
        const std::uint32_t here = at(row, word);
        if (here < pivot)
          swap(less++, row++);
        else if (here > pivot)
          swap(row, --greater);
        else
          ++row;
      }
      // The longest of the three goes on here, so that the depth is at most log₂ of the rows and the words.
      Part parts[] = {{begin, less, word}, {less, greater, word + 1}, {greater, end, word}};
      std::ranges::sort(parts, {}, [](const Part& part) { return part.end - part.begin; });
      sort(parts[0].begin, parts[0].end, parts[0].word);
      sort(parts[1].begin, parts[1].end, parts[1].word);
      begin = parts[2].begin, end = parts[2].end, word = parts[2].word;
    }
  }

 private:
  struct Part {
    std::size_t begin, end, word;
  };

  std::uint32_t at(std::size_t row, std::size_t word) const { return rows_[row * width_ + word]; }
  /// Of rows drawn at random, since a search meets its records in some order of its own.
  std::uint32_t any(std::size_t begin, std::size_t end, std::size_t word) {
    drawn_ = drawn_ * 6364136223846793005u + 1442695040888963407u;
    return at(begin + (drawn_ >> 33) % (end - begin), word);
  }
  static std::uint32_t middle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  void swap(std::size_t a, std::size_t b) {
    if (a != b) std::swap_ranges(rows_ + a * width_, rows_ + (a + 1) * width_, rows_ + b * width_);
  }

  std::uint32_t* rows_;
  std::size_t width_;
  std::uint64_t drawn_ = 1;
};

}  // namespace

std::uint64_t HashFilter::bits_of(std::uint64_t hash) {
  std::uint64_t bits = 0;
  std::uint64_t from = mixed(hash);
  from ^= from >> 32;
  for (int bit = 0; bit < 5; ++bit, from >>= 6) bits |= std::uint64_t{1} << (from & 63);
  return bits;
}

void sort_records(std::span<std::uint32_t> records, std::size_t width) {
  RowSort(records.data(), width).sort(0, records.size() / width, 0);
}

PairRun::PairRun(DiskSpace& space, std::size_t width, std::uint64_t count)
    : width_(width), filter_(count), file_(space) {}

void PairRun::append(Record record) {
  filter_.add(RecordSet::hash(record));
  ++size_;
  if (coded_.size() >= block_bytes(width_)) close_block();
  if (firsts_.size() == blocks_.size() * width_) {
    firsts_.insert(firsts_.end(), record.begin(), record.end());
  } else {
    const auto word = static_cast<std::size_t>(std::ranges::mismatch(record, last_).in1 - record.begin());
    if (word == width_ || record[word] < last_[word])
      throw SystemError("a search has lost the order of its pairs; please report this");
    const std::uint64_t step = std::uint64_t{record[word]} - last_[word] - 1;
    if (word + 1 == width_) {
      put_varint(coded_, step * 2);
    } else {
      put_varint(coded_, word * 2 + 1);
      put_varint(coded_, step);
      const auto* const rest = reinterpret_cast<const std::uint8_t*>(record.data() + word + 1);
      coded_.insert(coded_.end(), rest, rest + (width_ - word - 1) * sizeof(std::uint32_t));
    }
  }
  last_.assign(record.begin(), record.end());
}

void PairRun::finish() {
  if (firsts_.size() > blocks_.size() * width_) close_block();
  last_ = {};
  coded_ = {};
}

/// A block ends with its length in bytes, so that the padding is not read.
void PairRun::close_block() {
  const auto bytes = static_cast<std::uint32_t>(coded_.size());
  std::vector<std::uint32_t> words((bytes + 3) / 4 + 1);
  std::memcpy(words.data(), coded_.data(), bytes);
  words.back() = bytes;
  blocks_.push_back(file_.append(words));
  disk_bytes_ += words.size() * sizeof(std::uint32_t);
  coded_.clear();
}

std::uint64_t PairRun::bytes() const {
  return filter_.bytes() + blocks_.capacity() * sizeof(SpilledWords) + firsts_.capacity() * sizeof(std::uint32_t);
}

PairRun::Cursor::Cursor(const PairRun& run) : run_(run), record_(run.width_) {
  if (!run.blocks_.empty()) open(0);
}

void PairRun::Cursor::open(std::size_t block) {
  block_ = block;
  if (is_at_end()) return;
  coded_.resize(run_.blocks_[block].words);
  run_.file_.read(run_.blocks_[block], coded_);
  at_ = 0;
  std::ranges::copy(run_.first_of(block), record_.begin());
}

void PairRun::Cursor::next() {
  if (at_ >= coded_.back())
    open(block_ + 1);
  else
    decode();
}

void PairRun::Cursor::decode() {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(coded_.data()), coded_.back());
  const std::uint64_t tag = take_varint(bytes, at_);
  if (tag % 2 == 0) {
    record_.back() += static_cast<std::uint32_t>(tag / 2 + 1);
    return;
  }
  const std::size_t word = tag / 2;
  record_[word] += static_cast<std::uint32_t>(take_varint(bytes, at_) + 1);
  const std::size_t rest = (run_.width_ - word - 1) * sizeof(std::uint32_t);
  std::memcpy(record_.data() + word + 1, bytes.data() + at_, rest);
  at_ += rest;
}

void PairRun::Cursor::seek(Record record) {
  if (is_at_end() || !is_less(record_, record)) return;
  // The last block whose first record is not greater.
  std::size_t low = block_, high = run_.blocks_.size();
  while (high - low > 1) {
    const std::size_t between = low + (high - low) / 2;
    (is_less(record, run_.first_of(between)) ? high : low) = between;
  }
  if (low != block_) open(low);
  while (!is_at_end() && is_less(record_, record)) next();
}

std::unique_ptr<PairRun> merge(const PairRun& a, const PairRun& b, DiskSpace& space, std::size_t width) {
  auto merged = std::make_unique<PairRun>(space, width, a.size() + b.size());
  PairRun::Cursor left(a), right(b);
  while (!left.is_at_end() || !right.is_at_end()) {
    const bool from_left = right.is_at_end() || (!left.is_at_end() && is_less(left.record(), right.record()));
    PairRun::Cursor& least = from_left ? left : right;
    merged->append(least.record());
    least.next();
  }
  merged->finish();
  return merged;
}

}  // namespace krohn
