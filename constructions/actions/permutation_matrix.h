// constructions/actions/permutation_matrix.h — the matrix of a permutation, moved as a map or written as a product of
// reflections.
#pragma once

#include <optional>

#include "krohn/constructions/actions/key_style.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// How many copies of the n coordinates the style needs: 2 for kDoubled, otherwise 1 (no style: a 0/1 matrix).
std::uint32_t coordinate_copies(std::optional<KeyStyle> keys);

/// Exactly n − c reflections, the least possible (MATH.md §1): each cycle (a_0 a_1 … a_l) becomes the swaps
/// (a_0 a_1), (a_0 a_2), …, (a_0 a_l) in that order. Dimension n, or 2n for kDoubled, whose point i is e_i + e_{n+i}.
ReflectionProduct reflection_product(const Permutation& permutation, KeyStyle keys);

/// The 0/1 matrix when no style is asked for, otherwise the product of reflections.
Matrix permutation_matrix(const Permutation& permutation, std::optional<KeyStyle> keys);

}  // namespace krohn
