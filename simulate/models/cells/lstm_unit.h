// simulate/models/cells/lstm_unit.h — long short-term memory (Hochreiter & Schmidhuber 1997, with Gers's forget gate)
// as torch.nn.LSTM has it, its gates in the order i, f, g, o; u = a + b, a of the input and b of the state:
//
//   c ← σ(u₁) c + σ(u₀) tanh(u₂)   h ← σ(u₃) tanh(c)
#pragma once

#include <array>

#include "krohn/simulate/models/cells/cell.h"

namespace krohn {

struct LstmUnit {
  static constexpr std::string_view kName = "lstm";
  static constexpr std::size_t kGates = 4, kKept = 2;  ///< h, c

  template <class Real>
  static void step(const std::array<Real, 4>& a, const std::array<Real, 4>& b, std::array<Real, 2>& memory) {
    const Real i = cell_sigmoid<Real>(a[0] + b[0]), f = cell_sigmoid<Real>(a[1] + b[1]);
    const Real g = cell_tanh<Real>(a[2] + b[2]), o = cell_sigmoid<Real>(a[3] + b[3]);
    memory[1] = f * memory[1] + i * g;
    memory[0] = o * cell_tanh<Real>(memory[1]);
  }

  template <class Real>
  static void adjoint(const std::array<Real, 4>& a, const std::array<Real, 4>& b, const std::array<Real, 2>& before,
                      const std::array<Real, 2>& by_after, std::array<Real, 4>& by_a, std::array<Real, 4>& by_b,
                      std::array<Real, 2>& by_before) {
    const Real i = cell_sigmoid<Real>(a[0] + b[0]), f = cell_sigmoid<Real>(a[1] + b[1]);
    const Real g = cell_tanh<Real>(a[2] + b[2]), o = cell_sigmoid<Real>(a[3] + b[3]);
    const Real out = cell_tanh<Real>(f * before[1] + i * g);
    const Real by_c = by_after[1] + by_after[0] * o * (1 - out * out);
    by_before[1] += by_c * f;
    by_a[0] = by_c * g * i * (1 - i);
    by_a[1] = by_c * before[1] * f * (1 - f);
    by_a[2] = by_c * i * (1 - g * g);
    by_a[3] = by_after[0] * out * o * (1 - o);
    by_b = by_a;
  }
};

}  // namespace krohn
