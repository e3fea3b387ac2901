// groups/base/record_set.h — sets of records, and fingerprints of what is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// FNV-1a of the bytes, 64 bits, as 16 hexadecimal digits. Not against forgery (simulate/check/sha256.h).
std::string fingerprint(std::string_view bytes);

// A growing set of records of one fixed size, each numbered by its arrival: what a
// breadth-first search over tuples of labels or numbers remembers.

/// Records of `words` 32-bit words. Open addressing with linear probing over 32-bit arrival numbers; the records lie in
/// blocks that never move, so growth copies no record. Memory: 4·words bytes a record and at most 16 bytes of table.
class RecordSet {
 public:
  using Index = std::uint32_t;
  using Record = std::span<const std::uint32_t>;

  /// Throws InputError when words == 0.
  explicit RecordSet(std::size_t words);

  Index size() const { return size_; }
  std::size_t words() const { return words_; }
  /// Bytes held by records and table.
  std::uint64_t bytes() const;

  Record operator[](Index index) const {
    return {blocks_[index >> kBlockBits].get() + (index & kBlockMask) * words_, words_};
  }

  struct Insertion {
    Index index = 0;
    bool fresh = false;
  };
  /// Adds the record unless it is there. Amortised O(words) expected. Throws LimitError past 2^32 − 2 records.
  Insertion insert(Record record) { return insert(record, hash(record)); }
  Insertion insert(Record record, std::uint64_t hash);
  std::optional<Index> find(Record record) const;

  static std::uint64_t hash(Record record);

  /// Hints for searches that know a batch of records before they insert them: first the table entry of every record,
  /// then the stored record that the entry names. They only hide the latency of memory.
  void prefetch_entry(std::uint64_t hash) const;
  void prefetch_record(std::uint64_t hash) const;

 private:
  static constexpr unsigned kBlockBits = 12;
  static constexpr Index kBlockMask = (Index{1} << kBlockBits) - 1;
  static constexpr Index kEmpty = UINT32_MAX;

  std::size_t entry_of(Record record, std::uint64_t hash) const;
  void append(Record record);
  void grow();

  std::size_t words_;
  Index size_ = 0;
  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::vector<Index> table_;
};

}  // namespace krohn
