#include "tools/krohn/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/krohn/count.h"

namespace krohn {
namespace {
constexpr std::chrono::steady_clock::duration kPatience = std::chrono::seconds(1);
constexpr std::chrono::steady_clock::duration kPeriod = std::chrono::milliseconds(100);
constexpr std::chrono::steady_clock::duration kPeriodInLogs = std::chrono::minutes(1);

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

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), next_(kPatience.count()) {}

Progress::~Progress() {
  if (printed_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  InterruptibleWork::check();
  std::uint64_t unset = UINT64_MAX;
  first_.compare_exchange_strong(unset, done);
  const Clock::rep now = (Clock::now() - start_).count();
  if (now < next_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (now < next_.load(std::memory_order_relaxed)) return;
  next_.store(now + (terminal_ ? kPeriod : kPeriodInLogs).count(), std::memory_order_relaxed);
  print(done, total, std::chrono::duration<double>(Clock::duration(now)).count());
  printed_ = true;
}

void Progress::print(std::uint64_t done, std::uint64_t total, double seconds) {
  std::string line = fmt::format("krohn: {}: {}", what_, with_thousands(done));
  if (total > 0)
    line += fmt::format(" of {} ({:.0f} %)", with_thousands(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  if (total > done && done > first_.load())
    line += rate_text(static_cast<double>(done - first_.load()) / seconds, static_cast<double>(total - done));
  std::fputs((terminal_ ? "\r" + line + "\033[K" : line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace krohn
