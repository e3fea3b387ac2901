// constructions/actions/permutation_matrix.h — the matrix of a permutation, moved as a map or written as a product of
// reflections.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "krohn/constructions/network/matrix.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

enum class KeyStyle : std::uint8_t {
  kUnit,          ///< (e_i − e_j)/√2, β = 2: the paper's; not exact
  kUnnormalised,  ///< e_i − e_j, β = 1: exact in every precision
  kDoubled,       ///< ½(e_i − e_j + e_{n+i} − e_{n+j}), β = 2: exact even when a framework L2-normalises the key
};

/// "unit", "unnormalised", "doubled". Throws InputError listing the names.
KeyStyle parse_key_style(std::string_view name);

/// How many copies of the n coordinates the style needs: 2 for kDoubled, otherwise 1 (no style: a 0/1 matrix).
std::uint32_t coordinate_copies(std::optional<KeyStyle> keys);

/// Exactly n − c reflections, the least possible (MATH.md §1): each cycle (a_0 a_1 … a_l) becomes the swaps
/// (a_0 a_1), (a_0 a_2), …, (a_0 a_l) in that order. Dimension n, or 2n for kDoubled, whose point i is e_i + e_{n+i}.
ReflectionProduct reflection_product(const Permutation& permutation, KeyStyle keys);

/// The 0/1 matrix when no style is asked for, otherwise the product of reflections.
Matrix permutation_matrix(const Permutation& permutation, std::optional<KeyStyle> keys);

}  // namespace krohn
