#include "krohn/groups/counted.h"

#include <fmt/format.h>

namespace krohn {

namespace {

std::string separated(std::string digits) {
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

std::string with_thousands(std::uint64_t count) { return separated(std::to_string(count)); }

std::string counted(std::string_view digits, std::string_view what, std::string_view plural) {
  return fmt::format("{} {}{}", separated(std::string(digits)), what, digits == "1" ? "" : plural);
}

std::string counted(std::uint64_t count, std::string_view what, std::string_view plural) {
  return counted(std::to_string(count), what, plural);
}

}  // namespace krohn
