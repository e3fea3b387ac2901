#include "krohn/groups/time_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
#include "krohn/groups/memory_limit.h"

namespace krohn {

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

}  // namespace krohn
