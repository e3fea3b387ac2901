// simulate/many/pair_set.h — the records that a rank keeps for comparison: the latest in memory, the others on disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/simulate/many/ranks.h"

namespace krohn {

inline void put_varint(std::vector<std::uint8_t>& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<std::uint8_t>(value | 128));
  to.push_back(static_cast<std::uint8_t>(value));
}

/// The count at `at`, which moves behind it; past the end of the bytes where there is no whole count.
inline std::uint64_t take_varint(std::span<const std::uint8_t> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) break;
    const std::uint8_t byte = bytes[at++];
    value |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return value;
  }
  at = bytes.size() + 1;
  return value;
}

// A search of pairs on disk: a folder with one file of pairs for every rank that worked on
// it, which only grow, and one small file that says how much of them counts.

/// How far a search is, the same on every rank. Pairs are numbered as a search by one process would meet them, so that
/// each level is a range of numbers.
struct PairSearchStand {
  std::uint64_t pairs = 0;                       ///< found
  std::uint64_t expanded = 0;                    ///< of them, from the first on
  std::uint64_t level_begin = 0, level_end = 0;  ///< the level that is being expanded
  std::uint64_t depth = 0;                       ///< letters of the words that reach it
  friend bool operator==(const PairSearchStand&, const PairSearchStand&) = default;
};

/// The settings that must agree when a search is resumed. Limits may differ.
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

  /// For each committed piece one rank's `take` is told. Collective: `take` is called equally often on every rank, with
  /// null where this one has nothing left. Throws InputError, on all ranks, for damaged parts.
  void read(const std::function<void(const PairPiece*)>& take);

  /// Pairs of this rank, to be committed with the next stand. Not collective; a disk that refuses is told by `error`
  /// and `commit`.
  void append(std::uint64_t first, std::span<const std::uint32_t> records, std::span<const std::uint64_t> keys);
  /// Collective. Returns when all of it is on the disk. Throws LimitError, on all ranks, when a disk refuses; the last
  /// commit stands.
  void commit(const PairSearchStand& stand);

  /// The bytes that this rank appended, and the system's errno where it refused them, or 0.
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

// Files for what memory does not hold. They have no name, so that they go with their
// process, however that ends.

/// The disk takes no more. What was written before can still be read.
class DiskFull : public LimitError {
 public:
  /// The system's error number; 0: none, the limit of a DiskSpace was met.
  explicit DiskFull(int error) : LimitError(said_of(error)), error_(error) {}
  int error() const { return error_; }
  static std::string said_of(int error);

 private:
  int error_;
};

/// Where a rank's files go, and how much it may write there.
class DiskSpace {
 public:
  /// `most` 0: the disk is not used.
  DiskSpace(std::string folder, std::uint64_t most) : folder_(std::move(folder)), most_(most) {}

  const std::string& folder() const { return folder_; }
  std::uint64_t most() const { return most_; }
  std::uint64_t used() const { return used_; }
  /// Throws DiskFull, and takes nothing, where there would be more than the most.
  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_ -= bytes; }

 private:
  std::string folder_;
  std::uint64_t most_, used_ = 0;
};

/// Words that were written together, and a sum of them: what is read is what was written, or it is said.
struct SpilledWords {
  std::uint64_t offset = 0, sum = 0;
  std::uint32_t words = 0;
};

class SpillFile {
 public:
  /// In the space's folder. The space outlives it. Throws DiskFull.
  explicit SpillFile(DiskSpace& space);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// At the end. Throws DiskFull, and then the file is as it was.
  SpilledWords append(std::span<const std::uint32_t> words);
  /// Precondition: place.words long. Throws SystemError when the disk gives something else than it was given.
  void read(const SpilledWords& place, std::span<std::uint32_t> words) const;
  /// Forgets everything.
  void clear();

 private:
  DiskSpace& space_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Ranges of numbers, and `width` words for each number in them. The words lie in chunks, which can go to the disk.
class NumberedPieces {
 public:
  using Words = std::span<const std::uint32_t>;

  explicit NumberedPieces(std::size_t width) : width_(width) {}
  std::size_t width() const { return width_; }

