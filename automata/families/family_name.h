// automata/families/family_name.h — the syntax of family names: "sum5", "modarith5-strict", "dyck:types=2,depth=3".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krohn {

/// A family's name with its parameters: letters, a number, more letters after "-", then ":key=value,key=value". The
/// number may also stand in brackets or after the colon: "sum5" = "sum(5)" = "sum:5" = "sum:m=5".
struct FamilyName {
  std::string family;                                        ///< lower case, without the number: "modarith-strict"
  std::optional<std::uint64_t> number;                       ///< the unnamed parameter
  std::vector<std::pair<std::string, std::uint64_t>> named;  ///< in the order given
};

/// Splits a name; nothing when it is not of this form (the caller then tries a group). Upper and lower case, spaces and
/// "_" do not matter. Throws LimitError for a number beyond 2^63.
std::optional<FamilyName> parse_family_name(std::string_view name);

}  // namespace krohn
