// tools/krohn/report/check_summary.h — how many of many certificates were established.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

class CheckSummary {
 public:
  /// A line of `krohn check --list`. Throws InputError when it is none.
  void add(std::string_view line);
  /// Bad input when a file could not be read; else refuted when one is not established; else undecided when a limit
  /// was met.
  int status() const;
  std::string text() const;

 private:
  std::uint64_t certificates_ = 0, established_ = 0, not_established_ = 0, unreadable_ = 0, open_ = 0;
};

}  // namespace krohn
