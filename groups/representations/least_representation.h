// groups/representations/least_representation.h — how small a faithful real representation of a group can be
// (MATH.md §6, docs/build.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/representations/character_table.h"

namespace krohn {

/// Real irreducible representations whose kernels meet in the identity alone; indices in `real_irreducibles()`.
struct LeastRepresentation {
  std::uint64_t value = 0;            ///< the dimension, or the most reflections of a letter
  std::vector<std::uint32_t> blocks;  ///< the dimensions of the representations that reach it
};

/// The least dimension of a faithful real representation. Exact: every representation is a sum of irreducible ones,
/// and a sum is faithful exactly when their kernels meet in the identity. O(normal subgroups · irreducibles).
LeastRepresentation least_faithful_dimension(const CharacterTable& table);

/// The least number k such that in some faithful real representation every letter is a product of k reflections: the
/// codimension of its fixed space, added over the irreducible parts. Exact. Throws LimitError past `max_steps`.
LeastRepresentation least_reflections(const CharacterTable& table, std::span<const Permutation> letters,
                                      std::uint64_t max_steps = 5'000'000);

/// The same dimension for Z_{d_1} × … × Z_{d_k} with 1 < d_1 | … | d_k: one for every d_i = 2, two for the others.
/// A faithful sum of m signs and c planes embeds the group in {±1}^m × U(1)^c, so that m + c ≥ k, and twice the group
/// in U(1)^c, so that c is at least the number of d_i > 2.
std::uint64_t least_faithful_dimension(const std::vector<Integer>& invariants);

}  // namespace krohn
