#include "krohn/simulate/shards/item_workers.h"

#include <algorithm>
#include <utility>

namespace krohn {

ItemWorkers::ItemWorkers(unsigned threads, LineOf line_of) : line_of_(std::move(line_of)) {
  for (unsigned i = 0; i < std::max(threads, 1u); ++i) threads_.emplace_back([this] { work(); });
}

ItemWorkers::~ItemWorkers() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    is_closing_ = true;
  }
  has_items_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ItemWorkers::add(std::span<const std::uint64_t> items) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) waiting_.insert(waiting_.end(), items.begin(), items.end());
  }
  has_items_.notify_all();
}

void ItemWorkers::drop_waiting() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
}

std::vector<ItemWorkers::Finished> ItemWorkers::take(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  has_lines_.wait_for(lock, patience, [this] { return !finished_.empty(); });
  return std::exchange(finished_, {});
}

std::size_t ItemWorkers::open() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + under_way_ + finished_.size();
}

std::exception_ptr ItemWorkers::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ItemWorkers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_items_.wait(lock, [this] { return !waiting_.empty() || is_closing_; });
    if (waiting_.empty()) return;
    const std::uint64_t item = waiting_.front();
    waiting_.pop_front();
    ++under_way_;
    lock.unlock();
    Finished made{item, {}};
    std::exception_ptr thrown;
    try {
      made.line = line_of_(item);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --under_way_;
    if (!thrown) {
      finished_.push_back(std::move(made));
    } else {
      waiting_.clear();
      if (!failure_) failure_ = thrown;
    }
    has_lines_.notify_all();
  }
}

}  // namespace krohn