  /// A record that follows the last one in number with the same `tag` extends its range.
  void append(std::uint64_t first, Words words, std::uint32_t tag = 0) {
    const std::uint64_t count = words.size() / width_;
    if (count == 0) return;
    if (!pieces_.empty() && pieces_.back().tag == tag && pieces_.back().first + pieces_.back().count == first &&
        pieces_.back().offset + pieces_.back().count == size_)
      pieces_.back().count += count;
    else
      pieces_.push_back({first, count, size_, tag});
    size_ += count;
    while (!words.empty()) {
      if (chunks_.size() == whole_) chunks_.emplace_back();
      std::vector<std::uint32_t>& tail = chunks_.back().words;
      const std::size_t taken = std::min(words.size(), kChunk * width_ - tail.size());
      tail.insert(tail.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(taken));
      words = words.subspan(taken);
      if (tail.size() == kChunk * width_) ++whole_;
    }
  }

  /// After pieces came in any order: makes `overlapping` work.
  void sort() { std::ranges::sort(pieces_, {}, &Piece::first); }

  void clear() {
    pieces_.clear();
    chunks_.clear();
    size_ = whole_ = spilled_ = 0;
    read_ = UINT64_MAX;
    if (file_) file_->clear();
  }

  /// Calls `take(first, words, tag)` for what is held of [begin, end), in order.
  template <class Take>
  void overlapping(std::uint64_t begin, std::uint64_t end, Take&& take) {
    auto piece = std::ranges::upper_bound(pieces_, begin, {}, &Piece::first);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
      std::uint64_t from = std::max(begin, piece->first);
      const std::uint64_t to = std::min(end, piece->first + piece->count);
      while (from < to) {
        const std::uint64_t at = piece->offset + from - piece->first;
        const std::uint64_t here = std::min(to - from, kChunk - at % kChunk);
        take(from, chunk(at / kChunk).subspan(at % kChunk * width_, here * width_), piece->tag);
        from += here;
      }
    }
  }

  /// In memory.
  std::uint64_t bytes() const {
    return pieces_.capacity() * sizeof(Piece) + chunks_.capacity() * sizeof(Chunk) +
           (chunks_.size() - spilled_) * kChunk * width_ * sizeof(std::uint32_t);
  }

  /// Moves every whole chunk to the disk. Throws DiskFull; what did not go there stays.
  void spill(DiskSpace& space) {
    if (spilled_ == whole_) return;
    if (!file_) file_ = std::make_unique<SpillFile>(space);
    for (; spilled_ < whole_; ++spilled_) {
      Chunk& chunk = chunks_[spilled_];
      chunk.place = file_->append(chunk.words);
      chunk.words = {};
    }
  }

 private:
  /// Numbers in a chunk.
  static constexpr std::uint64_t kChunk = 1024;
  struct Piece {
    std::uint64_t first = 0, count = 0, offset = 0;
    std::uint32_t tag = 0;
  };
  struct Chunk {
    std::vector<std::uint32_t> words;
    SpilledWords place;
  };

  Words chunk(std::uint64_t index) {
    if (index >= spilled_) return chunks_[index].words;
    if (read_ != index) {
      buffer_.resize(chunks_[index].place.words);
      read_ = UINT64_MAX;
      file_->read(chunks_[index].place, buffer_);
      read_ = index;
    }
    return buffer_;
  }

  std::size_t width_;
  std::vector<Piece> pieces_;
  std::vector<Chunk> chunks_;
  std::uint64_t size_ = 0, whole_ = 0, spilled_ = 0;  ///< numbers held; chunks that are whole, and of them on the disk
  std::unique_ptr<SpillFile> file_;
  std::vector<std::uint32_t> buffer_;
  std::uint64_t read_ = UINT64_MAX;  ///< the chunk in the buffer
};

// A set of records on disk: sorted, coded as differences, with a filter in memory that
// spares most looks at the disk.

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
  /// The part of them that stays there, whatever goes to the disk.
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

  /// For pairs from `first` on: the transitions that found them.
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
