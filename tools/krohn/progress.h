// tools/krohn/progress.h — how far a long computation is, on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace krohn {

/// On SIGINT, SIGTERM and SIGHUP: removes the temporary files of unfinished output, says "krohn: interrupted", and ends
/// with status 130. Call once, at the start of main.
void install_interrupt_handlers();

/// While one exists, the first signal only sets a flag that the work polls (groups/base/time_limit.h), so that it can
/// say how far it came. A second signal ends the program as above.
class InterruptibleWork {
 public:
  InterruptibleWork();
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;
};

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

  /// For the thread that asks; nothing where none listens.
  static const ProgressListener* current();
  void tell(const std::string& what, std::uint64_t done, std::uint64_t total) const { tell_(what, done, total); }

 private:
  Tell tell_;
  const ProgressListener* outer_;
};

class Progress;

/// Names what is being done, where the work itself cannot tell how far it is: a SilenceBreaker says it.
class Waiting {
 public:
  /// `what` is a present participle with its object, "laying out 100 states"; `counter` knows how far it is.
  explicit Waiting(std::string what, const Progress* counter = nullptr);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  friend class SilenceBreaker;
  std::string what_;
  const Progress* counter_;
  bool is_listed_;
};

/// Reports work that takes more than a second, with its rate and the time that is left: on a terminal a line that is
/// rewritten ten times a second and cleared at the end; elsewhere a line now and then, every ten seconds at first and
/// every minute later, and one at the end. Works of one name whose totals are unknown go on with one count. Callable
/// from any thread.
class Progress {
 public:
  /// `what` is a present participle with its unit, "testing letters".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `total` 0: unknown. What is told never goes back. Throws Interrupted after Ctrl-C, and LimitError once the limit
  /// of the whole process is met.
  void update(std::uint64_t done, std::uint64_t total = 0);

 private:
  friend class SilenceBreaker;
  using Clock = std::chrono::steady_clock;
  std::string so_far(std::uint64_t done, std::uint64_t total) const;
  void print(std::uint64_t done, std::uint64_t total, double seconds);

  InterruptibleWork interruptible_;
  std::string what_;
  const ProgressListener* listener_;
  bool terminal_;
  bool printed_ = false;
  std::uint64_t counted_before_ = 0;  ///< by earlier works of its name
  Clock::time_point start_;
  std::atomic<Clock::rep> next_;  ///< when to print next, in ticks since `start_`
  std::mutex mutex_;
  std::atomic<std::uint64_t> first_ = UINT64_MAX;    ///< the amount at the first update: resumed work
  std::atomic<std::uint64_t> done_ = 0, total_ = 0;  ///< at the last update
  std::optional<Waiting> waiting_;                   ///< where nobody listens
};

/// While one lives, standard error is never silent for two seconds in which a Waiting or a Progress began, and never
/// for long: on a terminal it says every second what is being done and for how long, elsewhere as often as a Progress.
class SilenceBreaker {
 public:
  /// `doing`: what the process does where nothing within says more.
  explicit SilenceBreaker(std::string doing);
  ~SilenceBreaker();

  /// To be called every tenth of a second or more often, by a thread of its own.
  void look();

 private:
  using Clock = std::chrono::steady_clock;
  Waiting whole_;
  bool terminal_, shares_terminal_;  ///< with standard output, which clears the line before it is written to
  Clock::time_point start_ = Clock::now();
  std::string told_;  ///< what was said last
};

// A thread beside the work of a verb: it keeps --time and --memory, and breaks long silence.

/// The values of --time and --memory.
struct VerbLimits {
  double seconds = 0;        ///< in all; 0: no limit
  std::uint64_t memory = 0;  ///< of the process; 0: no limit

  /// "--time 60", as messages name it.
  std::string time_option() const;
};

/// Does the work within its limits. Work that polls them (groups/base/time_limit.h) ends by itself and tells what it
/// has found. Only the limits of threads are set where `is_alone` is false: other work goes on in the process.
int within_limits(const VerbLimits& limits, bool is_alone, const std::function<int()>& work);

/// Sets how to tell what has been found so far, should work that does not hear of a limit be ended from outside: a text
/// for standard output, from the limit. It replaces the one before; an empty one says that the work tells by itself
/// now. It is called in another thread, with a thirtieth of the time, at most 0.1 s, and owns what it reads.
void tell_if_ended(std::function<std::string(const std::string& limit)> tell);

/// While one lives, a thread looks twenty times a second, and more often where little memory is left. Of work that does
/// not poll its limits it makes an end, 3 % (at least 0.04 s) past the time or a tenth past the memory: what was
/// printed stays, what was found is told, unfinished files go, and the exit status is that of a limit. Work that polls
/// its time hears of its end 5 % (at most 0.05 s) before it. On standard error the thread says what is being done
/// (progress.h), `doing` where nothing else is said.
class Watch {
 public:
  Watch(const VerbLimits& limits, const std::string& doing);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace krohn
