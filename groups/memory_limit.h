// groups/memory_limit.h — a limit on the memory of the process, for work that can explode.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace krohn {

/// While it lives, TimeLimit::check() also throws LimitError when the process holds more than `bytes` of memory. The
/// resident pages are counted, whoever asked for them, and looked at every few milliseconds at most. What unwinding
/// gives back counts no more, so that work that was left out makes room for the rest.
class MemoryLimit {
 public:
  /// No limit when `bytes` is 0. `option` names what raises it, with its value: "--memory 4G".
  MemoryLimit(std::uint64_t bytes, std::string option);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// The limit where it is met, "the memory (--memory 4G)", or nothing.
  static std::string met(std::chrono::steady_clock::time_point now) {
    const MemoryLimit* limit = current.load(std::memory_order_acquire);
    return limit == nullptr || !limit->is_met(now) ? std::string() : "the memory (" + limit->option_ + ")";
  }

  /// Whether any look found it met.
  bool was_met() const { return was_met_; }

  /// Bytes that the process holds now.
  static std::uint64_t held();

 private:
  bool is_met(std::chrono::steady_clock::time_point now) const;

  std::uint64_t bytes_;
  std::string option_;
  const MemoryLimit* outer_;
  mutable std::atomic<std::chrono::steady_clock::rep> next_look_ = 0;
  mutable std::atomic<bool> was_met_ = false;
  static std::atomic<const MemoryLimit*> current;
};

}  // namespace krohn
