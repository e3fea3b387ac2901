// simulate/models/kernels/training_scans.h — the loops of diagonal and block-diagonal recurrences, for vectors of
// kLanes. Included by the translation unit of every instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_vectors.h"

namespace krohn {
namespace {

/// One token of complex states.
template <class Real>
void step_complex(const Diagonal<Real>& run, std::size_t source, Real* y) {
  const std::size_t channels = run.channels;
  const Real* const u = run.u + source * run.u_row;
  for (std::size_t i = 0; i < run.states; ++i) {
    const Real *const a = run.a + source * run.a_row + 2 * i * channels, *const turn = a + channels;
    const Real k = run.k[source * run.k_row + i];
    const Real q = run.q[source * run.q_row + 2 * i], q_turned = run.q[source * run.q_row + 2 * i + 1];
    Real *const h = run.state + 2 * i * channels, *const turned = h + channels;
#pragma omp simd
    for (std::size_t c = 0; c < channels; ++c) {
      const Real real = a[c] * h[c] - turn[c] * turned[c] + k * u[c], imaginary = a[c] * turned[c] + turn[c] * h[c];
      h[c] = real;
      turned[c] = imaginary;
      y[c] += q * real + q_turned * imaginary;
    }
  }
}

template <class Real>
void step_complex_adjoint(const Diagonal<Real>& run, std::size_t t, const DiagonalAdjoint<Real>& adjoint) {
  const std::size_t channels = run.channels, source = run.source[t];
  const Real* const u = run.u + source * run.u_row;
  const Real* const by_y = adjoint.by_y + t * run.y_row;
  Real* const by_u = adjoint.by_u + source * run.u_row;
  for (std::size_t i = 0; i < run.states; ++i) {
    const std::size_t row = 2 * i * channels;
    const Real *const a = run.a + source * run.a_row + row, *const turn = a + channels;
    const Real k = run.k[source * run.k_row + i];
    const Real q = run.q[source * run.q_row + 2 * i], q_turned = run.q[source * run.q_row + 2 * i + 1];
    const Real *const before = run.history + 2 * t * run.states * channels + row, *const turned = before + channels;
    Real *const by_h = adjoint.by_state + row, *const by_turned = by_h + channels;
    Real *const by_a = adjoint.by_a + source * run.a_row + row, *const by_turn = by_a + channels;
    Real by_q = 0, by_q_turned = 0, by_k = 0;
#pragma omp simd reduction(+ : by_q, by_q_turned, by_k)
    for (std::size_t c = 0; c < channels; ++c) {
      const Real real = a[c] * before[c] - turn[c] * turned[c] + k * u[c],
                 imaginary = a[c] * turned[c] + turn[c] * before[c];
      const Real by = by_h[c] + q * by_y[c], by_i = by_turned[c] + q_turned * by_y[c];
      by_q += real * by_y[c];
      by_q_turned += imaginary * by_y[c];
      by_k += by * u[c];
      by_u[c] += k * by;
      by_a[c] += by * before[c] + by_i * turned[c];
      by_turn[c] += by_i * before[c] - by * turned[c];
      by_h[c] = a[c] * by + turn[c] * by_i;
      by_turned[c] = a[c] * by_i - turn[c] * by;
    }
    adjoint.by_q[source * run.q_row + 2 * i] += by_q;
    adjoint.by_q[source * run.q_row + 2 * i + 1] += by_q_turned;
    adjoint.by_k[source * run.k_row + i] += by_k;
  }
}

template <class Real>
void scan_diagonal(const Diagonal<Real>& run) {
  const std::size_t channels = run.channels, numbers = (run.complex ? 2 : 1) * run.states * channels;
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const std::size_t source = run.source[t];
    if (run.history != nullptr) std::memcpy(run.history + t * numbers, run.state, numbers * sizeof(Real));
    const Real* const u = run.u + source * run.u_row;
    Real* const y = run.y + t * run.y_row;
    std::memset(y, 0, channels * sizeof(Real));
    if (run.complex) {
      step_complex(run, source, y);
      continue;
    }
    for (std::size_t i = 0; i < run.states; ++i) {
      const Real* const a = run.a + source * run.a_row + i * channels;
      const Real k = run.k[source * run.k_row + i], q = run.q[source * run.q_row + i];
      Real* const h = run.state + i * channels;
#pragma omp simd
      for (std::size_t c = 0; c < channels; ++c) {
        h[c] = a[c] * h[c] + k * u[c];
        y[c] += q * h[c];
      }
    }
  }
}

template <class Real>
void scan_diagonal_adjoint(const Diagonal<Real>& run, const DiagonalAdjoint<Real>& adjoint) {
  const std::size_t channels = run.channels;
  for (std::size_t t = run.tokens; t-- > 0;) {
    if (run.complex) {
      step_complex_adjoint(run, t, adjoint);
      continue;
    }
    const std::size_t source = run.source[t];
    const Real* const u = run.u + source * run.u_row;
    const Real* const by_y = adjoint.by_y + t * run.y_row;
    Real* const by_u = adjoint.by_u + source * run.u_row;
    for (std::size_t i = 0; i < run.states; ++i) {
      const Real* const a = run.a + source * run.a_row + i * channels;
      const Real k = run.k[source * run.k_row + i], q = run.q[source * run.q_row + i];
      const Real* const before = run.history + (t * run.states + i) * channels;
      Real* const by_h = adjoint.by_state + i * channels;
      Real* const by_a = adjoint.by_a + source * run.a_row + i * channels;
      Real by_q = 0, by_k = 0;
#pragma omp simd reduction(+ : by_q, by_k)
      for (std::size_t c = 0; c < channels; ++c) {
        const Real after = a[c] * before[c] + k * u[c], by = by_h[c] + q * by_y[c];
        by_q += after * by_y[c];
        by_k += by * u[c];
        by_u[c] += k * by;
        by_a[c] += by * before[c];
        by_h[c] = a[c] * by;
      }
      adjoint.by_q[source * run.q_row + i] += by_q;
      adjoint.by_k[source * run.k_row + i] += by_k;
    }
  }
}

template <class Real>
void scan_blocks(const BlockScan<Real>& run) {
  const std::size_t size = run.size, hidden = run.blocks * size;
  const Real* from = run.start;
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const Real* a = run.a + run.source[t] * hidden * size;
    Real* const to = run.x + t * hidden;
    std::memcpy(to, run.u + run.source[t] * hidden, hidden * sizeof(Real));
    for (std::size_t first = 0; first < hidden; first += size)
      for (std::size_t column = 0; column < size; ++column, a += size) {
        const Real by = from[first + column];
#pragma omp simd
        for (std::size_t row = 0; row < size; ++row) to[first + row] += a[row] * by;
      }
    from = to;
  }
}

