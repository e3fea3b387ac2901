// constructions/build/build_one_hot.h — one coordinate per state, for every automaton (Grazzi et al., App. A.2;
// Ebrahimi & Memisevic, Prop. 2.2; the P of PD-SSM).
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// H ∈ R^n for the n reachable states, H_0 = e_{q0}, A(σ) the 0/1 matrix of the letter (columns are one-hot), B = 0.
/// Exact in every precision: each product is with 0 or 1 and each sum has one non-zero term. The norm of A exceeds 1 as
/// soon as a letter merges states. O(k n) time and memory.
Network build_one_hot(const Dfa& automaton);

/// H_0 = e_0 (or e_0 + e_labels + …) with unit codewords in that many copies, columns = 1.
Layer unit_layer(Label labels, std::uint32_t copies = 1);

}  // namespace krohn
