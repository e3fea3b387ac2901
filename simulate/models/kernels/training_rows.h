// simulate/models/kernels/training_rows.h — norms and activations, row by row (simulate/models/token_layers.h has their
// formulas). Included by the translation unit of every instruction set, and nothing else.
#pragma once

#include <limits>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_tiles.h"

namespace krohn {
namespace {

/// body(first, count) for whole vectors, and for what is left of the last.
template <std::size_t kLanes, class Body>
inline void by_vectors(std::size_t count, const Body& body) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(i, kLanes);
  if (i < count) body(i, count - i);
}

/// Calls body(Extent<lanes>) with vectors of half the size where rows fill no more, so that what is left of a vector is
/// no rule.
template <std::size_t kLanes, class Body>
inline void with_lanes(std::size_t width, const Body& body) {
  if constexpr (kLanes > 4) {
    if (2 * width <= kLanes) return with_lanes<kLanes / 2>(width, body);
  }
  body(Extent<kLanes>{});
}

/// Σ x y.
template <class Real, std::size_t kLanes>
inline Real dot(const Real* x, const Real* y, std::size_t width) {
  using V = Vector<Real, kLanes>;
  V sum{};
  by_vectors<kLanes>(width,
                     [&](std::size_t i, std::size_t n) { sum += load_some<V>(x + i, n) * load_some<V>(y + i, n); });
  return sum_of<Real, kLanes>(sum);
}

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

/// Copies `count` numbers to `width`, the others 0, with the sum of their squares; where that overflows, they are
/// divided by the greatest first.
template <class Real, std::size_t kLanes>
inline Real rms_scale(Real squares, const Real* x, std::size_t count, std::size_t width) {
  constexpr Real kMax = std::numeric_limits<Real>::max();
  if (squares <= kMax) return 1 / square_root(squares / static_cast<Real>(width) + Real(1e-5));
  Real greatest = 0, sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Real size = x[i] < 0 ? -x[i] : x[i];
    if (size > greatest) greatest = size;
  }
  for (std::size_t i = 0; i < count; ++i) sum += x[i] / greatest * (x[i] / greatest);
  return 1 / square_root(sum / static_cast<Real>(width)) / greatest;
}
template <class Real, std::size_t kLanes>
inline Real rms_scale(const Real* x, std::size_t width) {
  return rms_scale<Real, kLanes>(dot<Real, kLanes>(x, x, width), x, width, width);
}

template <class Real, std::size_t kLanes>
void rms_scales(const Rows<Real>& rows, Real* scale) {
  for (std::size_t row = 0; row < rows.count; ++row)
    scale[row] = rms_scale<Real, kLanes>(rows.x + row * rows.width, rows.width);
}

template <class Real, std::size_t kLanes>
void rms_scales_adjoint(const Rows<Real>& rows, const Real* scale, const Real* by_scale, Real* by_x) {
  using V = Vector<Real, kLanes>;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real along = by_scale[row] * scale[row] * scale[row] * scale[row] / static_cast<Real>(rows.width);
    const Real* const x = rows.x + row * rows.width;
    Real* const to = by_x + row * rows.width;
    by_vectors<kLanes>(rows.width, [&](std::size_t i, std::size_t n) {
      store_some(to + i, load_some<V>(to + i, n) - along * load_some<V>(x + i, n), n);
    });
  }
}

template <class Real, std::size_t kLanes>
void rms_norm_rows(const Rows<Real>& rows, const Real* gain, Real* y) {
  using V = Vector<Real, kLanes>;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const x = rows.x + row * rows.width;
    Real* const to = y + row * rows.width;
    const Real scale = rms_scale<Real, kLanes>(x, rows.width);
    by_vectors<kLanes>(rows.width, [&](std::size_t i, std::size_t n) {
      store_some(to + i, load_some<V>(x + i, n) * load_some<V>(gain + i, n) * scale, n);
    });
  }
}

template <class Real, std::size_t kLanes>
void rms_norm(const Rows<Real>& rows, const Real* gain, Real* y) {
  with_lanes<kLanes>(rows.width, [&](auto lanes) { rms_norm_rows<Real, decltype(lanes)::count>(rows, gain, y); });
}

