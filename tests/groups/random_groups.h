// tests/groups/random_groups.h — permutation groups and transformations to try algorithms on, and elements of a group
// by plain closure.
#pragma once

#include "krohn/groups/base/random.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/transformations/transformation.h"
#include "tests/testing.h"

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

inline std::vector<Transformation> random_maps(std::mt19937& random, Point degree, std::size_t count) {
  std::vector<Transformation> maps;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Point> images(degree);
    for (Point& image : images) image = static_cast<Point>(random() % degree);
    maps.push_back(Transformation::from_images(std::move(images)));
  }
  return maps;
}

/// A cycle, a transposition and a map of rank n−1 generate all n^n maps of n points.
inline std::vector<Transformation> full_monoid(Point n) {
  std::vector<std::vector<Point>> images(3, std::vector<Point>(n));
  for (auto& map : images) std::iota(map.begin(), map.end(), Point{0});
  std::rotate(images[0].begin(), images[0].begin() + 1, images[0].end());
  if (n > 1) std::swap(images[1][0], images[1][1]);
  images[2][0] = n > 1 ? 1 : 0;
  std::vector<Transformation> maps;
  for (auto& map : images) maps.push_back(Transformation::from_images(std::move(map)));
  return maps;
}

}  // namespace krohn
