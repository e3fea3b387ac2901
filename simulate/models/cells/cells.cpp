#include "krohn/simulate/models/cells/cells.h"

#include <algorithm>

namespace krohn {
namespace {

/// What units compute with: zero for ReLU, and the functions of cell.h.
template <class Real>
struct StatedFunctions {
  static Real tanh(Real x) { return cell_tanh<Real>(x); }
  static Real logistic(Real x) { return cell_sigmoid<Real>(x); }
  static Real zero() { return Real(0); }
};

template <class Unit, class Real>
void step_units(std::size_t hidden, const Real* by_input, const Real* by_state, Real* memory) {
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    Real a[Unit::kGates], b[Unit::kGates], own[Unit::kKept];
    for (std::size_t i = 0; i < Unit::kGates; ++i)
      a[i] = by_input[i * hidden + unit], b[i] = by_state[i * hidden + unit];
    for (std::size_t i = 0; i < Unit::kKept; ++i) own[i] = memory[i * hidden + unit];
    Unit::template step<StatedFunctions<Real>, Real>(a, b, own);
    for (std::size_t i = 0; i < Unit::kKept; ++i) memory[i * hidden + unit] = own[i];
  }
}

template <class Real>
Cell<Real> cell_of(CellKind kind) {
  Cell<Real> cell{};
  with_unit(kind, [&](auto unit) {
    using Unit = decltype(unit);
    cell = {kind, Unit::kName, Unit::kGates, Unit::kSums, Unit::kKept, step_units<Unit, Real>};
  });
  return cell;
}

}  // namespace

template <class Real>
const std::vector<Cell<Real>>& cells() {
  static const std::vector<Cell<Real>> all{cell_of<Real>(CellKind::kTanh), cell_of<Real>(CellKind::kRelu),
                                           cell_of<Real>(CellKind::kGru), cell_of<Real>(CellKind::kLstm)};
  return all;
}

template <class Real>
const Cell<Real>* find_cell(std::string_view name) {
  const auto found = std::ranges::find(cells<Real>(), name, &Cell<Real>::name);
  return found == cells<Real>().end() ? nullptr : &*found;
}

template const std::vector<Cell<float>>& cells();
template const std::vector<Cell<double>>& cells();
template const std::vector<Cell<Eigen::bfloat16>>& cells();
template const Cell<float>* find_cell(std::string_view);
template const Cell<double>* find_cell(std::string_view);
template const Cell<Eigen::bfloat16>* find_cell(std::string_view);

}  // namespace krohn
