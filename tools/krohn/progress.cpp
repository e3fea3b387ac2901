#include "tools/krohn/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "krohn/groups/interruption.h"
#include "tools/krohn/report/count.h"

namespace krohn {
namespace {
constexpr std::chrono::steady_clock::duration kPatience = std::chrono::seconds(1);
constexpr std::chrono::steady_clock::duration kPeriod = std::chrono::milliseconds(100);
/// Where nobody watches: often enough to see that the work goes on, seldom enough for a log of hours.
constexpr std::chrono::steady_clock::duration kFirstPeriodInLogs = std::chrono::seconds(10);
constexpr std::chrono::steady_clock::duration kPeriodInLogs = std::chrono::minutes(1);

thread_local const ProgressListener* listening = nullptr;

/// "12 s", "4 min", "3.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// ", 1.7 billion a second, 4 min left".
std::string rate_text(double per_second, double left) {
  const std::string rate = per_second >= 1e9   ? fmt::format("{:.1f} billion", per_second / 1e9)
                           : per_second >= 1e6 ? fmt::format("{:.1f} million", per_second / 1e6)
                                               : fmt::format("{:.0f}", per_second);
  return fmt::format(", {} a second, {} left", rate, duration_text(left / per_second));
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
      next_(listener_ == nullptr ? kPatience.count() : 0) {}

Progress::~Progress() {
  if (!printed_) return;
  if (terminal_)
    std::fputs("\r\033[K", stderr);
  else
    fmt::print(stderr, "{}, after {}\n", so_far(done_, total_),
               duration_text(std::chrono::duration<double>(Clock::now() - start_).count()));
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  Interruption::check();
  std::uint64_t unset = UINT64_MAX;
  first_.compare_exchange_strong(unset, done);
  done_.store(done, std::memory_order_relaxed);
  total_.store(total, std::memory_order_relaxed);
  const Clock::rep now = (Clock::now() - start_).count();
  if (now < next_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (now < next_.load(std::memory_order_relaxed)) return;
  const auto in_logs = now < kPeriodInLogs.count() ? kFirstPeriodInLogs : kPeriodInLogs;
  const bool is_watched = terminal_ || listener_ != nullptr;
  next_.store(now + (is_watched ? kPeriod : in_logs).count(), std::memory_order_relaxed);
  if (listener_ != nullptr) return listener_->tell(what_, done, total);
  print(done, total, std::chrono::duration<double>(Clock::duration(now)).count());
  printed_ = true;
}

std::string Progress::so_far(std::uint64_t done, std::uint64_t total) const {
  std::string line = fmt::format("krohn: {}: {}", what_, with_thousands(done));
  if (total > 0)
    line += fmt::format(" of {} ({:.0f} %)", with_thousands(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  return line;
}

void Progress::print(std::uint64_t done, std::uint64_t total, double seconds) {
  std::string line = so_far(done, total);
  if (total > done && done > first_.load())
    line += rate_text(static_cast<double>(done - first_.load()) / seconds, static_cast<double>(total - done));
  std::fputs((terminal_ ? "\r" + line + "\033[K" : line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

Waiting::Waiting(std::string what) {
  if (const ProgressListener* listener = ProgressListener::current())
    listener->tell(what, 0, 0);
  else
    thread_ = std::thread([this, what = std::move(what)] { report(what); });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void Waiting::report(const std::string& what) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::unique_lock lock(mutex_);
  bool printed = false;
  for (int seconds = 1; !ended_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; }); ++seconds) {
    if (terminal)
      fmt::print(stderr, "\rkrohn: {}: {} s\033[K", what, seconds);
    else if (!printed)
      fmt::print(stderr, "krohn: {} …\n", what);
    printed = true;
    std::fflush(stderr);
  }
  if (printed && terminal) std::fputs("\r\033[K", stderr);
}

}  // namespace krohn
