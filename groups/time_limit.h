// groups/time_limit.h — a limit on the time of work that can explode.
#pragma once

#include <chrono>
#include <string>

namespace krohn {

/// While it lives, `check()` in the thread that made it throws LimitError once `seconds` have passed, and Interrupted
/// after Ctrl-C. What can explode (orbits, monoids, cascades) checks once for each piece of a microsecond or more; so a
/// caller bounds it without a parameter through every function between. An inner limit never outlives those around it.
class TimeLimit {
 public:
  /// No limit when `seconds` is 0. `option` names what raises it, with its value: "--time 60".
  TimeLimit(double seconds, std::string option);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  bool is_over() const { return Clock::now() >= end_; }

  static void check() {
    if (current != nullptr) current->check_clock();
  }

 private:
  using Clock = std::chrono::steady_clock;
  void check_clock() const;

  Clock::time_point end_ = Clock::time_point::max();
  std::string option_;
  const TimeLimit* outer_;
  static thread_local const TimeLimit* current;
};

}  // namespace krohn
