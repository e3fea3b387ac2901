// groups/base/messages.h — words for messages: numbers with their nouns, and the name that was probably meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// "100,000,000".
std::string with_thousands(std::uint64_t count);

/// "1 layer", "2,000 layers"; with `plural` "es" "3 D-classes".
std::string counted(std::uint64_t count, std::string_view what, std::string_view plural = "s");
/// For a count of any size, by its decimal digits.
std::string counted(std::string_view digits, std::string_view what, std::string_view plural = "s");

/// The least number of letters to insert, delete, replace or swap with their neighbour (Damerau–Levenshtein, each
/// letter touched once). O(|a|·|b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known names that are near `name`, nearest first, at most three: those within distance 3 (2 for a name of four to
/// seven letters, 1 for two or three, 0 for one), or where there are none, those of which a longer beginning than one
/// letter was typed.
std::vector<std::string> near_misses(std::string_view name, std::span<const std::string> known);

/// " Did you mean "sum" or "s"?", or nothing when nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace krohn