template <class Real>
void scan_blocks_adjoint(const BlockScan<Real>& run, const BlockScanAdjoint<Real>& adjoint) {
  const std::size_t size = run.size, hidden = run.blocks * size;
  for (std::size_t t = run.tokens; t-- > 0;) {
    const Real* a = run.a + run.source[t] * hidden * size;
    Real* by_a = adjoint.by_a + run.source[t] * hidden * size;
    const Real* const from = t == 0 ? run.start : run.x + (t - 1) * hidden;
    Real* const by_from = t == 0 ? adjoint.by_start : adjoint.by_x + (t - 1) * hidden;
    const Real* const by_to = adjoint.by_x + t * hidden;
    Real* const by_u = adjoint.by_u + run.source[t] * hidden;
    for (std::size_t i = 0; i < hidden; ++i) by_u[i] += by_to[i];
    for (std::size_t first = 0; first < hidden; first += size)
      for (std::size_t column = 0; column < size; ++column, a += size, by_a += size) {
        const Real x = from[first + column];
        Real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t row = 0; row < size; ++row) {
          by_a[row] += by_to[first + row] * x;
          sum += by_to[first + row] * a[row];
        }
        by_from[first + column] += sum;
      }
  }
}

}  // namespace

// Mamba's recurrence with its eigenvalues made on the way, which are as many numbers as the states and would be read
// from memory otherwise. Included by the translation unit of every instruction set, and nothing else.

