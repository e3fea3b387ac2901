// automata/families/families.h — the catalogue of languages that have names; `named_language` (automata/language.h)
// builds them.
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

/// One line of the catalogue.
struct FamilyInfo {
  std::string pattern;  ///< "sum<m>", "dyck:types=<k>,depth=<d>"
  std::string summary;  ///< one line
  std::string source;   ///< the paper that uses it, or "classic"
  std::string example;  ///< a name that `named_language` takes
};

/// Every family, in the order in which they are best read: counting, classics, arithmetic, random, groups.
std::vector<FamilyInfo> families();

}  // namespace krohn
