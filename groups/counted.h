// groups/counted.h — counts in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

/// "100,000,000".
std::string with_thousands(std::uint64_t count);

/// "1 layer", "2,000 layers"; with `plural` "es" "3 D-classes".
std::string counted(std::uint64_t count, std::string_view what, std::string_view plural = "s");
/// Of a count of any size, by its decimal digits.
std::string counted(std::string_view digits, std::string_view what, std::string_view plural = "s");

}  // namespace krohn