template <class Real, std::size_t kLanes>
void rms_norm_adjoint_rows(const Rows<Real>& rows, const Real* gain, const Real* by_y, Real* by_x, Real* by_gain) {
  using V = Vector<Real, kLanes>;
  constexpr std::size_t kGroup = 4;  // rows whose share of by_gain is summed in registers
  const Real width = static_cast<Real>(rows.width);
  for (std::size_t begin = 0; begin < rows.count; begin += kGroup) {
    const std::size_t count = rows.count - begin < kGroup ? rows.count - begin : kGroup;
    Real scale[kGroup], along[kGroup];
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t first = (begin + r) * rows.width;
      V squares{}, along_x{};
      by_vectors<kLanes>(rows.width, [&](std::size_t i, std::size_t n) {
        const V own = load_some<V>(rows.x + first + i, n);
        squares += own * own;
        along_x += own * load_some<V>(by_y + first + i, n) * load_some<V>(gain + i, n);
      });
      scale[r] = 1 / square_root(sum_of<Real, kLanes>(squares) / width + Real(1e-5));
      along[r] = sum_of<Real, kLanes>(along_x) / width * scale[r] * scale[r] * scale[r];
    }
    by_vectors<kLanes>(rows.width, [&](std::size_t i, std::size_t n) {
      const V own_gain = load_some<V>(gain + i, n);
      V sum = load_some<V>(by_gain + i, n);
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t at = (begin + r) * rows.width + i;
        const V own = load_some<V>(rows.x + at, n), scaled = load_some<V>(by_y + at, n) * scale[r];
        store_some(by_x + at, load_some<V>(by_x + at, n) + scaled * own_gain - own * along[r], n);
        sum += scaled * own;
      }
      store_some(by_gain + i, sum, n);
    });
  }
}

template <class Real, std::size_t kLanes>
void rms_norm_adjoint(const Rows<Real>& rows, const Real* gain, const Real* by_y, Real* by_x, Real* by_gain) {
  with_lanes<kLanes>(rows.width, [&](auto lanes) {
    rms_norm_adjoint_rows<Real, decltype(lanes)::count>(rows, gain, by_y, by_x, by_gain);
  });
}

template <class Real, std::size_t kLanes>
inline Real unit_scale(const Real* x, std::size_t width) {
  return 1 / square_root(dot<Real, kLanes>(x, x, width) + Real(1e-6));
}

template <class Real, std::size_t kLanes>
void unit_norm_rows(const Rows<Real>& rows, Real* y) {
  using V = Vector<Real, kLanes>;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const x = rows.x + row * rows.width;
    Real* const to = y + row * rows.width;
    const Real scale = unit_scale<Real, kLanes>(x, rows.width);
    by_vectors<kLanes>(rows.width,
                       [&](std::size_t i, std::size_t n) { store_some(to + i, load_some<V>(x + i, n) * scale, n); });
  }
}

template <class Real, std::size_t kLanes>
void unit_norm(const Rows<Real>& rows, Real* y) {
  with_lanes<kLanes>(rows.width, [&](auto lanes) { unit_norm_rows<Real, decltype(lanes)::count>(rows, y); });
}

template <class Real, std::size_t kLanes>
void unit_norm_adjoint_rows(const Rows<Real>& rows, const Real* by_y, Real* by_x) {
  using V = Vector<Real, kLanes>;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const std::size_t first = row * rows.width;
    const Real *const x = rows.x + first, *const by = by_y + first;
    Real* const to = by_x + first;
    const Real scale = unit_scale<Real, kLanes>(x, rows.width);
    const Real along = dot<Real, kLanes>(by, x, rows.width) * scale * scale * scale;
    by_vectors<kLanes>(rows.width, [&](std::size_t i, std::size_t n) {
      store_some(to + i, load_some<V>(to + i, n) + load_some<V>(by + i, n) * scale - load_some<V>(x + i, n) * along, n);
    });
  }
}

