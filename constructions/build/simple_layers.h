// constructions/build/simple_layers.h — one layer of a network for one layer of a prime cascade
// (automata/cascades/prime_cascade.h): resets, cyclic groups, simple groups that are not abelian.
#pragma once

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

/// Whether every action is the identity or a constant.
bool is_reset_layer(const CascadeLayer& layer);
/// Whether every action is x ↦ x + b modulo the width.
bool is_shift_layer(const CascadeLayer& layer);

/// Each of these has the actions' transitions and starts at `initial`; the wiring is the caller's.

/// One-hot; the identity is A = I, the constant c is A = 0, B = e_c. Diagonal, exact in every precision.
Layer reset_layer(const CascadeLayer& layer, Label initial);
/// Z_2 as one number, A = ±1. Exact in every precision.
Layer sign_layer(const CascadeLayer& layer, Label initial);
/// Z_m as one complex number turned by b/m, a 2×2 rotation: bit-exact in `precision` where locked_rotation.h finds such
/// numbers, and if m divides 4; otherwise it rounds.
Layer turn_layer(const CascadeLayer& layer, Label initial, Precision precision);
/// Z_m as a cyclic permutation of m numbers, whose eigenvalues are the m-th roots of unity. Exact in every precision.
Layer cyclic_layer(const CascadeLayer& layer, Label initial);
/// A group in the smallest orthogonal representation that tells its labels apart: A_5 as the rotations of an
/// icosahedron, in three dimensions. Rounds. Throws InputError when the actions are not permutations or need more than
/// `max_dimension` dimensions.
Layer orthogonal_layer(const CascadeLayer& layer, Label initial, std::uint32_t max_dimension);

}  // namespace krohn
