#include <fmt/format.h>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/names/recognise.h"

namespace krohn {

std::string component_name(std::span<const Transformation> actions) {
  StabiliserChainOptions cheap;
  cheap.max_entries = 2'000'000;
  std::vector<Permutation> generators;
  for (const Transformation& action : actions)
    if (action.is_permutation() && !action.is_identity()) generators.push_back(action.to_permutation());
  if (generators.empty()) return "trivial";
  const Point degree = generators.front().degree();
  try {
    return recognised_name(PermutationGroup::from_generators(degree, std::move(generators)), cheap);
  } catch (const LimitError&) {
    return fmt::format("permutations of {}", counted(degree, "point"));
  }
}

}  // namespace krohn
