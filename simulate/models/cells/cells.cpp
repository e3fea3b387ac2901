#include "krohn/simulate/models/cells/cells.h"

#include <algorithm>

#include "krohn/simulate/models/cells/gru_unit.h"
#include "krohn/simulate/models/cells/lstm_unit.h"
#include "krohn/simulate/models/cells/rnn_unit.h"

namespace krohn {
namespace {

/// The numbers of unit `unit`, one a gate.
template <std::size_t kCount, class Real>
std::array<Real, kCount> of_unit(const Real* numbers, std::size_t hidden, std::size_t unit) {
  std::array<Real, kCount> own;
  for (std::size_t i = 0; i < kCount; ++i) own[i] = numbers[i * hidden + unit];
  return own;
}
template <std::size_t kCount, class Real>
void put_back(const std::array<Real, kCount>& own, Real* numbers, std::size_t hidden, std::size_t unit) {
  for (std::size_t i = 0; i < kCount; ++i) numbers[i * hidden + unit] = own[i];
}

template <class Unit, class Real>
void step_units(std::size_t hidden, const Real* by_input, const Real* by_state, Real* memory) {
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    auto own = of_unit<Unit::kKept>(memory, hidden, unit);
    Unit::template step<Real>(of_unit<Unit::kGates>(by_input, hidden, unit),
                              of_unit<Unit::kGates>(by_state, hidden, unit), own);
    put_back(own, memory, hidden, unit);
  }
}

template <class Unit, class Real>
void adjoint_units(std::size_t hidden, const Real* input, const Real* state, const Real* before, const Real* by_after,
                   Real* by_input, Real* by_state, Real* by_before) {
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    std::array<Real, Unit::kGates> by_a, by_b;
    auto by_own = of_unit<Unit::kKept>(by_before, hidden, unit);
    Unit::template adjoint<Real>(of_unit<Unit::kGates>(input, hidden, unit), of_unit<Unit::kGates>(state, hidden, unit),
                                 of_unit<Unit::kKept>(before, hidden, unit),
                                 of_unit<Unit::kKept>(by_after, hidden, unit), by_a, by_b, by_own);
    put_back(by_a, by_input, hidden, unit);
    put_back(by_b, by_state, hidden, unit);
    put_back(by_own, by_before, hidden, unit);
  }
}

template <class Unit, class Real>
Cell<Real> cell_of() {
  Cell<Real> cell{Unit::kName, Unit::kGates, Unit::kKept, step_units<Unit, Real>, nullptr};
  if constexpr (sizeof(Real) > 2) cell.adjoint = adjoint_units<Unit, Real>;  // nothing is trained in bf16
  return cell;
}

}  // namespace

template <class Real>
const std::vector<Cell<Real>>& cells() {
  static const std::vector<Cell<Real>> all{cell_of<TanhUnit, Real>(), cell_of<ReluUnit, Real>(),
                                           cell_of<GruUnit, Real>(), cell_of<LstmUnit, Real>()};
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
