#include "krohn/groups/permutations/transpositions.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

std::vector<Transposition> transpositions_of(const Permutation& permutation) {
  std::vector<Transposition> swaps;
  for (const std::vector<Point>& cycle : permutation.cycles())
    for (std::size_t i = 1; i < cycle.size(); ++i) swaps.push_back({cycle[0], cycle[i]});
  return swaps;
}

Permutation permutation_of(const Transposition& swap, Point degree) {
  if (swap.first >= degree || swap.second >= degree)
    throw InputError(fmt::format("a swap of the points {} and {} among {}; they are counted from 0", swap.first,
                                 swap.second, counted(degree, "point")));
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  std::swap(images[swap.first], images[swap.second]);
  return Permutation::from_images(std::move(images));
}

}  // namespace krohn
