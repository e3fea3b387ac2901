// automata/monoid/complexity.h — bounds of the Krohn–Rhodes complexity of a monoid: the least number of group layers in
// any cascade of groups and aperiodic parts.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/groups/transformations/green.h"

namespace krohn {

struct ComplexityBounds {
  std::uint64_t lower = 0, upper = 0;
  std::string lower_by, upper_by;  ///< what says so
};

/// By Tilson's depth decomposition theorem (1971) the complexity is at most the most D-classes with a non-trivial
/// maximal subgroup on one chain of the J-order. It is 0 exactly for aperiodic monoids, and n−1 for all maps of n
/// points (Rhodes). `degree` is the number of points. O(D-classes + covers).
ComplexityBounds complexity_bounds(const GreenStructure& green, Point degree);

}  // namespace krohn
