// simulate/models/cells/lstm_unit.h — long short-term memory (Hochreiter & Schmidhuber 1997, with Gers's forget gate)
// as torch.nn.LSTM has it, its gates in the order i, f, g, o; u = a + b, a of the input and b of the state:
//
//   c ← σ(u₁) c + σ(u₀) tanh(u₂)   h ← σ(u₃) tanh(c)
#pragma once

#include <cstddef>
#include <string_view>

namespace krohn {

struct LstmUnit {
  static constexpr std::string_view kName = "lstm";
  static constexpr std::size_t kGates = 4, kKept = 2;  ///< h, c
  static constexpr bool kSums = true;

  template <class F, class Number>
  static void step(const Number (&a)[4], Number (&b)[4], Number (&memory)[2]) {
    b[0] = F::logistic(a[0] + b[0]), b[1] = F::logistic(a[1] + b[1]);
    b[2] = F::tanh(a[2] + b[2]), b[3] = F::logistic(a[3] + b[3]);
    memory[1] = b[1] * memory[1] + b[0] * b[2];
    memory[0] = b[3] * F::tanh(memory[1]);
  }

  template <class F, class Number>
  static void adjoint(const Number (&)[4], const Number (&b)[4], const Number (&before)[2], const Number (&by_after)[2],
                      Number (&by_a)[4], Number (&by_b)[4], Number (&by_before)[2]) {
    const Number one = F::one();
    const Number i = b[0], f = b[1], g = b[2], o = b[3], out = F::tanh(f * before[1] + i * g);
    const Number by_c = by_after[1] + by_after[0] * o * (one - out * out);
    by_before[0] = F::zero();
    by_before[1] = by_c * f;
    by_a[0] = by_b[0] = by_c * g * i * (one - i);
    by_a[1] = by_b[1] = by_c * before[1] * f * (one - f);
    by_a[2] = by_b[2] = by_c * i * (one - g * g);
    by_a[3] = by_b[3] = by_after[0] * out * o * (one - o);
  }
};

}  // namespace krohn
