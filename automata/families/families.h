// automata/families/families.h — the catalogue of languages that have names; `named_language` (automata/language.h)
// builds them.
#pragma once

#include <string>
#include <vector>

namespace krohn {

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
