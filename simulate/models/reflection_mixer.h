// simulate/models/reflection_mixer.h — products of generalized Householder matrices: DeltaNet (Yang et al. 2024) and,
// with several reflections a token, DeltaProduct, with eigenvalues in [0, 1] or [−1, 1] (Grazzi et al. 2025, Tables 1
// and 2).
//
// For every head S ← S + β k (v − Sᵀk)ᵀ, once for every reflection, then o = Sᵀq; k and q are L2-normalised, q, k and v
// pass a SiLU and optionally a short convolution, β is a sigmoid, times 2 for [−1, 1]; o passes an RMS norm by head and
// a linear map, as in flash-linear-attention's layers.
#pragma once

#include "krohn/simulate/models/mixer.h"

namespace krohn {

struct ReflectionShape {
  std::uint32_t width = 64, heads = 2, keys = 32, values = 32;  ///< keys and values of one head
  std::uint32_t reflections = 1;
  std::uint32_t taps = 0;  ///< of the convolution; 0: none
  bool negative = false;   ///< eigenvalues in [−1, 1]
  bool plain = false;      ///< no SiLU on q, k and v

  // The columns of a token's row: q of all heads, then all k, v and β, by head and reflection.
  std::size_t q_column(std::size_t head) const { return head * keys; }
  std::size_t k_column(std::size_t head) const { return (heads + head * reflections) * keys; }
  std::size_t v_column(std::size_t head) const { return k_column(heads) + head * reflections * values; }
  std::size_t beta_column(std::size_t head = 0) const { return v_column(heads) + head * reflections; }
  std::size_t columns() const { return beta_column(heads); }
  std::size_t state_size() const { return std::size_t{keys} * values; }  ///< of a head

  friend bool operator==(const ReflectionShape&, const ReflectionShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> reflection_mixer(const ReflectionShape& shape);

extern template std::unique_ptr<Mixer<float>> reflection_mixer(const ReflectionShape&);
extern template std::unique_ptr<Mixer<double>> reflection_mixer(const ReflectionShape&);

}  // namespace krohn
