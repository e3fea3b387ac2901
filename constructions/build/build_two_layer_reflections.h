// constructions/build/build_two_layer_reflections.h — counting modulo m with one reflection per token and layer (Grazzi
// et al., Thm. 6).
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Layer 1 is a sign that holds the parity of the position. Layer 2 is a plane: letter i at parity p reflects by
/// H(θ) = [cos θ, sin θ; sin θ, −cos θ] with θ(i,1) = (1−2i)π/m and θ(i,0) = (2i+1)π/m, so that y is at angle
/// (1−2y)π/m after an odd and 2yπ/m after an even number of letters (MATH.md §2). The parity chooses the code book,
/// which doubles the least distance. Not bit-exact. Throws InputError unless the transition group is cyclic.
Network build_two_layer_reflections(const Dfa& automaton);

}  // namespace krohn
