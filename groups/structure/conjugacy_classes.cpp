#include "krohn/groups/structure/conjugacy_classes.h"

#include "krohn/groups/permutations/group_elements.h"

namespace krohn {

std::vector<ConjugacyClass> conjugacy_classes(const PermutationGroup& group, std::uint64_t max_elements) {
  const GroupElements elements = GroupElements::enumerate(group, max_elements);
  std::vector<Permutation> generators = group.generator_values(), inverses;
  for (const Permutation& g : generators) inverses.push_back(g.inverse());
  std::vector<bool> seen(elements.size(), false);
  std::vector<ConjugacyClass> classes;
  for (ElementIndex start = 0; start < elements.size(); ++start) {
    if (seen[start]) continue;
    std::vector<ElementIndex> found{start};
    seen[start] = true;
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t g = 0; g < generators.size(); ++g) {
        const ElementIndex next = *elements.find(inverses[g] * elements[found[i]] * generators[g]);
        if (seen[next]) continue;
        seen[next] = true;
        found.push_back(next);
      }
    classes.push_back({elements[start], found.size(), elements[start].order()});
  }
  return classes;
}

}  // namespace krohn
