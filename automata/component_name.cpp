#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "automata/cascade.h"
#include "groups/error.h"
#include "groups/stabiliser_chain.h"

namespace krohn {
namespace {

std::vector<Permutation> bijections(std::span<const Transformation> actions) {
  std::vector<Permutation> result;
  for (const Transformation& action : actions)
    if (action.is_permutation() && !action.is_identity()) result.push_back(action.to_permutation());
  return result;
}

Point moved_points(std::span<const Permutation> generators, Point degree) {
  Point moved = 0;
  for (Point p = 0; p < degree; ++p)
    moved += std::any_of(generators.begin(), generators.end(), [p](const Permutation& g) { return g[p] != p; });
  return moved;
}

Integer factorial(Point k) {
  Integer product = 1;
  for (Point i = 2; i <= k; ++i) product *= i;
  return product;
}

/// The least e with g^e = id for all g of an abelian group.
Integer exponent(std::span<const Permutation> generators) {
  Integer result = 1;
  for (const Permutation& g : generators) result = lcm(result, Integer(g.order()));
  return result;
}

}  // namespace

std::string component_name(std::span<const Transformation> actions) {
  constexpr StabiliserChainOptions kCheap{2'000'000};
  const std::vector<Permutation> generators = bijections(actions);
  if (generators.empty()) return "trivial";
  const Point degree = generators.front().degree();
  try {
    if (generators.size() == 1) return fmt::format("Z_{}", generators.front().order());
    const PermutationGroup group = PermutationGroup::from_generators(degree, generators);
    const Integer order = StabiliserChain(group, kCheap).order();
    // An abelian group is cyclic exactly when its exponent is its order.
    if (is_abelian(group) && exponent(generators) == order) return fmt::format("Z_{}", order.str());
    // A subgroup of Sym(k) of order k! is all of it, and the only one of index 2 is the alternating group.
    const Point moved = moved_points(generators, degree);
    if (order == factorial(moved)) return fmt::format("S_{}", moved);
    if (2 * order == factorial(moved)) return fmt::format("A_{}", moved);
    return fmt::format("order {}", order.str());
  } catch (const LimitError&) {
    return fmt::format("permutations of {} points", degree);
  }
}

}  // namespace krohn
