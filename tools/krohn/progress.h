// tools/krohn/progress.h — how far a long computation is, on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "tools/krohn/interrupt.h"

namespace krohn {

/// While one exists, works that begin in its thread tell it how far they are, ten times a second and at their first
/// letter or step, and standard error stays silent. Listeners nest: the inner one hears.
class ProgressListener {
 public:
  /// `total` 0: unknown. Called from any thread, never twice at a time by one work. What it throws ends the work.
  using Tell = std::function<void(const std::string& what, std::uint64_t done, std::uint64_t total)>;

  explicit ProgressListener(Tell tell);
  ~ProgressListener();
  ProgressListener(const ProgressListener&) = delete;
  ProgressListener& operator=(const ProgressListener&) = delete;

  /// Of the thread that asks; nothing where none listens.
  static const ProgressListener* current();
  void tell(const std::string& what, std::uint64_t done, std::uint64_t total) const { tell_(what, done, total); }

 private:
  Tell tell_;
  const ProgressListener* outer_;
};

/// Reports work that takes more than a second, with its rate and the time that is left: on a terminal a line that is
/// rewritten ten times a second and cleared at the end; elsewhere a line now and then, every ten seconds at first and
/// every minute later, and one at the end. Callable from any thread.
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
  std::string so_far(std::uint64_t done, std::uint64_t total) const;
  void print(std::uint64_t done, std::uint64_t total, double seconds);

  InterruptibleWork interruptible_;
  std::string what_;
  const ProgressListener* listener_;
  bool terminal_;
  bool printed_ = false;
  Clock::time_point start_;
  std::atomic<Clock::rep> next_;  ///< when to print next, in ticks since `start_`
  std::mutex mutex_;
  std::atomic<std::uint64_t> first_ = UINT64_MAX;    ///< what was done at the first update: work that is gone on with
  std::atomic<std::uint64_t> done_ = 0, total_ = 0;  ///< at the last update
};

/// Says what is being waited for, where the work itself cannot tell how far it is: after a second, and on a terminal
/// every second from then on, with the seconds so far.
class Waiting {
 public:
  /// `what` is a present participle with its object, "laying out 100 states".
  explicit Waiting(std::string what);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void report(const std::string& what);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace krohn
