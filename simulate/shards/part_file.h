// simulate/shards/part_file.h — what one shard found, a line of JSON for each of its items: a file that appears whole,
// and is carried on with after a kill at any moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace krohn {

/// Share `number` of `count`, 1 ≤ number ≤ count, as in "3/100".
struct Shard {
  std::uint64_t number = 1, count = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

inline constexpr std::uint64_t kMaxShards = 1'000'000;

/// Throws InputError for anything but "I/N" with 1 ≤ I ≤ N ≤ kMaxShards.
Shard parse_shard(std::string_view text);
std::string to_string(Shard shard);

/// The items, in order, that a shard has of a list with these costs. A function of its arguments alone: every item is
/// in exactly one shard. Items go in order of decreasing cost to the shard with the least so far (longest processing
/// time first), so that no shard has more than 4/3 − 1/(3n) of the least possible greatest cost (Graham, SIAM J. Appl.
/// Math. 17, 1969); equal costs go round. A cost counts as at least 1 and at most 2^40. O(items · log items).
std::vector<std::uint64_t> items_of(Shard shard, const std::vector<std::uint64_t>& costs);

/// "4,7-9": shards as people and `sbatch --array=` take them. `numbers` must increase.
std::string ranges_of(const std::vector<std::uint64_t>& numbers);

/// The sources of a piece of kept work: texts, and the bytes of files, or that there is none of that name. Work is
/// gone on with where this is the same.
std::string digest_of_work(const std::vector<std::string>& texts, const std::vector<std::string>& files);

/// A list to be worked through. Two lists are the same when all of this is.
struct WorkList {
  std::string kind;     ///< the verb whose lines they are
  std::string maker;    ///< the version that works: another may answer differently
  std::string options;  ///< the options that decide the lines besides the items, as a person would type them
  std::vector<std::string> items;
  std::vector<std::uint64_t> costs;  ///< one for each item; machines must agree on them
  std::vector<std::string>
      files{};  ///< whose bytes decide the lines, too: parts made with others do not belong together
};

/// The first line of a part.
struct PartHeader {
  std::string kind, maker, options;
  std::string list;  ///< `digest_of_work` of the items, their costs and the files
  std::uint64_t items = 0;
  Shard shard;
  std::uint64_t lines = 0;  ///< that the shard has when it is whole
  std::string digest;       ///< of the header and the lines; empty until the part is whole
  friend bool operator==(const PartHeader&, const PartHeader&) = default;
};

PartHeader header_of(const WorkList& list, Shard shard);

/// A whole part as it was read: its lines by item, without the number of the item.
struct Part {
  PartHeader header;
  std::map<std::uint64_t, std::string> lines;
};

/// Throws InputError when the file is no part, is not finished, or was cut or changed after it was written. Memory: the
/// file's size.
Part read_part(const std::string& path);

/// In what the lists of two parts differ, for a message: "one was made with --time 60, the other with --time 5". Empty
/// when they are shards of the same cut of the same list.
std::string difference(const PartHeader& one, const PartHeader& other);

/// A part in the making. Lines are appended to PATH.begun as they are found; `finish` writes PATH, atomically and in
/// the order of the list, and removes PATH.begun. A process that is killed loses the lines that it had not found yet,
/// and nothing else. At most one process works on a part where the file system has locks; elsewhere two do the same
/// work twice, and every item is still counted once.
class PartFile {
 public:
  /// Takes up what an earlier process left at `path`. Throws InputError when that is of another list, another shard or
  /// no part at all, SystemError when another process is at work on it or the file cannot be written.
  PartFile(const std::string& path, const WorkList& list, Shard shard);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  /// Finished by an earlier process. There is nothing to do.
  bool is_whole() const { return descriptor_ < 0; }
  const std::vector<std::uint64_t>& items() const { return items_; }
  /// Items without a line, in order.
  std::vector<std::uint64_t> missing() const;
  const std::map<std::uint64_t, std::string>& lines() const { return lines_; }

  /// `line` is one JSON object with at least one member, without a line break. Written before this returns. Throws
  /// SystemError.
  void add(std::uint64_t item, const std::string& line);
  /// Call once nothing is missing. Throws SystemError.
  void finish();

 private:
  PartFile(const std::string& path, PartHeader header, std::vector<std::uint64_t> items);
  bool is_finished_before();
  bool begin();
  void take_up();
  void write(std::string_view bytes);

  std::string path_, begun_;
  PartHeader header_;
  std::vector<std::uint64_t> items_;
  std::map<std::uint64_t, std::string> lines_;
  int descriptor_ = -1;
};

/// The parts of one list put together: all lines in the order of the list.
struct MergedParts {
  PartHeader header;  ///< of the first part
  std::vector<std::string> lines;
  std::vector<std::uint64_t> missing;  ///< shards without a part; there are lines only when there are none
};

/// Throws InputError when a file is no whole part, two belong to different lists, or two are the same shard.
MergedParts merge_parts(const std::vector<std::string>& paths);

// Threads that make the lines of a list's items, several at a time.

/// The result of one item: one JSON object, without a line break. Called from several threads.
using LineOf = std::function<std::string(std::uint64_t item)>;

/// Items in, lines out, in the order in which they are ready. When making one throws, the rest is dropped.
class ItemWorkers {
 public:
  struct Finished {
    std::uint64_t item = 0;
    std::string line;
  };

  /// At least one thread.
  ItemWorkers(unsigned threads, LineOf line_of);
  /// Items under way are finished first.
  ~ItemWorkers();
  ItemWorkers(const ItemWorkers&) = delete;
  ItemWorkers& operator=(const ItemWorkers&) = delete;

  void add(std::span<const std::uint64_t> items);
  /// Items that no thread has begun are forgotten.
  void drop_waiting();
  /// The lines since the last call; waits for the first of them, so long at most.
  std::vector<Finished> take(std::chrono::microseconds patience);
  /// Items that were added and have not been taken or dropped, nor failed.
  std::size_t open() const;
  /// The first exception, or null.
  std::exception_ptr failure() const;

 private:
  void work();

  LineOf line_of_;
  mutable std::mutex mutex_;
  std::condition_variable has_items_, has_lines_;
  std::deque<std::uint64_t> waiting_;
  std::vector<Finished> finished_;
  std::size_t under_way_ = 0;
  std::exception_ptr failure_;
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace krohn
