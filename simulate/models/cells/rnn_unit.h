// simulate/models/cells/rnn_unit.h — Elman's cell (1990) as torch.nn.RNN has it: h ← tanh(a + b), or relu(a + b), a of
// the input and b of the state.
#pragma once

#include <array>

#include "krohn/simulate/models/cells/cell.h"

namespace krohn {

struct TanhUnit {
  static constexpr std::string_view kName = "rnn";
  static constexpr std::size_t kGates = 1, kKept = 1;

  template <class Real>
  static void step(const std::array<Real, 1>& a, const std::array<Real, 1>& b, std::array<Real, 1>& memory) {
    memory[0] = cell_tanh<Real>(a[0] + b[0]);
  }

  template <class Real>
  static void adjoint(const std::array<Real, 1>& a, const std::array<Real, 1>& b, const std::array<Real, 1>&,
                      const std::array<Real, 1>& by_after, std::array<Real, 1>& by_a, std::array<Real, 1>& by_b,
                      std::array<Real, 1>&) {
    const Real h = cell_tanh<Real>(a[0] + b[0]);
    by_a[0] = by_b[0] = by_after[0] * (1 - h * h);
  }
};

struct ReluUnit {
  static constexpr std::string_view kName = "rnn-relu";
  static constexpr std::size_t kGates = 1, kKept = 1;

  template <class Real>
  static void step(const std::array<Real, 1>& a, const std::array<Real, 1>& b, std::array<Real, 1>& memory) {
    const Real sum = a[0] + b[0];
    memory[0] = sum < Real(0) ? Real(0) : sum;  // no number stays none
  }

  template <class Real>
  static void adjoint(const std::array<Real, 1>& a, const std::array<Real, 1>& b, const std::array<Real, 1>&,
                      const std::array<Real, 1>& by_after, std::array<Real, 1>& by_a, std::array<Real, 1>& by_b,
                      std::array<Real, 1>&) {
    by_a[0] = by_b[0] = a[0] + b[0] > Real(0) ? by_after[0] : Real(0);
  }
};

}  // namespace krohn
