#include "krohn/groups/base/record_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"

namespace krohn {

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

RecordSet::RecordSet(std::size_t words) : words_(words), table_(64, kEmpty) {
  if (words == 0) throw InputError("a set of records needs records of at least one word");
}

std::uint64_t RecordSet::bytes() const {
  return blocks_.size() * (std::uint64_t{1} << kBlockBits) * words_ * sizeof(std::uint32_t) +
         table_.size() * sizeof(Index);
}

/// Multiplies and folds one word at a time; the last folding spreads the high bits into the low ones that index.
std::uint64_t RecordSet::hash(Record record) {
  std::uint64_t state = 0x9e3779b97f4a7c15ULL;
  for (const std::uint32_t word : record) {
    state = (state ^ word) * 0xbf58476d1ce4e5b9ULL;
    state ^= state >> 32;
  }
  state *= 0x94d049bb133111ebULL;
  return state ^ (state >> 29);
}

/// The table entry that holds the record, or the empty one where it belongs.
std::size_t RecordSet::entry_of(Record record, std::uint64_t hash) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t entry = hash & mask;
  while (table_[entry] != kEmpty && !std::equal(record.begin(), record.end(), (*this)[table_[entry]].begin()))
    entry = (entry + 1) & mask;
  return entry;
}

RecordSet::Insertion RecordSet::insert(Record record, std::uint64_t hash) {
  const std::size_t entry = entry_of(record, hash);
  if (table_[entry] != kEmpty) return {table_[entry], false};
  if (size_ == kEmpty - 1) throw LimitError("a search met the limit of 2^32 - 2 records");
  append(record);
  table_[entry] = size_ - 1;
  if (std::uint64_t{size_} * 2 > table_.size()) grow();
  return {size_ - 1, true};
}

std::optional<RecordSet::Index> RecordSet::find(Record record) const {
  const Index index = table_[entry_of(record, hash(record))];
  if (index == kEmpty) return std::nullopt;
  return index;
}

void RecordSet::append(Record record) {
  if ((size_ & kBlockMask) == 0)
    blocks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>((std::size_t{1} << kBlockBits) * words_));
  std::copy(record.begin(), record.end(), blocks_.back().get() + (size_ & kBlockMask) * words_);
  ++size_;
}

void RecordSet::grow() {
  std::vector<Index> larger(table_.size() * 2, kEmpty);
  const std::size_t mask = larger.size() - 1;
  for (Index index = 0; index < size_; ++index) {
    std::size_t entry = hash((*this)[index]) & mask;
    while (larger[entry] != kEmpty) entry = (entry + 1) & mask;
    larger[entry] = index;
  }
  table_ = std::move(larger);
}

void RecordSet::prefetch_entry(std::uint64_t hash) const {
  __builtin_prefetch(table_.data() + (hash & (table_.size() - 1)));
}

void RecordSet::prefetch_record(std::uint64_t hash) const {
  const Index index = table_[hash & (table_.size() - 1)];
  if (index != kEmpty) __builtin_prefetch((*this)[index].data());
}

}  // namespace krohn
