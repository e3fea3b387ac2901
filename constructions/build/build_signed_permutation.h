// constructions/build/build_signed_permutation.h — abelian transition groups by signed permutations of the coordinates:
// exact in every precision, norm 1.
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// One block per factor of prime-power order (MATH.md §2): Z_{2^a} by the negacyclic shift of 2^{a−1} coordinates
/// (after the last comes minus the first), other Z_{p^a} by the cyclic shift of p^a. Codewords have one entry ±1 per
/// block. Z_60 takes 2 + 3 + 5 = 10 numbers and 8 reflections for its generator. Throws InputError when the transition
/// group is not abelian, LimitError past the codeword limit.
Network build_signed_permutation(const Dfa& automaton);

}  // namespace krohn
