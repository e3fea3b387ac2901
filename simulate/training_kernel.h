// simulate/training_kernel.h — the loops behind TrainingKernels, for vectors of kBytes. Included by one translation
// unit for every instruction set, and nothing else; it includes no library whose inline code those would compile anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulate/training_kernels.h"

namespace krohn {
namespace {

template <class Real, std::size_t kBytes>
struct VectorOf {
  typedef Real Type __attribute__((vector_size(kBytes)));
};
/// `kLanes` numbers, in one register where the instruction set has it.
template <class Real, std::size_t kLanes>
using Vector = typename VectorOf<Real, kLanes * sizeof(Real)>::Type;

template <class V, class Real>
inline V load(const Real* from) {
  V vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class V, class Real>
inline void store(Real* to, const V& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

// ── Products ────────────────────────────────────────────────────────────────────────────────────────────────────────

constexpr std::size_t kDepthBlock = 256;  ///< a packed panel of b stays in the first-level cache

/// A tile of kRows rows and two vectors; `panel` holds b's columns of the tile, two vectors for every k.
template <class Real, std::size_t kLanes, std::size_t kRows>
void add_tile(const Product<Real>& product, std::size_t row, std::size_t first, std::size_t depth, const Real* panel,
              Real* c, std::size_t c_row) {
  using V = Vector<Real, kLanes>;
  V low[kRows], high[kRows];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
    low[r] = load<V>(c + r * c_row);
    high[r] = load<V>(c + r * c_row + kLanes);
  }
  const Real* const a = product.a + row * product.a_row + first * product.a_depth;
  for (std::size_t k = 0; k < depth; ++k) {
    const V left = load<V>(panel + 2 * kLanes * k), right = load<V>(panel + 2 * kLanes * k + kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const Real by = a[r * product.a_row + k * product.a_depth];
      low[r] += by * left;
      high[r] += by * right;
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
    store(c + r * c_row, low[r]);
    store(c + r * c_row + kLanes, high[r]);
  }
}

/// b's columns from `column` on, `width` of them, the others 0.
template <class Real, std::size_t kColumns>
void pack(const Product<Real>& product, std::size_t first, std::size_t depth, std::size_t column, std::size_t width,
          Real* panel) {
  const Real* const b = product.b + first * product.b_row + column;
  if (width < kColumns) std::memset(panel, 0, depth * kColumns * sizeof(Real));
  for (std::size_t k = 0; k < depth; ++k)
    if (width == kColumns)
      std::memcpy(panel + k * kColumns, b + k * product.b_row, kColumns * sizeof(Real));
    else
      std::memcpy(panel + k * kColumns, b + k * product.b_row, width * sizeof(Real));
}

template <class Real, std::size_t kLanes, std::size_t kRows>
void add_product(const Product<Real>& product) {
  constexpr std::size_t kColumns = 2 * kLanes;
  Real panel[kDepthBlock * kColumns];
  for (std::size_t first = 0; first < product.depth; first += kDepthBlock) {
    const std::size_t depth = product.depth - first < kDepthBlock ? product.depth - first : kDepthBlock;
    for (std::size_t column = 0; column < product.columns; column += kColumns) {
      const std::size_t left = product.columns - column, width = left < kColumns ? left : kColumns;
      pack<Real, kColumns>(product, first, depth, column, width, panel);
      for (std::size_t row = 0; row < product.rows;) {
        const std::size_t rows = product.rows - row < kRows ? 1 : kRows;
        Real edge[kRows * kColumns];  // a tile that hangs over
        Real* const c = product.c + row * product.c_row + column;
        const bool whole = width == kColumns;
        if (!whole) {
          std::memset(edge, 0, sizeof edge);
          for (std::size_t r = 0; r < rows; ++r)
            std::memcpy(edge + r * kColumns, c + r * product.c_row, width * sizeof(Real));
        }
        Real* const tile = whole ? c : edge;
        const std::size_t tile_row = whole ? product.c_row : kColumns;
        if (rows == kRows)
          add_tile<Real, kLanes, kRows>(product, row, first, depth, panel, tile, tile_row);
        else
          add_tile<Real, kLanes, 1>(product, row, first, depth, panel, tile, tile_row);
        if (!whole)
          for (std::size_t r = 0; r < rows; ++r)
            std::memcpy(c + r * product.c_row, edge + r * kColumns, width * sizeof(Real));
        row += rows;
      }
    }
  }
}

// ── Reflections ─────────────────────────────────────────────────────────────────────────────────────────────────────

/// The sum of a vector's numbers, by halves.
template <class Real, std::size_t kLanes>
inline Real sum_of(const Vector<Real, kLanes>& vector) {
  if constexpr (kLanes == 2) {
    return vector[0] + vector[1];
  } else {
    using Half = Vector<Real, kLanes / 2>;
    Real numbers[kLanes];
    store(numbers, vector);
    return sum_of<Real, kLanes / 2>(load<Half>(numbers) + load<Half>(numbers + kLanes / 2));
  }
}

/// kValues numbers side by side, in registers; kValues is a power of two. Loops over them are unrolled, without which
/// compilers keep them in memory.
template <class Real, std::size_t kLanes, std::size_t kValues>
struct Row {
  static constexpr std::size_t kWidth = kValues < kLanes ? kValues : kLanes, kVectors = kValues / kWidth;
  using V = Vector<Real, kWidth>;
  V part[kVectors];

  static Row zero() {
    Row row;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) row.part[i] = V{};
    return row;
  }
  static Row from(const Real* numbers) {
    Row row;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) row.part[i] = load<V>(numbers + i * kWidth);
    return row;
  }
  void to(Real* numbers) const {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) store(numbers + i * kWidth, part[i]);
  }
  void add(Real factor, const Row& other) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) part[i] += factor * other.part[i];
  }
  void add(const Row& factor, const Row& other) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) part[i] += factor.part[i] * other.part[i];
  }
  Real sum() const {
    V all = part[0];
#pragma GCC unroll 16
    for (std::size_t i = 1; i < kVectors; ++i) all += part[i];
    return sum_of<Real, kWidth>(all);
  }
};

