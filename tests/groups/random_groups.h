// tests/groups/random_groups.h — permutation groups to try algorithms on, and their elements by plain closure.
#pragma once

#include <set>
#include <vector>

#include "krohn/groups/base/random.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// Up to three random generators of 1 … `most_points` points, some squared, some fixing a part of the points.
inline PermutationGroup random_group(Point most_points, Random& random) {
  const Point degree = static_cast<Point>(1 + random.below(most_points));
  std::vector<Permutation> generators;
  for (std::uint64_t k = random.below(4); k > 0; --k) {
    Permutation g = random_permutation(degree, random);
    for (std::uint64_t powers = random.below(3); powers > 0; --powers) g = g * g;
    generators.push_back(g);
  }
  return PermutationGroup::from_generators(degree, std::move(generators));
}

/// Every element, by multiplying with generators until nothing is new. Shares nothing with stabiliser chains.
inline std::vector<Permutation> elements_by_closure(const PermutationGroup& group) {
  std::vector<Permutation> queue{Permutation::identity(group.degree())};
  std::set<Permutation> seen{queue[0]};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const auto& generator : group.generators())
      if (Permutation product = queue[i] * generator.value; seen.insert(product).second) queue.push_back(product);
  return queue;
}

}  // namespace krohn