template <class Real, std::size_t kLanes>
void unit_norm_adjoint(const Rows<Real>& rows, const Real* by_y, Real* by_x) {
  with_lanes<kLanes>(rows.width,
                     [&](auto lanes) { unit_norm_adjoint_rows<Real, decltype(lanes)::count>(rows, by_y, by_x); });
}

template <class Real, std::size_t kLanes>
void silu(const Real* x, std::size_t count, Real* y) {
  using V = Vector<Real, kLanes>;
  by_vectors<kLanes>(count, [&](std::size_t i, std::size_t n) {
    const V own = load_some<V>(x + i, n);
    store_some(y + i, own * logistic<Real, kLanes>(own), n);
  });
}

template <class Real, std::size_t kLanes>
void silu_adjoint(const Real* x, std::size_t count, const Real* by_y, Real* by_x) {
  using V = Vector<Real, kLanes>;
  by_vectors<kLanes>(count, [&](std::size_t i, std::size_t n) {
    const V own = load_some<V>(x + i, n), s = logistic<Real, kLanes>(own);
    const V slope = s * (Real{1} + own * (Real{1} - s));
    store_some(by_x + i, load_some<V>(by_x + i, n) + load_some<V>(by_y + i, n) * slope, n);
  });
}

template <class Real, std::size_t kLanes>
void softplus(const Real* x, std::size_t count, Real* y) {
  using V = Vector<Real, kLanes>;
  by_vectors<kLanes>(count, [&](std::size_t i, std::size_t n) {
    store_some(y + i, softplus_of<Real, kLanes>(load_some<V>(x + i, n)), n);
  });
}

template <class Real, std::size_t kLanes>
void softplus_adjoint(const Real* x, std::size_t count, const Real* by_y, Real* by_x) {
  using V = Vector<Real, kLanes>;
  by_vectors<kLanes>(count, [&](std::size_t i, std::size_t n) {
    const V slope = logistic<Real, kLanes>(load_some<V>(x + i, n));
    store_some(by_x + i, load_some<V>(by_x + i, n) + load_some<V>(by_y + i, n) * slope, n);
  });
}

template <class Real, std::size_t kLanes>
void gate(const Rows<Real>& rows, Real* y) {
  using V = Vector<Real, kLanes>;
  const std::size_t half = rows.width / 2;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const x = rows.x + row * rows.width;
    Real* const to = y + row * half;
    by_vectors<kLanes>(half, [&](std::size_t i, std::size_t n) {
      const V left = load_some<V>(x + i, n);
      store_some(to + i, left * logistic<Real, kLanes>(left) * load_some<V>(x + half + i, n), n);
    });
  }
}

template <class Real, std::size_t kLanes>
void gate_adjoint(const Rows<Real>& rows, const Real* by_y, Real* by_x) {
  using V = Vector<Real, kLanes>;
  const std::size_t half = rows.width / 2;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real *const x = rows.x + row * rows.width, *const by = by_y + row * half;
    Real* const to = by_x + row * rows.width;
    by_vectors<kLanes>(half, [&](std::size_t i, std::size_t n) {
      const V left = load_some<V>(x + i, n), right = load_some<V>(x + half + i, n), own = load_some<V>(by + i, n);
      const V s = logistic<Real, kLanes>(left), through = own * s;
      store_some(to + i, load_some<V>(to + i, n) + through * right * (Real{1} + left * (Real{1} - s)), n);
      store_some(to + half + i, load_some<V>(to + half + i, n) + through * left, n);
    });
  }
}

template <class Real, std::size_t kLanes>
void scaled_gate(const Rows<Real>& rows, const Real* scale, Real* logistics, Real* y) {
  using V = Vector<Real, kLanes>;
  const std::size_t half = rows.width / 2;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const x = rows.x + row * rows.width;
    const std::size_t first = row * half;
    by_vectors<kLanes>(half, [&](std::size_t i, std::size_t n) {
      const V left = load_some<V>(x + i, n) * scale[row], right = load_some<V>(x + half + i, n) * scale[row];
      const V s = logistic<Real, kLanes>(left);
      store_some(logistics + first + i, s, n);
      store_some(y + first + i, left * s * right, n);
    });
  }
}