template <class Real, std::size_t kLanes, std::size_t kValues>
void reflect_fixed(const Reflections<Real>& run) {
  using R = Row<Real, kLanes, kValues>;
  const std::size_t last = run.tokens * run.reflections;
  const auto key = [&](std::size_t step) {
    return run.k + run.source[step / run.reflections] * run.k_row + step % run.reflections * run.keys;
  };
  R read = R::zero();  // Sᵀk of the step to come
  if (last > 0)
    for (std::size_t i = 0; i < run.keys; ++i) read.add(key(0)[i], R::from(run.state + i * kValues));
  for (std::size_t t = 0, step = 0; t < run.tokens; ++t)
    for (std::size_t j = 0; j < run.reflections; ++j, ++step) {
      const std::size_t source = run.source[t];
      R lack = R::from(run.v + source * run.v_row + j * kValues);
      lack.add(Real{-1}, read);
      lack.to(run.lacks + t * run.lacks_row + j * kValues);
      R change = R::zero();
      change.add(run.beta[source * run.beta_row + j], lack);
      const Real *const k = key(step), *const next = step + 1 < last ? key(step + 1) : k;
      read = R::zero();
      if (j + 1 < run.reflections) {
        for (std::size_t i = 0; i < run.keys; ++i) {
          R row = R::from(run.state + i * kValues);
          row.add(k[i], change);
          row.to(run.state + i * kValues);
          read.add(next[i], row);
        }
        continue;
      }
      const Real* const q = run.q + source * run.q_row;
      R o = R::zero();
      for (std::size_t i = 0; i < run.keys; ++i) {
        R row = R::from(run.state + i * kValues);
        row.add(k[i], change);
        row.to(run.state + i * kValues);
        read.add(next[i], row);
        o.add(q[i], row);
      }
      o.to(run.o + t * run.o_row);
    }
}

