// simulate/models/block_mixer.h — Fan et al. 2024's block-diagonal input-dependent recurrence (eq. 5 and 6): x ← A(u) x
// + B u with h blocks of b×b in A, each column divided by max(1, its p-norm). What it adds is the state itself.
//
// A(u) = G₂ SiLU(G₁ u) + c, or G u + c without hidden units. (As released, the paper's layer instead subtracts the
// column means and divides by the greatest column norm, under which even the blocks of a plain permutation contract.)
#pragma once

#include "krohn/simulate/models/mixer.h"

namespace krohn {

struct BlockShape {
  std::uint32_t blocks = 8, size = 8;  ///< h and b; the width is h · b
  double norm = 1.2;                   ///< p
  std::uint32_t generator = 0;         ///< hidden units of the network that gives A
  std::uint32_t width() const { return blocks * size; }
  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> block_mixer(const BlockShape& shape);

extern template std::unique_ptr<Mixer<float>> block_mixer(const BlockShape&);
extern template std::unique_ptr<Mixer<double>> block_mixer(const BlockShape&);

}  // namespace krohn
