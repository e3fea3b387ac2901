// simulate/models/cells/cell_units.h — the units of cells, as kernels read them: RNN, GRU, LSTM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krohn {

// The gated recurrent unit (Cho et al. 2014) as torch.nn.GRU has it, its gates in
// the order r, z, n, a of the input and b of the state:
//
//   r = σ(a₀ + b₀)   z = σ(a₁ + b₁)   n = tanh(a₂ + b₂ r)   h ← (h − n) z + n
//
// The last line is how PyTorch computes (1 − z) n + z h; the two round differently.

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

// Long short-term memory (Hochreiter & Schmidhuber 1997, with Gers's forget gate)
// as torch.nn.LSTM has it, its gates in the order i, f, g, o; u = a + b, a of the input and b of the state:
//
//   c ← σ(u₁) c + σ(u₀) tanh(u₂)   h ← σ(u₃) tanh(c)

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

// Elman's cell (1990) as torch.nn.RNN has it: h ← tanh(a + b), or relu(a + b), a of
// the input and b of the state.

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

enum class CellKind : std::uint8_t { kTanh, kRelu, kGru, kLstm };

/// body(the kind's unit).
template <class Body>
void with_unit(CellKind kind, const Body& body) {
  switch (kind) {
    case CellKind::kTanh:
      return body(TanhUnit{});
    case CellKind::kRelu:
      return body(ReluUnit{});
    case CellKind::kGru:
      return body(GruUnit{});
    case CellKind::kLstm:
      return body(LstmUnit{});
  }
}

}  // namespace krohn
