// simulate/many/held_pairs.h — what a rank holds of a search of pairs: in memory as long as that lasts, then on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "krohn/simulate/many/pair_parts.h"
#include "krohn/simulate/many/pair_pieces.h"
#include "krohn/simulate/many/pair_set.h"
#include "krohn/simulate/many/spill_file.h"

namespace krohn {

/// The limit that a rank meets, in numbers that it can tell the others.
struct RoomLimit {
  enum Kind : std::uint64_t { kNone, kMemory, kDisk } kind = kNone;
  std::uint64_t error = 0;  ///< of the disk: what the system says of it; 0: it is the limit that was set
  /// For people, on every rank the same; `folder` empty: the system's for temporary files.
  std::string text(std::size_t rank, std::uint64_t most, std::uint64_t most_on_disk, const std::string& folder) const;
};

class HeldPairs {
 public:
  /// Limits in bytes: of memory, and of the disk (0: not to be used) in this folder; empty: the system's for temporary
  /// files.
  HeldPairs(std::size_t width, std::uint64_t most, const std::string& folder, std::uint64_t most_on_disk);

  PairSet& owned() { return owned_; }
  const PairSet& owned() const { return owned_; }
  /// Records of the level that is being expanded.
  NumberedPieces& now() { return now_; }
  /// The next level's.
  NumberedPieces& next() { return next_; }
  void start_level();
  /// A piece that was kept: its keys, and the records that are still to be expanded. `sort` when all are there.
  void take_up(const PairPiece& piece, const PairSearchStand& stand);

  /// Of pairs from `first` on: the transitions that found them.
  void keep_keys(std::uint64_t first, std::span<const std::uint64_t> keys);
  void sort();
  /// The transition that found this pair, if this rank keeps it.
  std::optional<std::uint64_t> key(std::uint64_t pair);

  /// Moves to the disk what memory does not hold; `committed` bytes more are there. Gives the limit that stops the
  /// search, if one does. What was held still is.
  RoomLimit make_room(std::uint64_t committed);

 private:
  std::uint64_t piece_bytes() const { return now_.bytes() + next_.bytes() + keys_.bytes(); }

  std::uint64_t most_;
  DiskSpace space_;
  PairSet owned_;              ///< the pairs whose hash is this rank's
  NumberedPieces now_, next_;  ///< records of the level and of the next one
  NumberedPieces keys_;        ///< the low halves of transitions; the tags are the high halves
};

}  // namespace krohn
