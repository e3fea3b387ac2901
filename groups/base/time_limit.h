// groups/base/time_limit.h — limits on time and memory, and interruption.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace krohn {

/// Set by whoever hears of it (a handler of signals), looked at by long work now and then.
class Interruption {
 public:
  /// Throws Interrupted when the user asked to stop. Callable from any thread.
  static void check() {
    if (requested.load(std::memory_order_relaxed)) stop();
  }

  static std::atomic<bool> requested;
  static_assert(std::atomic<bool>::is_always_lock_free);  // a handler may set it

 private:
  [[noreturn]] static void stop();
};

/// While it lives, `check()` throws LimitError once `seconds` have passed, and Interrupted after Ctrl-C. What can
/// explode (orbits, monoids, cascades) checks once for each piece of a microsecond or more; so a caller bounds it
/// without a parameter through every function between. The memory is looked at too. An inner
/// limit never outlives those around it.
class TimeLimit {
 public:
  /// Whose checks it ends: those of the thread that made it, or also those of every thread that has none of its own.
  enum class Of : std::uint8_t { kThread, kProcess };

  /// No limit when `seconds` is 0. `option` names what raises it, with its value: "--time 60".
  TimeLimit(double seconds, std::string option, Of of = Of::kThread);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// A share of the time that is left, so that something is left for the work behind it.
  static TimeLimit part(double share);

  bool is_over() const { return Clock::now() >= end_; }

  static void check() {
    if (const TimeLimit* limit = innermost()) limit->check_clock();
  }
  /// For the limit of the whole process alone, for work that ends at a smaller one by itself.
  static void check_process() {
    if (const TimeLimit* limit = of_process.load(std::memory_order_acquire)) limit->check_clock();
  }

  /// For searches that end with what they have found: the limit that is met, "the time (--time 60)", or nothing.
  static std::string met();
  /// Seconds until the innermost limit; infinity where there is none.
  static double left();

 private:
  using Clock = std::chrono::steady_clock;
  static const TimeLimit* innermost() {
    return current != nullptr ? current : of_process.load(std::memory_order_acquire);
  }
  void check_clock() const;

  Clock::time_point end_ = Clock::time_point::max();
  std::string option_;
  const TimeLimit* before_;  ///< what was in force where it is
  Of of_;
  static thread_local const TimeLimit* current;
  static std::atomic<const TimeLimit*> of_process;
};

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

  /// True if any look found it met.
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
