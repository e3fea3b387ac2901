// constructions/build/build_locked_rotation.h — abelian transition groups as rotations of planes that rounding does not
// move (MATH.md §5, "Rotations that do not drift").
#pragma once

#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

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
