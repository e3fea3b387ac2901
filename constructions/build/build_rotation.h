// constructions/build/build_rotation.h — rotations, exact ones too.
#pragma once

#include <span>

#include "krohn/constructions/actions/based_action.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// One block per invariant factor Z_m of the transition group: a plane that letter w turns by the exact fraction w/m,
/// or a sign for Z_2. State dimension 2 per plane, 1 per sign; codeword y of Z_m at angle 2πy/m, H_0 at angle 0. Two
/// reflections per plane. Bit-exact only for m ∈ {1, 2, 4}: other angles drift (MATH.md §5).
/// Throws InputError when the transition group of the reachable states is not abelian.
Network build_rotation(const Dfa& automaton);

/// The same over the factors of prime-power order: more planes, but codewords farther apart. Z_60 takes 6 numbers with
/// least distance 1.18 where one plane has 0.10.
Network build_rotation_primary(const Dfa& automaton);

/// `build_rotation` with a repair that is not linear: after every K letters the state is replaced by the nearest
/// codeword (Network::snap_every). K is the number of letters for which MATH.md §5 ("Snapping") bounds the drift in
/// `precision` below half the least distance of two codewords. Throws InputError when not even one letter stays below
/// it.
Network build_rotation_snapped(const Dfa& automaton, Precision precision);

/// Any characters of the abelian transition group: a plane for harmonic k that letter w turns by Σ k_i w_i / m_i, a
/// sign where 2k = 0; `harmonics` are elements of the group, over the orders of `abelian_structure`. Throws InputError
/// when the group is not abelian or the harmonics do not tell all its elements apart.
Network build_harmonics(const Dfa& automaton, std::span<const AbelianStructure::Element> harmonics);

/// Ebrahimi's R2 form: a plane for every invariant factor, Z_2 too.
Network build_r2(const Dfa& automaton);

// Abelian transition groups as rotations of planes that rounding does not
// move (MATH.md §5, "Rotations that do not drift").

/// The planes of `build_rotation`, with codewords and weights that the search of locked_rotation.h finds for the shifts
/// in use: bit-exact for words of every length in `precision`, read letter after letter with separate roundings, and in
/// no other arithmetic. Z_2 is a sign. A factor for which nothing is found is cut into factors of coprime orders, as
/// few numbers of state as possible: Z_60 takes two planes, of 5 and of 12. Throws InputError naming the group and the
/// order for which nothing was found, or when the transition group is not abelian.
Network build_rotation_locked(const Dfa& automaton, Precision precision);

/// The same onto grids: one number of state more, the constant 1, through which every row adds and takes away 1.5·2^k.
/// The matrices have norms of that size and no Householder form; what locks the rotation is only the rounding.
Network build_rotation_grid(const Dfa& automaton, Precision precision);

}  // namespace krohn
