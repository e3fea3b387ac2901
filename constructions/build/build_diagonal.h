// constructions/build/build_diagonal.h — elementary abelian 2-groups as signs on the diagonal (Grazzi et al., Thm. 3;
// Ebrahimi & Memisevic, §2: real diagonal).
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Transition group Z_2: one number, +1 or −1, and A(σ) = ±1, one reflection. Exact in every precision.
/// Throws InputError naming the group when it is another.
Network build_parity_scalar(const Dfa& automaton);

/// Transition group Z_2^k: k signs, A(σ) = diag(±1, …). Exact in every precision. Throws InputError as above.
Network build_real_diagonal(const Dfa& automaton);

}  // namespace krohn
