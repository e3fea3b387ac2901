// groups/transformations/small_monoids.h — all monoids of maps of at most three points, up to the names of the points.
#pragma once

#include <vector>

#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// A monoid of maps with the identity, and letters that generate it: none of them can be left out.
struct SmallMonoid {
  std::vector<Transformation> elements;    ///< in increasing order of their images
  std::vector<Transformation> generators;  ///< without the identity
};

/// One of each class under renaming of the points, by increasing size: every one is reached from {1} by adding an
/// element at a time. Throws InputError unless `degree` is 1, 2 or 3; four points have more than 10^8.
std::vector<SmallMonoid> monoids_on(Point degree);

}  // namespace krohn
