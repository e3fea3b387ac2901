// simulate/models/diagonal_mixer.h — diagonal recurrences: Mamba's, whose decay depends on the input (Gu & Dao 2023),
// with values in [0, 1] or [−1, 1] (Grazzi et al. 2025, Table 2) or complex ones of modulus at most 1 (as in S4D and
// LRU), and the one whose decay does not (S4D, Gu et al. 2022; LRU, Orvieto et al. 2023).
//
// u = SiLU(convolution(x W)), Δ = softplus(u W_Δ + b), h ← a ∘ h + k (Δ ∘ u) with a = s or 2s − 1 for
// s = exp(−Δ exp(w)), or a = exp(−Δ exp(w) + iΔθ); y = qᵀh + D ∘ u, gated by SiLU(x W_z). Without input dependence Δ =
// 1 in a. A complex h has real k and two numbers of q, for its real and its imaginary part.
#pragma once

#include "krohn/simulate/models/mixer.h"

namespace krohn {

struct DiagonalShape {
  std::uint32_t width = 64, channels = 128, states = 16;  ///< states of one channel
  std::uint32_t taps = 4;                                 ///< of the convolution; 0: none
  bool negative = false;                                  ///< values in [−1, 1]
  bool fixed = false;                                     ///< values that do not depend on the input
  bool complex = false;                                   ///< complex values; never with `negative`
  friend bool operator==(const DiagonalShape&, const DiagonalShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> diagonal_mixer(const DiagonalShape& shape);

extern template std::unique_ptr<Mixer<float>> diagonal_mixer(const DiagonalShape&);
extern template std::unique_ptr<Mixer<double>> diagonal_mixer(const DiagonalShape&);

}  // namespace krohn