template <class Real, std::size_t kLanes>
void scaled_gate_adjoint(const Rows<Real>& rows, const Real* scale, const Real* logistics, const Real* by_y, Real* by_x,
                         Real* by_scale) {
  using V = Vector<Real, kLanes>;
  const std::size_t half = rows.width / 2;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const x = rows.x + row * rows.width;
    const std::size_t first = row * half;
    Real* const to = by_x + row * rows.width;
    V along{};
    by_vectors<kLanes>(half, [&](std::size_t i, std::size_t n) {
      const V raw_left = load_some<V>(x + i, n), raw_right = load_some<V>(x + half + i, n);
      const V left = raw_left * scale[row], right = raw_right * scale[row];
      const V s = load_some<V>(logistics + first + i, n), through = load_some<V>(by_y + first + i, n) * s;
      const V by_left = through * right * (Real{1} + left * (Real{1} - s)), by_right = through * left;
      along += by_left * raw_left + by_right * raw_right;
      store_some(to + i, by_left * scale[row], n);
      store_some(to + half + i, by_right * scale[row], n);
    });
    by_scale[row] = sum_of<Real, kLanes>(along);
  }
}

template <class Real, std::size_t kLanes>
double squares(const Real* x, std::size_t count) {
  constexpr std::size_t kHalf = kLanes / 2,
                        kSums = 4;  // doubles of a register, and sums that do not wait for each other
  using Half = Vector<Real, kHalf>;
  using Doubles = Vector<double, kHalf>;
  Doubles sums[kSums] = {};
  const auto add = [&](Doubles& sum, const Half& half) {
    const Doubles own = __builtin_convertvector(half, Doubles);
    sum += own * own;
  };
  std::size_t i = 0;
  for (; i + kSums * kHalf <= count; i += kSums * kHalf)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kSums; ++j) add(sums[j], load<Half>(x + i + j * kHalf));
  for (; i < count; i += kHalf) add(sums[0], load_some<Half>(x + i, count - i));
  double sum = 0;
  for (std::size_t j = 0; j < kHalf; ++j) sum += (sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j]);
  return sum;
}

/// √x of numbers that are not negative. In 512 bits by an estimate to 14 bits and one step of Newton's, within a unit
/// of the last place: the instruction would take longer than all else in a step of Adam.
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> square_roots(Vector<Real, kLanes> x) {
  using V = Vector<Real, kLanes>;
#ifdef __AVX512F__
  if constexpr (kLanes * sizeof(Real) == 64 && sizeof(Real) == sizeof(float)) {
    constexpr unsigned short kAll = 0xffff;
    constexpr int kAsSet = 4;  // rounding as the environment says
    const V least = V{} + std::numeric_limits<float>::min(), greatest = V{} + std::numeric_limits<float>::max();
    x = __builtin_ia32_maxps512_mask(x, least, x, kAll, kAsSet);  // 0 has no inverse root
    x = __builtin_ia32_minps512_mask(x, greatest, x, kAll, kAsSet);
    const V inverse = __builtin_ia32_rsqrt14ps512_mask(x, x, kAll);
    const V root = x * inverse;
    return root + (x - root * root) * (inverse * 0.5f);
  }
#endif
  V root{};
  for (std::size_t i = 0; i < kLanes; ++i) root[i] = square_root(x[i]);
  return root;
}

/// Moves `n` parameters from `at` on by their gradient.
template <class Real, std::size_t kLanes>
inline void adam_move(const AdamStep<Real>& step, Vector<Real, kLanes> by, std::size_t at, std::size_t n) {
  using V = Vector<Real, kLanes>;
  by *= step.scale;
  // All is read before anything is written: the three lists may lie a whole number of pages apart.
  const V here = load_some<V>(step.parameters + at, n);
  V mean = load_some<V>(step.mean + at, n), square = load_some<V>(step.square + at, n);
  mean += (1 - step.mean_decay) * (by - mean);
  square += (1 - step.square_decay) * (by * by - square);
  store_some(step.mean + at, mean, n);
  store_some(step.square + at, square, n);
  const V move = step.rate * mean * inverse<Real, kLanes>(square_roots<Real, kLanes>(square) + step.epsilon);
  store_some(step.parameters + at, step.kept * here - move, n);
}

