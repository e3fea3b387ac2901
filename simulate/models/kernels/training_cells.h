// simulate/models/kernels/training_cells.h — the units of nonlinear cells (simulate/models/cells/cell_units.h), as many
// side by side as a vector has numbers. Included by the translation unit of every instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_rows.h"

namespace krohn {
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
