#include "krohn/groups/time_limit.h"

#include <fmt/format.h>

#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"

namespace krohn {

thread_local const TimeLimit* TimeLimit::current = nullptr;

TimeLimit::TimeLimit(double seconds, std::string option) : option_(std::move(option)), outer_(current) {
  constexpr double kForever = 1e9;
  if (seconds > 0 && seconds < kForever)
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (outer_ != nullptr && outer_->end_ < end_) end_ = outer_->end_;
  current = this;
}

TimeLimit::~TimeLimit() { current = outer_; }

void TimeLimit::check_clock() const {
  Interruption::check();
  if (Clock::now() >= end_) throw LimitError(fmt::format("the time is over ({}); allow more", option_));
}

}  // namespace krohn
