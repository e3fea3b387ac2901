#include "tools/krohn/progress.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr int kInterruptedStatus = 130;
std::atomic<int> polling_works = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Only async-signal-safe calls.
extern "C" void on_signal(int) {
  if (polling_works.load() > 0 && !Interruption::requested.exchange(true)) return;
  remove_pending_files();
  constexpr std::string_view message = "krohn: interrupted\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  _exit(kInterruptedStatus);
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // A file that grows past a limit is then an error like a disk that is full, and not the end of the process.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

InterruptibleWork::InterruptibleWork() { polling_works.fetch_add(1); }
InterruptibleWork::~InterruptibleWork() { polling_works.fetch_sub(1); }

namespace {
using Clock = std::chrono::steady_clock;
constexpr Clock::duration kPatience = std::chrono::seconds(1);
constexpr Clock::duration kPeriod = std::chrono::milliseconds(100);
/// Between lines to a file: 150 kB an hour.
constexpr Clock::duration kPeriodInLogs = std::chrono::milliseconds(1900);

thread_local const ProgressListener* listening = nullptr;

/// The state of standard error, and who may write to it.
struct Told {
  std::mutex mutex;
  std::vector<const Waiting*> waiting;           ///< the innermost last
  Clock::time_point last;                        ///< when something was said
  bool has_line = false;                         ///< a line that will be rewritten stands on the terminal
  Clock::time_point begun;                       ///< of the whole process, where a SilenceBreaker looks after it
  std::map<std::string, std::uint64_t> counted;  ///< by works that have ended and whose total was unknown
};
Told told;

// Preconditions: told.mutex is held.

void clear_line() {
  if (told.has_line) std::fputs("\r\033[K", stderr);
  told.has_line = false;
}

/// On a terminal the cursor goes back, so that what others print begins a line.
void tell_line(const std::string& line, bool terminal) {
  std::fputs((terminal ? "\r" + line + "\033[K\r" : line + "\n").c_str(), stderr);
  std::fflush(stderr);
  told.last = Clock::now();
  told.has_line = terminal;
}

/// "12 s", "4 min", "3.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// ", 1.7 billion a second, 4 min left", ", one in 12 s, 3.5 h left".
std::string rate_text(double per_second, double left) {
  const std::string rate = per_second >= 1e9   ? fmt::format("{:.1f} billion a second", per_second / 1e9)
                           : per_second >= 1e6 ? fmt::format("{:.1f} million a second", per_second / 1e6)
                           : per_second >= 1   ? fmt::format("{:.0f} a second", per_second)
                                               : "one in " + duration_text(1 / per_second);
  return fmt::format(", {}, {} left", rate, duration_text(left / per_second));
}

}  // namespace

ProgressListener::ProgressListener(Tell tell) : tell_(std::move(tell)), outer_(listening) { listening = this; }
ProgressListener::~ProgressListener() { listening = outer_; }
const ProgressListener* ProgressListener::current() { return listening; }

Progress::Progress(std::string what)
    : what_(std::move(what)),
      listener_(ProgressListener::current()),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(listener_ == nullptr ? kPatience.count() : 0) {
  if (listener_ != nullptr) return;
  {
    const std::lock_guard lock(told.mutex);
    if (const auto earlier = told.counted.find(what_); earlier != told.counted.end()) counted_before_ = earlier->second;
  }
  waiting_.emplace(what_, this);
}

Progress::~Progress() {
  if (listener_ != nullptr) return;
  const std::lock_guard lock(told.mutex);
  if (total_ == 0) told.counted[what_] += done_;
  if (!printed_) return;
  const Clock::time_point since = told.begun == Clock::time_point() ? start_ : told.begun;
  if (terminal_)
    clear_line();
  else
    tell_line(fmt::format("{}, after {}", so_far(done_, total_),
                          duration_text(std::chrono::duration<double>(Clock::now() - since).count())),
              false);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  Interruption::check();
  TimeLimit::check_process();
  std::uint64_t unset = UINT64_MAX;
  first_.compare_exchange_strong(unset, done);
  for (std::uint64_t before = done_; before < done && !done_.compare_exchange_weak(before, done);) {
  }
  done = done_;
  total_.store(total, std::memory_order_relaxed);
  const Clock::rep now = (Clock::now() - start_).count();
  if (now < next_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (now < next_.load(std::memory_order_relaxed)) return;
  const bool is_watched = terminal_ || listener_ != nullptr;
  // In a log it speaks before a SilenceBreaker would.
  next_.store(now + (is_watched ? kPeriod : kPeriodInLogs - kPeriod).count(), std::memory_order_relaxed);
  if (listener_ != nullptr) return listener_->tell(what_, done, total);
  print(done, total, std::chrono::duration<double>(Clock::duration(now)).count());
  printed_ = true;
}

std::string Progress::so_far(std::uint64_t done, std::uint64_t total) const {
  std::string line = fmt::format("krohn: {}: {}", what_, with_thousands(done + (total > 0 ? 0 : counted_before_)));
  if (total > 0)
    line += fmt::format(" of {} ({:.0f} %)", with_thousands(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  return line;
}

void Progress::print(std::uint64_t done, std::uint64_t total, double seconds) {
  std::string line = so_far(done, total);
  if (total > done && done > first_.load())
    line += rate_text(static_cast<double>(done - first_.load()) / seconds, static_cast<double>(total - done));
  const std::lock_guard lock(told.mutex);
  tell_line(line, terminal_);
}

Waiting::Waiting(std::string what, const Progress* counter)
    : what_(std::move(what)), counter_(counter), is_listed_(listening == nullptr) {
  if (is_listed_) {
    const std::lock_guard lock(told.mutex);
    told.waiting.push_back(this);
  } else {
    listening->tell(what_, 0, 0);
  }
}

Waiting::~Waiting() {
  if (!is_listed_) return;
  const std::lock_guard lock(told.mutex);
  std::erase(told.waiting, this);
  clear_line();
}

SilenceBreaker::SilenceBreaker(std::string doing)
    : whole_(std::move(doing)),
      terminal_(isatty(STDERR_FILENO) == 1),
      shares_terminal_(terminal_ && isatty(STDOUT_FILENO) == 1) {
  told.last = told.begun = start_;
  if (shares_terminal_) std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
}

SilenceBreaker::~SilenceBreaker() {
  if (shares_terminal_) std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
}

void SilenceBreaker::look() {
  const std::lock_guard lock(told.mutex);
  // Output to the terminal waits in its buffer until the line is out of its way.
  if (shares_terminal_ && __fpending(stdout) > 0) {
    clear_line();
    std::fflush(stdout);
  }
  const Clock::time_point now = Clock::now();
  const Clock::duration silence = now - told.last;
  if (told.waiting.empty()) return;
  const Waiting& now_doing = *told.waiting.back();
  if (silence < kPatience || !(terminal_ || silence >= kPeriodInLogs || now_doing.what_ != told_)) return;
  told_ = now_doing.what_;
  const Progress* counter = now_doing.counter_;
  const std::string done =
      counter != nullptr && counter->done_ > 0 ? counter->so_far(counter->done_, counter->total_) : "krohn: " + told_;
  const std::string line =
      fmt::format("{}, after {}", done, duration_text(std::chrono::duration<double>(now - start_).count()));
  tell_line(line, terminal_);
}

namespace {

constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(50);
constexpr double kMostTelling = 0.1;

/// How the seconds of --time are shared, so that from one second on a process has ended before a tenth more is over.
struct TimeShares {
  double polled;   ///< for work that polls its time, and then says what it has found
  double most;     ///< when other work is ended
  double telling;  ///< for what that had found
};

TimeShares shares_of(double seconds) {
  return {seconds - std::min(0.05, seconds / 20), seconds + std::max(0.04, 0.03 * seconds),
          std::clamp(0.03 * seconds, 0.03, kMostTelling)};
}

std::string memory_option(const VerbLimits& limits) { return "--memory " + size_text(limits.memory); }

/// Freed blocks that the allocator keeps are nobody's.
bool holds_more_than(std::uint64_t bytes) {
  if (MemoryLimit::held() <= bytes) return false;
  malloc_trim(0);
  return MemoryLimit::held() > bytes;
}

std::mutex telling;
std::function<std::string(const std::string&)> tell_found;

/// In so many seconds. Work that does not poll its time is left behind, to end with the process.
std::string found_by_now(const std::string& limit, double seconds) {
  std::promise<std::string> promise;
  std::future<std::string> told = promise.get_future();
  std::thread([promise = std::move(promise), limit, seconds]() mutable {
    std::string text;
    const std::lock_guard lock(telling);
    try {
      const TimeLimit briefly(seconds, limit);
      if (tell_found) text = tell_found(limit);
    } catch (const std::exception&) {  // it is no time for complaints
    }
    promise.set_value(std::move(text));
  }).detach();
  const bool is_told = told.wait_for(std::chrono::duration<double>(1.2 * seconds)) == std::future_status::ready;
  return is_told ? told.get() : std::string();
}

/// The work does not hear of its limits. What was printed is flushed if nobody is printing at this moment.
[[noreturn]] void end_process(const std::string& what, double telling) {
  remove_pending_files();
  if (ftrylockfile(stdout) == 0) {
    fmt::print("{}", found_by_now(what, telling));
    fflush_unlocked(stdout);
  }
  const std::string message =
      fmt::format("{}krohn: {}; allow more\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", what);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  _exit(kUndecided);
}

}  // namespace

void tell_if_ended(std::function<std::string(const std::string& limit)> tell) {
  const std::lock_guard lock(telling);
  tell_found = std::move(tell);
}

std::string VerbLimits::time_option() const { return fmt::format("--time {:g}", seconds); }

int within_limits(const VerbLimits& limits, bool is_alone, const std::function<int()>& work) {
  // Ranks meet in every step of a search; where one of them left it, the others would wait for ever.
  std::optional<TimeLimit> time;
  if (!has_ranks())
    time.emplace(shares_of(limits.seconds).polled, limits.time_option(),
                 is_alone ? TimeLimit::Of::kProcess : TimeLimit::Of::kThread);
  const MemoryLimit memory(is_alone ? limits.memory : 0, memory_option(limits));
  const int status = work();
  // Whoever leaves out what a limit keeps from being found, a smaller network for one, has not done all.
  const std::string met = memory.was_met()           ? memory_option(limits)
                          : TimeLimit::met().empty() ? ""
                                                     : limits.time_option();
  if (status != kDone || met.empty()) return status;
  if (is_alone) fmt::print(stderr, "krohn: {} was met; there may be more to find\n", met);
  return kUndecided;
}

struct Watch::Thread {
  Thread(const VerbLimits& kept, const std::string& doing) : limits(kept), silence(doing) {}

  VerbLimits limits;
  SilenceBreaker silence;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool is_over = false;
  std::thread thread;

  std::uint64_t most_memory() const { return limits.memory + limits.memory / 10; }

  Clock::duration until_end() const {
    if (limits.seconds == 0) return kBetweenLooks;
    const std::chrono::duration<double> most(std::min(shares_of(limits.seconds).most, 1e9));
    return std::max(Clock::duration(0), start + std::chrono::duration_cast<Clock::duration>(most) - Clock::now());
  }

  /// Memory is looked at before it can have grown past its end: a page is written in a microsecond or more.
  Clock::duration until_next_look() const {
    if (limits.memory == 0) return std::min(kBetweenLooks, until_end());
    constexpr std::uint64_t kBytesInMicrosecond = 4096;
    const std::uint64_t most = most_memory(), held = std::min(MemoryLimit::held(), most);
    const auto until_full = std::chrono::microseconds((most - held) / kBytesInMicrosecond);
    return std::min({kBetweenLooks, until_end(), Clock::duration(until_full + std::chrono::milliseconds(1))});
  }

  void look() {
    if (until_end() == Clock::duration(0))
      end_process(fmt::format("the time is over ({})", limits.time_option()), shares_of(limits.seconds).telling);
    if (limits.memory > 0 && holds_more_than(most_memory()))
      end_process(fmt::format("the memory is used up ({})", memory_option(limits)), kMostTelling);
    silence.look();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, until_next_look(), [this] { return is_over; })) look();
  }
};

Watch::Watch(const VerbLimits& limits, const std::string& doing) : thread_(std::make_unique<Thread>(limits, doing)) {
  thread_->thread = std::thread([this] { thread_->run(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(thread_->mutex);
    thread_->is_over = true;
  }
  thread_->ended.notify_all();
  thread_->thread.join();
}

}  // namespace krohn
