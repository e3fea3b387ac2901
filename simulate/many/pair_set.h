// simulate/many/pair_set.h — the records that a rank keeps for comparison: the latest in memory, the others on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/record_set.h"
#include "krohn/simulate/many/pair_run.h"
#include "krohn/simulate/many/ranks.h"

namespace krohn {

/// Two generations in memory, and runs on disk. A search meets mostly records that it met lately: these are found in
/// memory. Of most others the runs' filters know that they are new. What is left is looked up, all of a batch in one
/// walk through a run. Every record is in one place, whole, so nothing rests on hashes.
class PairSet {
 public:
  explicit PairSet(std::size_t width) : width_(width), young_(width) {}

  /// Adds the records, one after another; `fresh` becomes a bit for each: whether it was not there. Throws LimitError,
  /// std::bad_alloc, and SystemError for a disk that does not give back what was written.
  void insert(std::span<const std::uint32_t> records, Ranks::Words& fresh);

  std::uint64_t size() const;
  /// In memory.
  std::uint64_t bytes() const { return generation_bytes() + run_bytes(); }
  /// Of them, those that stay there, whatever goes to the disk.
  std::uint64_t run_bytes() const;

  /// Moves the older records to the disk when those in memory would need more than `most` bytes soon. Amortised
  /// O(log n) comparisons and as many coded records written, n being the number of records a generation holds, times
  /// log₂ of the generations. Throws DiskFull; then everything is as it was.
  void make_room(std::uint64_t most, DiskSpace& space);

 private:
  std::uint64_t generation_bytes() const { return young_.bytes() + (old_ ? old_->bytes() : 0); }
  bool is_in_memory(RecordSet::Record record) const {
    return young_.find(record).has_value() || (old_ && old_->find(record).has_value());
  }
  bool may_be_on_disk(std::uint64_t hash) const;
  void look_up(std::span<const std::uint32_t> records);
  void write_old(DiskSpace& space);

  std::size_t width_;
  RecordSet young_;
  std::optional<RecordSet> old_;
  std::vector<std::unique_ptr<PairRun>> runs_;  ///< each more than twice as long as the next
  std::vector<std::uint32_t> suspects_;         ///< of a batch, what has to be looked up
  std::vector<bool> is_known_;
};

}  // namespace krohn
