// tools/krohn/progress.h — how far a long computation is, on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "tools/krohn/interrupt.h"

namespace krohn {

/// Reports work that takes more than a second, with its rate and the time that is left: on a terminal a line that is
/// rewritten ten times a second and cleared at the end; elsewhere one line, and another every minute. Callable from any
/// thread.
class Progress {
 public:
  /// `what` is a present participle with its unit, "testing letters".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `total` 0: unknown. Throws Interrupted after Ctrl-C.
  void update(std::uint64_t done, std::uint64_t total = 0);

 private:
  using Clock = std::chrono::steady_clock;
  void print(std::uint64_t done, std::uint64_t total, double seconds);

  InterruptibleWork interruptible_;
  std::string what_;
  bool terminal_;
  bool printed_ = false;
  Clock::time_point start_;
  std::atomic<Clock::rep> next_;  ///< when to print next, in ticks since `start_`
  std::mutex mutex_;
  std::atomic<std::uint64_t> first_ = UINT64_MAX;  ///< what was done at the first update: work that is gone on with
};

}  // namespace krohn
