// simulate/shards/item_workers.h — threads that make the lines of a list's items, several at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace krohn {

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
