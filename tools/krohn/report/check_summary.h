// tools/krohn/report/check_summary.h — how many of many certificates were established.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

class ClassSummary {
 public:
  /// A line of `class_line`. Throws InputError when it is none.
  void add(std::string_view line);
  /// Bad input when a language could not be read, undecided when an answer is open.
  int status() const;
  std::string text() const;

 private:
  void count(const std::string& name, const std::string& answer);

  std::map<std::string, std::array<std::uint64_t, 3>> counts_;  ///< yes, no, open
  std::vector<std::string> order_;
  std::set<std::string> is_class_;
  std::uint64_t languages_ = 0, errors_ = 0, open_ = 0;
};

}  // namespace krohn
