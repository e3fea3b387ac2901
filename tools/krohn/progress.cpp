#include "tools/krohn/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/krohn/count.h"

namespace krohn {
namespace {
constexpr std::chrono::steady_clock::duration kPatience = std::chrono::seconds(1);
constexpr std::chrono::steady_clock::duration kPeriod = std::chrono::milliseconds(100);
}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), next_(kPatience.count()) {}

Progress::~Progress() {
  if (printed_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  InterruptibleWork::check();
  const Clock::rep now = (Clock::now() - start_).count();
  if (now < next_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (now < next_.load(std::memory_order_relaxed)) return;
  next_.store(now + kPeriod.count(), std::memory_order_relaxed);
  if (terminal_ || !printed_) print(done, total);
  printed_ = true;
}

void Progress::print(std::uint64_t done, std::uint64_t total) {
  std::string line = fmt::format("krohn: {}: {}", what_, with_thousands(done));
  if (total > 0)
    line += fmt::format(" of {} ({:.0f} %)", with_thousands(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  std::fputs((terminal_ ? "\r" + line + "\033[K" : line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace krohn
