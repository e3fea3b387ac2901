// constructions/build/build_bilinear.h — bilinear recurrences h_t = W(x_t) h_{t−1}: W dense, slice by slice, and its
// exact CP factors (Ebrahimi & Memisevic, Prop. 2.2 and §2.3; MATH.md §7).
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// W[i, j, k] = 1 iff state j goes to state i on letter k, over the reachable states in breadth-first order.
///
/// The one-hot network with a dense slice W[:, :, k] for every distinct letter action. Throws LimitError past 2^24
/// numbers.
Network build_bilinear(const Dfa& automaton);

/// The mode along which a tensor is cut into its non-zero fibres, each a rank-one term.
enum class FibreMode : std::uint8_t {
  kOutput,  ///< one term per (state, letter action): e_{jσ} ⊗ e_j ⊗ σ
  kInput,   ///< one term per (letter action, image): e_i ⊗ {j : jσ = i} ⊗ σ
  kLetter,  ///< one term per (state, next state): e_i ⊗ e_j ⊗ {σ : jσ = i}
};

/// W = Σ_r outputs[r] ⊗ inputs[r] ⊗ letters[r], 0/1 vectors given by their supports: a partition of the transition
/// table into rectangles of one colour. Letters that act alike share their terms.
struct CpFactors {
  FibreMode mode = FibreMode::kOutput;
  std::vector<std::vector<std::uint32_t>> outputs, inputs, letters;
  std::size_t rank() const { return outputs.size(); }
};

/// The factors by the fibres of one mode. O(n · actions).
CpFactors cp_factors(const Dfa& automaton, FibreMode mode);

/// The mode with the fewest terms, the earlier on a tie. About (1 − 1/e) m² for random state machines on m states and m
/// letters.
CpFactors smallest_cp_factors(const Dfa& automaton);

/// The one-hot network with those factors. Exact in every precision: each sum has one non-zero term. Throws LimitError
/// when terms times distinct actions pass 2^22.
Network build_factored(const Dfa& automaton);

}  // namespace krohn