template <class Real, std::size_t kLanes, std::size_t kValues>
void reflect_adjoint_fixed(const Reflections<Real>& run, const ReflectionsAdjoint<Real>& adjoint) {
  using R = Row<Real, kLanes, kValues>;
  for (std::size_t t = run.tokens; t-- > 0;) {
    const std::size_t source = run.source[t];
    const Real* const q = run.q + source * run.q_row;
    Real* const by_q = adjoint.by_q + source * run.q_row;
    const R by_o = R::from(adjoint.by_o + t * run.o_row);
    const Real* k = run.k + source * run.k_row + (run.reflections - 1) * run.keys;
    R by_change = R::zero();
    for (std::size_t i = 0; i < run.keys; ++i) {
      R product = R::zero();
      product.add(R::from(run.state + i * kValues), by_o);
      by_q[i] += product.sum();
      R by_row = R::from(adjoint.by_state + i * kValues);
      by_row.add(q[i], by_o);
      by_row.to(adjoint.by_state + i * kValues);
      by_change.add(k[i], by_row);
    }
    for (std::size_t j = run.reflections; j-- > 0;) {
      const Real beta = run.beta[source * run.beta_row + j];
      const R lack = R::from(run.lacks + t * run.lacks_row + j * kValues);
      R product = R::zero();
      product.add(lack, by_change);
      adjoint.by_beta[source * run.beta_row + j] += product.sum();
      Real* const by_v_at = adjoint.by_v + source * run.v_row + j * kValues;
      R by_v = R::from(by_v_at);
      by_v.add(beta, by_change);
      by_v.to(by_v_at);
      R change = R::zero(), by_read = R::zero();
      change.add(beta, lack);
      by_read.add(-beta, by_change);
      Real* const by_k = adjoint.by_k + source * run.k_row + j * run.keys;
      const Real* const before = j > 0 ? k - run.keys : k;
      by_change = R::zero();
      for (std::size_t i = 0; i < run.keys; ++i) {
        R row = R::from(run.state + i * kValues), by_row = R::from(adjoint.by_state + i * kValues);
        row.add(-k[i], change);  // the state before this reflection
        row.to(run.state + i * kValues);
        R by_key = R::zero();
        by_key.add(by_row, change);
        by_key.add(row, by_read);
        by_k[i] += by_key.sum();
        by_row.add(k[i], by_read);
        by_row.to(adjoint.by_state + i * kValues);
        by_change.add(before[i], by_row);
      }
      k = before;
    }
  }
}

/// Any number of values: what the fixed widths are compared with.
template <class Real>
void reflect_any(const Reflections<Real>& run) {
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const std::size_t source = run.source[t];
    for (std::size_t j = 0; j < run.reflections; ++j) {
      const Real* const k = run.k + source * run.k_row + j * run.keys;
      const Real beta = run.beta[source * run.beta_row + j];
      for (std::size_t c = 0; c < run.values; ++c) {
        Real sum = 0;
        for (std::size_t i = 0; i < run.keys; ++i) sum += k[i] * run.state[i * run.values + c];
        const Real lack = run.v[source * run.v_row + j * run.values + c] - sum;
        run.lacks[t * run.lacks_row + j * run.values + c] = lack;
        for (std::size_t i = 0; i < run.keys; ++i) run.state[i * run.values + c] += k[i] * (beta * lack);
      }
    }
    for (std::size_t c = 0; c < run.values; ++c) {
      Real sum = 0;
      for (std::size_t i = 0; i < run.keys; ++i) sum += run.q[source * run.q_row + i] * run.state[i * run.values + c];
      run.o[t * run.o_row + c] = sum;
    }
  }
}

