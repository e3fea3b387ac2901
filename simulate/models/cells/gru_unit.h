// simulate/models/cells/gru_unit.h — the gated recurrent unit (Cho et al. 2014) as torch.nn.GRU has it, its gates in
// the order r, z, n, a of the input and b of the state:
//
//   r = σ(a₀ + b₀)   z = σ(a₁ + b₁)   n = tanh(a₂ + b₂ r)   h ← (h − n) z + n
//
// The last line is how PyTorch computes (1 − z) n + z h; the two round differently.
#pragma once

#include <cstddef>
#include <string_view>

namespace krohn {

struct GruUnit {
  static constexpr std::string_view kName = "gru";
  static constexpr std::size_t kGates = 3, kKept = 1;
  static constexpr bool kSums = false;

  template <class F, class Number>
  static void step(const Number (&a)[3], Number (&b)[3], Number (&memory)[1]) {
    b[0] = F::logistic(a[0] + b[0]), b[1] = F::logistic(a[1] + b[1]);
    const Number n = F::tanh(a[2] + b[2] * b[0]);
    memory[0] = (memory[0] - n) * b[1] + n;
  }

  template <class F, class Number>
  static void adjoint(const Number (&a)[3], const Number (&b)[3], const Number (&before)[1],
                      const Number (&by_after)[1], Number (&by_a)[3], Number (&by_b)[3], Number (&by_before)[1]) {
    const Number one = F::one();
    const Number r = b[0], z = b[1], n = F::tanh(a[2] + b[2] * r);
    by_before[0] = by_after[0] * z;
    by_a[1] = by_b[1] = by_after[0] * (before[0] - n) * z * (one - z);
    by_a[2] = by_after[0] * (one - z) * (one - n * n);
    by_b[2] = by_a[2] * r;
    by_a[0] = by_b[0] = by_a[2] * b[2] * r * (one - r);
  }
};

}  // namespace krohn
