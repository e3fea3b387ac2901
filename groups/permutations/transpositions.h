// groups/permutations/transpositions.h — a permutation as the product of the fewest swaps of two points.
#pragma once

#include <vector>

#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// The swap of two points.
struct Transposition {
  Point first, second;

  friend bool operator==(const Transposition&, const Transposition&) = default;
};

/// As many as the reflection length, n less the number of cycles: (a_0 a_1), (a_0 a_2), … of each cycle (a_0 a_1 …),
/// whose product, first to last, is the permutation. a_0 is the least of its cycle, so that first < second. O(n).
std::vector<Transposition> transpositions_of(const Permutation& permutation);

/// The swap as a permutation of `degree` points. Throws InputError when one of its points is no less than `degree`.
Permutation permutation_of(const Transposition& swap, Point degree);

}  // namespace krohn
