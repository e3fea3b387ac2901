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
}  // namespace krohn