template <class Real>
void reflect_adjoint_any(const Reflections<Real>& run, const ReflectionsAdjoint<Real>& adjoint) {
  for (std::size_t t = run.tokens; t-- > 0;) {
    const std::size_t source = run.source[t];
    const Real* const by_o = adjoint.by_o + t * run.o_row;
    for (std::size_t i = 0; i < run.keys; ++i)
      for (std::size_t c = 0; c < run.values; ++c) {
        adjoint.by_q[source * run.q_row + i] += run.state[i * run.values + c] * by_o[c];
        adjoint.by_state[i * run.values + c] += run.q[source * run.q_row + i] * by_o[c];
      }
    for (std::size_t j = run.reflections; j-- > 0;) {
      const Real* const k = run.k + source * run.k_row + j * run.keys;
      Real* const by_k = adjoint.by_k + source * run.k_row + j * run.keys;
      const Real beta = run.beta[source * run.beta_row + j];
      for (std::size_t c = 0; c < run.values; ++c) {
        const Real lack = run.lacks[t * run.lacks_row + j * run.values + c];
        Real by_change = 0;
        for (std::size_t i = 0; i < run.keys; ++i) by_change += k[i] * adjoint.by_state[i * run.values + c];
        adjoint.by_beta[source * run.beta_row + j] += lack * by_change;
        adjoint.by_v[source * run.v_row + j * run.values + c] += beta * by_change;
        for (std::size_t i = 0; i < run.keys; ++i) {
          Real &number = run.state[i * run.values + c], &by_number = adjoint.by_state[i * run.values + c];
          number -= k[i] * (beta * lack);
          by_k[i] += by_number * (beta * lack) - number * (beta * by_change);
          by_number -= k[i] * (beta * by_change);
        }
      }
    }
  }
}

template <class Real, std::size_t kLanes>
void reflect(const Reflections<Real>& run) {
  switch (run.values) {
    case 8:
      return reflect_fixed<Real, kLanes, 8>(run);
    case 16:
      return reflect_fixed<Real, kLanes, 16>(run);
    case 32:
      return reflect_fixed<Real, kLanes, 32>(run);
    case 64:
      return reflect_fixed<Real, kLanes, 64>(run);
    default:
      return reflect_any(run);
  }
}

template <class Real, std::size_t kLanes>
void reflect_adjoint(const Reflections<Real>& run, const ReflectionsAdjoint<Real>& adjoint) {
  switch (run.values) {
    case 8:
      return reflect_adjoint_fixed<Real, kLanes, 8>(run, adjoint);
    case 16:
      return reflect_adjoint_fixed<Real, kLanes, 16>(run, adjoint);
    case 32:
      return reflect_adjoint_fixed<Real, kLanes, 32>(run, adjoint);
    case 64:
      return reflect_adjoint_fixed<Real, kLanes, 64>(run, adjoint);
    default:
      return reflect_adjoint_any(run, adjoint);
  }
}

// ── Diagonals ───────────────────────────────────────────────────────────────────────────────────────────────────────

template <class Real>
void scan_diagonal(const Diagonal<Real>& run) {
  const std::size_t channels = run.channels;
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const std::size_t source = run.source[t];
    if (run.history != nullptr)
      std::memcpy(run.history + t * run.states * channels, run.state, run.states * channels * sizeof(Real));
    const Real* const u = run.u + source * run.u_row;
    Real* const y = run.y + t * run.y_row;
    std::memset(y, 0, channels * sizeof(Real));
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

// ── Blocks ──────────────────────────────────────────────────────────────────────────────────────────────────────────

template <class Real>
void scan_blocks(const Blocks<Real>& run) {
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
void scan_blocks_adjoint(const Blocks<Real>& run, const BlocksAdjoint<Real>& adjoint) {
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

template <class Real, std::size_t kLanes, std::size_t kRows>
TrainingKernels<Real> kernels() {
  return {
      &add_product<Real, kLanes, kRows>, &reflect<Real, kLanes>, &reflect_adjoint<Real, kLanes>, &scan_diagonal<Real>,
      &scan_diagonal_adjoint<Real>,      &scan_blocks<Real>,     &scan_blocks_adjoint<Real>};
}

}  // namespace
}  // namespace krohn
