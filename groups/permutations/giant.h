// groups/permutations/giant.h — alternating and symmetric groups, recognised without a stabiliser chain.
#pragma once

#include <optional>
#include <string>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// A_n or S_n in its natural action on the points that move.
struct Giant {
  Point points = 0;        ///< n
  bool symmetric = false;  ///< S_n; otherwise A_n
  Integer order() const;   ///< n! or n!/2
  std::string name() const { return (symmetric ? "S_" : "A_") + std::to_string(points); }
};

/// Certain when it answers: a transitive group of n points with an element that has a cycle of prime length p,
/// n/2 < p < n−2, is primitive and holds a p-cycle, so it holds A_n (Jordan 1873; Wielandt, Finite Permutation Groups,
/// 13.9). Such elements are looked for among random ones: a giant is missed with probability about 10⁻⁶. Groups of at
/// most 7 moved points are decided by their order. O(n log n) products of permutations at most, O(log n) for giants.
/// Throws LimitError.
std::optional<Giant> find_giant(const PermutationGroup& group);

/// k!.
Integer factorial(Point k);

/// No generator is an odd permutation, hence no element.
bool all_even(const PermutationGroup& group);

}  // namespace krohn
