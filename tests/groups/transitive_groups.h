// tests/groups/transitive_groups.h — GAP's table of the transitive groups of degree 2 to 8.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "krohn/groups/base/error.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

struct TransitiveGroup {
  std::string label;  ///< "8.23"
  std::string order;
  bool solvable, abelian, primitive;
  PermutationGroup group;
};

inline std::vector<TransitiveGroup> transitive_groups() {
  std::ifstream file(KROHN_TEST_DATA "/gap/transitive_groups_deg2-8.tsv");
  if (!file) throw SystemError("tests/data/gap/transitive_groups_deg2-8.tsv cannot be read");
  std::vector<TransitiveGroup> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    Point degree = 0;
    std::string number, order, solvable, abelian, primitive;
    if (!(row >> degree >> number >> order >> solvable >> abelian >> primitive)) continue;
    std::string list = line.substr(line.find('[') + 1);
    list.resize(list.rfind(']'));
    for (std::size_t at = 0; (at = list.find("), (", at)) != std::string::npos;) list.replace(at, 3, ");");
    std::vector<Permutation> generators;
    std::istringstream cycles(list);
    for (std::string one; std::getline(cycles, one, ';');) generators.push_back(parse_cycles(one, degree));
    rows.push_back({std::to_string(degree) + "." + number, order, solvable == "true", abelian == "true",
                    primitive == "true", PermutationGroup::from_generators(degree, std::move(generators))});
  }
  if (rows.size() != 86) throw InputError("the table of transitive groups is not whole");
  return rows;
}

}  // namespace krohn
