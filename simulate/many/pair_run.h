// simulate/many/pair_run.h — a set of records on disk: sorted, coded as differences, with a filter in memory that
// spares most looks at the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "krohn/simulate/many/spill_file.h"

namespace krohn {

/// Says of every hash that was added that it may be there, and of one in some three hundred others. 2 bytes a hash.
class HashFilter {
 public:
  explicit HashFilter(std::uint64_t count) : words_(count / 4 + 1) {}
  void add(std::uint64_t hash) { words_[place_of(hash)] |= bits_of(hash); }
  bool may_have(std::uint64_t hash) const {
    const std::uint64_t bits = bits_of(hash);
    return (words_[place_of(hash)] & bits) == bits;
  }
  std::uint64_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  static std::uint64_t mixed(std::uint64_t hash) { return (hash ^ hash >> 29) * 0xff51afd7ed558ccdULL; }
  std::size_t place_of(std::uint64_t hash) const { return (mixed(hash) >> 32) * words_.size() >> 32; }
  static std::uint64_t bits_of(std::uint64_t hash);

  std::vector<std::uint64_t> words_;
};

/// Sorts records of `width` words each, in place, by their words from the first on. O(n log n) comparisons of words.
void sort_records(std::span<std::uint32_t> records, std::size_t width);

/// Records in ascending order, each once. A record costs what it differs from the one before: one byte where only the
/// last word does, by at most 64, and 4·width + 6 bytes at most. Blocks of 4 KiB, or of some 64 records, are read at a
/// time; the first record of each is in memory.
class PairRun {
 public:
  using Record = std::span<const std::uint32_t>;

  /// `count` records will be appended. The space outlives the run.
  PairRun(DiskSpace& space, std::size_t width, std::uint64_t count);
  /// Greater than those before. Throws DiskFull.
  void append(Record record);
  /// After the last one. Throws DiskFull.
  void finish();

  std::uint64_t size() const { return size_; }
  bool may_have(std::uint64_t hash) const { return filter_.may_have(hash); }
  /// In memory.
  std::uint64_t bytes() const;
  std::uint64_t disk_bytes() const { return disk_bytes_; }

  /// Walks through a finished run, from one record to the next or past whole blocks.
  class Cursor {
   public:
    explicit Cursor(const PairRun& run);
    bool is_at_end() const { return block_ == run_.blocks_.size(); }
    Record record() const { return record_; }
    void next();
    /// To the first record that is not less. Records that are asked for have to ascend.
    void seek(Record record);

   private:
    void open(std::size_t block);
    void decode();

    const PairRun& run_;
    std::size_t block_ = 0, at_ = 0;  ///< at_: the byte in the block
    std::vector<std::uint32_t> coded_;
    std::vector<std::uint32_t> record_;
  };

 private:
  friend class Cursor;
  void close_block();
  Record first_of(std::size_t block) const { return Record(firsts_).subspan(block * width_, width_); }

  std::size_t width_;
  std::uint64_t size_ = 0, disk_bytes_ = 0;
  HashFilter filter_;
  SpillFile file_;
  std::vector<SpilledWords> blocks_;
  std::vector<std::uint32_t> firsts_;  ///< records, one a block
  std::vector<std::uint32_t> last_;
  std::vector<std::uint8_t> coded_;
};

/// The records of both, of which none is in the other. Throws DiskFull and SystemError.
std::unique_ptr<PairRun> merge(const PairRun& a, const PairRun& b, DiskSpace& space, std::size_t width);

}  // namespace krohn
