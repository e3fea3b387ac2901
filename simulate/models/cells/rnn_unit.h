// simulate/models/cells/rnn_unit.h — Elman's cell (1990) as torch.nn.RNN has it: h ← tanh(a + b), or relu(a + b), a of
// the input and b of the state.
#pragma once

#include <cstddef>
#include <string_view>

namespace krohn {

struct TanhUnit {
  static constexpr std::string_view kName = "rnn";
  static constexpr std::size_t kGates = 1, kKept = 1;
  static constexpr bool kSums = true;

  template <class F, class Number>
  static void step(const Number (&a)[1], Number (&b)[1], Number (&memory)[1]) {
    memory[0] = b[0] = F::tanh(a[0] + b[0]);
  }

  template <class F, class Number>
  static void adjoint(const Number (&)[1], const Number (&b)[1], const Number (&)[1], const Number (&by_after)[1],
                      Number (&by_a)[1], Number (&by_b)[1], Number (&by_before)[1]) {
    by_before[0] = F::zero();
    by_a[0] = by_b[0] = by_after[0] * (F::one() - b[0] * b[0]);
  }
};

struct ReluUnit {
  static constexpr std::string_view kName = "rnn-relu";
  static constexpr std::size_t kGates = 1, kKept = 1;
  static constexpr bool kSums = true;

  template <class F, class Number>
  static void step(const Number (&a)[1], Number (&b)[1], Number (&memory)[1]) {
    b[0] = a[0] + b[0];
    memory[0] = b[0] < F::zero() ? F::zero() : b[0];  // no number stays none
  }

  template <class F, class Number>
  static void adjoint(const Number (&)[1], const Number (&b)[1], const Number (&)[1], const Number (&by_after)[1],
                      Number (&by_a)[1], Number (&by_b)[1], Number (&by_before)[1]) {
    by_before[0] = F::zero();
    by_a[0] = by_b[0] = b[0] > F::zero() ? by_after[0] : F::zero();
  }
};

}  // namespace krohn