namespace {

template <class Real, std::size_t kLanes, bool kSigned>
Vector<Real, kLanes> eigenvalues(const Vector<Real, kLanes>& powers) {
  if constexpr (kSigned) return powers + powers - Real{1};
  return powers;
}

template <class Real>
std::size_t row_of(const SelectiveScan<Real>& run, std::size_t token) {
  return run.source == nullptr ? token : run.source[token];
}

template <class Real, std::size_t kLanes, bool kSigned>
void scan_word(const SelectiveScan<Real>& run) {
  using V = Vector<Real, kLanes>;
  const std::size_t states = run.states, channels = run.channels;
  const Real* before = run.start;
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const std::size_t row = row_of(run, t);
    const Real *const delta = run.delta + row * channels, *const u = run.u + row * channels;
    const Real *const b = run.b + row * run.narrow_row, *const q = run.q + row * run.narrow_row;
    Real* const after = run.after + t * run.after_row;
    for (std::size_t c = 0; c < channels; c += kLanes) {
      const std::size_t count = channels - c < kLanes ? channels - c : kLanes;
      const V step = load_some<V>(delta + c, count), in = load_some<V>(u + c, count);
      V y{};
      for (std::size_t n = 0, at = c; n < states; ++n, at += channels) {
        V h = in * b[n];
        if (before != nullptr)
          h += eigenvalues<Real, kLanes, kSigned>(
                   exponential<Real, kLanes>(step * load_some<V>(run.rates + at, count))) *
               load_some<V>(before + at, count);
        store_some(after + at, h, count);
        y += h * q[n];
      }
      store_some(run.y + t * channels + c, y, count);
    }
    before = after;
  }
}

/// States whose sums over all channels are taken at once.
inline constexpr std::size_t kScanStates = 8;

/// One token of states from `first` on, at most kScanStates of them.
template <class Real, std::size_t kLanes, bool kSigned>
void scan_token_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint, std::size_t t,
                        std::size_t first) {
  using V = Vector<Real, kLanes>;
  const std::size_t states = run.states, channels = run.channels, row = row_of(run, t);
  const std::size_t some = states - first < kScanStates ? states - first : kScanStates;
  const std::size_t narrow = row * run.narrow_row + first;
  const Real *const b = run.b + narrow, *const q = run.q + narrow;
  const Real *const after = run.after + t * run.after_row, *const before = after - run.after_row;
  V by_b[kScanStates] = {}, by_q[kScanStates] = {};
  for (std::size_t c = 0; c < channels; c += kLanes) {
    const std::size_t count = channels - c < kLanes ? channels - c : kLanes, wide = row * channels + c;
    const V step = load_some<V>(run.delta + wide, count), in = load_some<V>(run.u + wide, count),
            by = load_some<V>(adjoint.by_y + t * channels + c, count);
    Real *const by_delta = adjoint.by_delta + wide, *const by_u = adjoint.by_u + wide;
    V by_step = load_some<V>(by_delta, count), by_in = load_some<V>(by_u, count);
    for (std::size_t n = 0, at = first * channels + c; n < some; ++n, at += channels) {
      Real* const by_state = adjoint.scratch + at;  // of the token that comes after
      const V by_h = load_some<V>(by_state, count) + by * q[n];
      by_b[n] += by_h * in;
      by_q[n] += load_some<V>(after + at, count) * by;
      by_in += by_h * b[n];
      if (t == 0) continue;  // there is no state before
      const V rate = load_some<V>(run.rates + at, count), power = exponential<Real, kLanes>(step * rate);
      const V by_log = by_h * load_some<V>(before + at, count) * (kSigned ? power + power : power);
      by_step += by_log * rate;
      Real* const by_rate = adjoint.by_rates + at;
      store_some(by_rate, load_some<V>(by_rate, count) + by_log * step, count);
      store_some(by_state, by_h * eigenvalues<Real, kLanes, kSigned>(power), count);
    }
    store_some(by_delta, by_step, count);
    store_some(by_u, by_in, count);
  }
  add_sums<Real, kLanes>(by_b, adjoint.by_b + narrow, some);
  add_sums<Real, kLanes>(by_q, adjoint.by_q + narrow, some);
}

template <class Real, std::size_t kLanes, bool kSigned>
void scan_word_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint) {
  std::memset(adjoint.scratch, 0, run.states * run.channels * sizeof(Real));
  for (std::size_t t = run.tokens; t-- > 0;)
    for (std::size_t first = 0; first < run.states; first += kScanStates)
      scan_token_adjoint<Real, kLanes, kSigned>(run, adjoint, t, first);
}

template <class Real, std::size_t kLanes>
void scan_selectively(const SelectiveScan<Real>& run) {
  run.is_signed ? scan_word<Real, kLanes, true>(run) : scan_word<Real, kLanes, false>(run);
}

template <class Real, std::size_t kLanes>
void scan_selectively_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint) {
  run.is_signed ? scan_word_adjoint<Real, kLanes, true>(run, adjoint)
                : scan_word_adjoint<Real, kLanes, false>(run, adjoint);
}

}  // namespace

}  // namespace krohn
