#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "automata/cascade.h"

namespace krohn {
namespace {

/// All products of the generators, breadth first; stops one past `max_elements`.
std::set<Transformation> closure(std::span<const Transformation> generators, std::size_t max_elements) {
  std::set<Transformation> elements{Transformation::identity(generators.front().degree())};
  std::vector<Transformation> open(elements.begin(), elements.end());
  while (!open.empty() && elements.size() <= max_elements) {
    const Transformation element = open.back();
    open.pop_back();
    for (const Transformation& generator : generators)
      if (const auto [at, fresh] = elements.insert(element * generator); fresh) open.push_back(*at);
  }
  return elements;
}

std::uint64_t moved_points(std::span<const Transformation> generators) {
  std::uint64_t moved = 0;
  for (Point p = 0; p < generators.front().degree(); ++p)
    moved += std::any_of(generators.begin(), generators.end(), [p](const Transformation& g) { return g[p] != p; });
  return moved;
}

std::uint64_t factorial(std::uint64_t k) { return k < 2 ? 1 : k * factorial(k - 1); }

}  // namespace

std::string component_name(std::span<const Transformation> actions) {
  constexpr std::size_t kMaxElements = 5'040;
  std::vector<Transformation> generators;
  for (const Transformation& action : actions)
    if (action.is_permutation() && !action.is_identity()) generators.push_back(action);
  if (generators.empty()) return "trivial";
  const std::set<Transformation> elements = closure(generators, kMaxElements);
  const std::uint64_t order = elements.size(), moved = moved_points(generators);
  if (order > kMaxElements) return fmt::format("order above {}", kMaxElements);
  if (std::any_of(elements.begin(), elements.end(),
                  [order](const Transformation& element) { return element.to_permutation().order() == order; }))
    return fmt::format("Z_{}", order);
  // A subgroup of Sym(k) of order k! is all of it, and the only one of index 2 is the alternating group.
  if (moved <= 12 && order == factorial(moved)) return fmt::format("S_{}", moved);
  if (moved <= 12 && order == factorial(moved) / 2) return fmt::format("A_{}", moved);
  return fmt::format("order {}", order);
}

}  // namespace krohn
