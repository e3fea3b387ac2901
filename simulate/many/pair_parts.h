// simulate/many/pair_parts.h — a search of pairs on disk: a folder with one file of pairs for every rank that worked on
// it, which only grow, and one small file that says how much of them counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/simulate/many/ranks.h"

namespace krohn {

/// How far a search is, the same on every rank. Pairs are numbered as a search by one process would meet them, so that
/// each level is a range of numbers.
struct PairSearchStand {
  std::uint64_t pairs = 0;                       ///< found
  std::uint64_t expanded = 0;                    ///< of them, from the first on
  std::uint64_t level_begin = 0, level_end = 0;  ///< the level that is being expanded
  std::uint64_t depth = 0;                       ///< letters of the words that reach it
  friend bool operator==(const PairSearchStand&, const PairSearchStand&) = default;
};

/// What must be the same when a search is gone on with. Limits may differ.
struct PairSearchQuestion {
  std::string model;  ///< a hash of weights and automaton
  std::string arithmetic, form;
  std::uint64_t words = 0;    ///< of a record: the automaton's state and what the network remembers
  std::uint64_t letters = 0;  ///< of the alphabet
};

/// Pairs that follow each other: their records and, for each, its parent's number times the letters plus the letter.
struct PairPiece {
  std::uint64_t first = 0;
  std::vector<std::uint32_t> records;
  std::vector<std::uint64_t> keys;
};

/// The folder, held by all ranks of a job. A part is bytes that are appended: pieces, each with a check sum. What
/// counts is what `pairs.json` lists, which has one too and is replaced whole; so a job may be killed at any moment,
/// and no pair is lost that was committed, nor counted twice. The parts of earlier jobs, on however many ranks, are
/// only read.
class PairParts {
 public:
  /// Collective. Makes the folder where there is none; rank 0 locks it. Throws InputError, on all ranks, when it holds
  /// another question or is damaged, SystemError when another job works on it or the disk refuses.
  PairParts(Ranks& ranks, const std::string& folder, PairSearchQuestion question);
  ~PairParts();
  PairParts(const PairParts&) = delete;
  PairParts& operator=(const PairParts&) = delete;

  /// Where the search was left, if it was.
  const std::optional<PairSearchStand>& stand() const { return stand_; }

  /// Of every committed piece one rank's `take` is told. Collective: `take` is called equally often on every rank, with
  /// null where this one has nothing left. Throws InputError, on all ranks, for damaged parts.
  void read(const std::function<void(const PairPiece*)>& take);

  /// Pairs of this rank, to be committed with the next stand. Not collective; a disk that refuses is told by `error`
  /// and `commit`.
  void append(std::uint64_t first, std::span<const std::uint32_t> records, std::span<const std::uint64_t> keys);
  /// Collective. Returns when all of it is on the disk. Throws LimitError, on all ranks, when a disk refuses; the last
  /// commit stands.
  void commit(const PairSearchStand& stand);

  /// That this rank appended, and what the system said where it refused them: 0, or errno.
  std::uint64_t bytes() const;
  int error() const;

 private:
  struct Part {
    std::string file;
    std::uint64_t bytes = 0;
  };
  class Writer;
  /// Rank 0's, as long as this lives.
  struct Lock {
    Lock() = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();
    int descriptor = -1;
  };

  void lock();
  void open(const std::string& text);
  void remove_strays() const;
  std::string text_of(const PairSearchStand& stand, const std::vector<Part>& parts) const;

  Ranks& ranks_;
  std::string folder_;
  PairSearchQuestion question_;
  std::optional<PairSearchStand> stand_;
  std::vector<Part> earlier_;
  std::unique_ptr<Writer> writer_;
  std::uint64_t job_ = 0;  ///< no two jobs name their parts alike
  Lock lock_;
};

}  // namespace krohn