template <class Real, std::size_t kLanes>
void adam(const AdamStep<Real>& given) {
  using V = Vector<Real, kLanes>;
  const AdamStep<Real> step = given;  // a copy is not changed by what is written, and stays in registers
  by_vectors<kLanes>(step.count, [&](std::size_t i, std::size_t n) {
    adam_move<Real, kLanes>(step, load_some<V>(step.gradient + i, n), i, n);
  });
}

template <class Real, std::size_t kLanes>
void outer_adam(const OuterAdamStep<Real>& given) {
  using V = Vector<Real, kLanes>;
  const OuterAdamStep<Real> outer = given;
  constexpr std::size_t kTogether = 4, kWide = kTogether * kLanes, kPacked = 4096;
  // Stretches of the right rows are packed: these may lie a whole number of pages apart, and then the first-level cache
  // holds few of them.
  alignas(64) Real packed[kPacked];
  const std::size_t count = outer.step.count, most = outer.terms == 0 ? 0 : kPacked / outer.terms / kWide * kWide;
  const std::size_t stretch = most == 0 ? count : most < 512 ? most : 512;
  for (std::size_t begin = 0; begin < count; begin += stretch) {
    const std::size_t width = count - begin < stretch ? count - begin : stretch,
                      right_row = most == 0 ? outer.right_row : stretch;
    const Real* const right = most == 0 ? outer.right + begin : packed;
    for (std::size_t t = 0; most > 0 && t < outer.terms; ++t)
      std::memcpy(packed + t * stretch, outer.right + t * outer.right_row + begin, width * sizeof(Real));
    for (std::size_t i = 0; i < outer.rows; ++i) {
      const std::size_t first = i * outer.row + begin;
      std::size_t j = 0;
      for (; j + kWide <= width; j += kWide) {
        V by[kTogether] = {};
        for (std::size_t t = 0; t < outer.terms; ++t) {
          const Real left = outer.left[t * outer.left_row + i];
#pragma GCC unroll 4
          for (std::size_t v = 0; v < kTogether; ++v) by[v] += left * load<V>(right + t * right_row + j + v * kLanes);
        }
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kTogether; ++v)
          adam_move<Real, kLanes>(outer.step, by[v], first + j + v * kLanes, kLanes);
      }
      for (; j < width; j += kLanes) {
        const std::size_t n = width - j < kLanes ? width - j : kLanes;
        V by{};
        for (std::size_t t = 0; t < outer.terms; ++t)
          by += outer.left[t * outer.left_row + i] * load_some<V>(right + t * right_row + j, n);
        adam_move<Real, kLanes>(outer.step, by, first + j, n);
      }
    }
  }
}

}  // namespace

// The units of nonlinear cells (simulate/models/cells/cell_units.h), as many side by side as a vector has numbers.
// Included by the translation unit of every instruction set, and nothing else.

