#include "krohn/groups/base/time_limit.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {

std::atomic<bool> Interruption::requested = false;

void Interruption::stop() { throw Interrupted("interrupted"); }

thread_local const TimeLimit* TimeLimit::current = nullptr;
std::atomic<const TimeLimit*> TimeLimit::of_process = nullptr;

TimeLimit::TimeLimit(double seconds, std::string option, Of of)
    : option_(std::move(option)), before_(of == Of::kProcess ? of_process.load() : current), of_(of) {
  constexpr double kForever = 1e9;
  if (seconds > 0 && seconds < kForever)
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (const TimeLimit* outer = innermost(); outer != nullptr && outer->end_ <= end_)
    end_ = outer->end_, option_ = outer->option_;
  if (of_ == Of::kProcess)
    of_process.store(this, std::memory_order_release);
  else
    current = this;
}

TimeLimit::~TimeLimit() {
  if (of_ == Of::kProcess)
    of_process.store(before_, std::memory_order_release);
  else
    current = before_;
}

TimeLimit TimeLimit::part(double share) {
  const TimeLimit* around = innermost();
  return TimeLimit(share * left(), around != nullptr ? around->option_ : std::string());
}

std::string TimeLimit::met() {
  const TimeLimit* limit = innermost();
  if (limit == nullptr) return {};
  const Clock::time_point now = Clock::now();
  if (now >= limit->end_) return fmt::format("the time ({})", limit->option_);
  return MemoryLimit::met(now);
}

double TimeLimit::left() {
  const TimeLimit* limit = innermost();
  if (limit == nullptr || limit->end_ == Clock::time_point::max()) return std::numeric_limits<double>::infinity();
  return std::max(0.0, std::chrono::duration<double>(limit->end_ - Clock::now()).count());
}

void TimeLimit::check_clock() const {
  Interruption::check();
  const Clock::time_point now = Clock::now();
  if (now >= end_) throw LimitError(fmt::format("the time is over ({}); allow more", option_));
  if (const std::string memory = MemoryLimit::met(now); !memory.empty())
    throw LimitError(fmt::format("{} is used up; allow more", memory));
}

std::atomic<const MemoryLimit*> MemoryLimit::current = nullptr;

MemoryLimit::MemoryLimit(std::uint64_t bytes, std::string option)
    : bytes_(bytes), option_(std::move(option)), outer_(current.load()) {
  if (bytes_ > 0) current = this;
}

MemoryLimit::~MemoryLimit() { current = outer_; }

std::uint64_t MemoryLimit::held() {
  static const long page = sysconf(_SC_PAGESIZE);
  unsigned long long size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu %llu", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::uint64_t>(page);
}

bool MemoryLimit::is_met(std::chrono::steady_clock::time_point now) const {
  constexpr std::chrono::steady_clock::duration kBetweenLooks = std::chrono::milliseconds(5);
  const auto at = now.time_since_epoch().count();
  if (at < next_look_.load(std::memory_order_relaxed)) return false;
  next_look_.store(at + kBetweenLooks.count(), std::memory_order_relaxed);
  if (held() <= bytes_) return false;
  malloc_trim(0);  // freed blocks that the allocator keeps are nobody's
  if (held() <= bytes_) return false;
  next_look_.store(0, std::memory_order_relaxed);
  was_met_ = true;
  return true;
}

}  // namespace krohn
