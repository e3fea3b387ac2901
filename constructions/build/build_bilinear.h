// constructions/build/build_bilinear.h — one-hot and bilinear recurrences.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/network/network.h"

namespace krohn {

// One coordinate per state, for every automaton (Grazzi et al., App. A.2;
// Ebrahimi & Memisevic, Prop. 2.2; the P of PD-SSM).

/// H ∈ R^n for the n reachable states, H_0 = e_{q0}, A(σ) the 0/1 matrix of the letter (columns are one-hot), B = 0.
/// Exact in every precision: each product is with 0 or 1 and each sum has one non-zero term. The norm of A exceeds 1 as
/// soon as a letter merges states. O(k n) time and memory.
Network build_one_hot(const Dfa& automaton);

/// H_0 = e_0 (or e_0 + e_labels + …) with unit codewords in that many copies, columns = 1.
Layer unit_layer(Label labels, std::uint32_t copies = 1);

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