namespace {

template <class Real, std::size_t kLanes>
struct VectorFunctions {
  using V = Vector<Real, kLanes>;
  static V zero() { return V{}; }
  static V one() { return V{} + Real{1}; }
  static V logistic(const V& x) { return krohn::logistic<Real, kLanes>(x); }
  static V tanh(const V& x) { return hyperbolic_tangent<Real, kLanes>(x); }
};

/// Some units of a row: number g of each at g · hidden.
template <class Real, std::size_t kLanes, std::size_t kCount>
inline void load_units(const Real* from, std::size_t hidden, std::size_t n, Vector<Real, kLanes> (&to)[kCount]) {
#pragma GCC unroll 4
  for (std::size_t g = 0; g < kCount; ++g) to[g] = load_some<Vector<Real, kLanes>>(from + g * hidden, n);
}
template <class Real, std::size_t kLanes, std::size_t kCount>
inline void store_units(const Vector<Real, kLanes> (&from)[kCount], std::size_t hidden, std::size_t n, Real* to) {
#pragma GCC unroll 4
  for (std::size_t g = 0; g < kCount; ++g) store_some(to + g * hidden, from[g], n);
}

template <class Unit, class Real, std::size_t kLanes>
void step_cells(const CellRows<Real>& rows) {
  using V = Vector<Real, kLanes>;
  constexpr std::size_t kGates = Unit::kGates, kKept = Unit::kKept;
  const std::size_t hidden = rows.hidden;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const input = rows.input + (rows.source == nullptr ? row : rows.source[row]) * kGates * hidden;
    Real* const state = rows.state + row * kGates * hidden;
    const Real* const before = rows.before == nullptr ? nullptr : rows.before + row * kKept * hidden;
    Real* const after = rows.after + row * kKept * hidden;
    by_vectors<kLanes>(hidden, [&](std::size_t i, std::size_t n) {
      V a[kGates], b[kGates], memory[kKept] = {};
      load_units<Real, kLanes>(input + i, hidden, n, a);
      load_units<Real, kLanes>(state + i, hidden, n, b);
      if (before != nullptr) load_units<Real, kLanes>(before + i, hidden, n, memory);
      Unit::template step<VectorFunctions<Real, kLanes>>(a, b, memory);
      store_units<Real, kLanes>(memory, hidden, n, after + i);
      store_units<Real, kLanes>(b, hidden, n, state + i);
    });
  }
}

template <class Unit, class Real, std::size_t kLanes>
void step_cells_adjoint(const CellRows<Real>& rows, const CellRowsAdjoint<Real>& adjoint) {
  using V = Vector<Real, kLanes>;
  constexpr std::size_t kGates = Unit::kGates, kKept = Unit::kKept;
  const std::size_t hidden = rows.hidden;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const Real* const input = rows.input + (rows.source == nullptr ? row : rows.source[row]) * kGates * hidden;
    const std::size_t gates = row * kGates * hidden, kept = row * kKept * hidden;
    by_vectors<kLanes>(hidden, [&](std::size_t i, std::size_t n) {
      V a[kGates], b[kGates], before[kKept] = {}, by_after[kKept], by_a[kGates], by_b[kGates], by_before[kKept];
      load_units<Real, kLanes>(input + i, hidden, n, a);
      load_units<Real, kLanes>(rows.state + gates + i, hidden, n, b);
      if (rows.before != nullptr) load_units<Real, kLanes>(rows.before + kept + i, hidden, n, before);
      load_units<Real, kLanes>(adjoint.by_memory + kept + i, hidden, n, by_after);
      by_after[0] += load_some<V>(adjoint.by_output + row * hidden + i, n);
      Unit::template adjoint<VectorFunctions<Real, kLanes>>(a, b, before, by_after, by_a, by_b, by_before);
      if (adjoint.by_input != nullptr) store_units<Real, kLanes>(by_a, hidden, n, adjoint.by_input + gates + i);
      store_units<Real, kLanes>(by_b, hidden, n, rows.state + gates + i);
      store_units<Real, kLanes>(by_before, hidden, n, adjoint.by_memory + kept + i);
    });
  }
}

template <class Real, std::size_t kLanes>
void step_cells(const CellRows<Real>& rows) {
  with_unit(rows.kind, [&](auto unit) {
    with_lanes<kLanes>(rows.hidden,
                       [&](auto lanes) { step_cells<decltype(unit), Real, decltype(lanes)::count>(rows); });
  });
}

template <class Real, std::size_t kLanes>
void step_cells_adjoint(const CellRows<Real>& rows, const CellRowsAdjoint<Real>& adjoint) {
  with_unit(rows.kind, [&](auto unit) {
    with_lanes<kLanes>(rows.hidden, [&](auto lanes) {
      step_cells_adjoint<decltype(unit), Real, decltype(lanes)::count>(rows, adjoint);
    });
  });
}

}  // namespace

}  // namespace krohn
