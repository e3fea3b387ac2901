// simulate/models/cells/gru_unit.h — the gated recurrent unit (Cho et al. 2014) as torch.nn.GRU has it, its gates in
// the order r, z, n, a of the input and b of the state:
//
//   r = σ(a₀ + b₀)   z = σ(a₁ + b₁)   n = tanh(a₂ + b₂ r)   h ← (h − n) z + n
//
// The last line is how PyTorch computes (1 − z) n + z h; the two round differently.
#pragma once

#include <array>

#include "krohn/simulate/models/cells/cell.h"

namespace krohn {

struct GruUnit {
  static constexpr std::string_view kName = "gru";
  static constexpr std::size_t kGates = 3, kKept = 1;

  template <class Real>
  static void step(const std::array<Real, 3>& a, const std::array<Real, 3>& b, std::array<Real, 1>& memory) {
    const Real r = cell_sigmoid<Real>(a[0] + b[0]), z = cell_sigmoid<Real>(a[1] + b[1]);
    const Real n = cell_tanh<Real>(a[2] + b[2] * r);
    memory[0] = (memory[0] - n) * z + n;
  }

  template <class Real>
  static void adjoint(const std::array<Real, 3>& a, const std::array<Real, 3>& b, const std::array<Real, 1>& before,
                      const std::array<Real, 1>& by_after, std::array<Real, 3>& by_a, std::array<Real, 3>& by_b,
                      std::array<Real, 1>& by_before) {
    const Real r = cell_sigmoid<Real>(a[0] + b[0]), z = cell_sigmoid<Real>(a[1] + b[1]);
    const Real n = cell_tanh<Real>(a[2] + b[2] * r);
    by_before[0] += by_after[0] * z;
    by_a[1] = by_b[1] = by_after[0] * (before[0] - n) * z * (1 - z);
    by_a[2] = by_after[0] * (1 - z) * (1 - n * n);
    by_b[2] = by_a[2] * r;
    by_a[0] = by_b[0] = by_a[2] * b[2] * r * (1 - r);
  }
};

}  // namespace krohn
