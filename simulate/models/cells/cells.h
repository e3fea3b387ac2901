// simulate/models/cells/cells.h — the table of nonlinear recurrent cells. The products W x + b and U h + c are shared
// by all cells (simulate/models/cells/cell_network.h); a cell is what its units make of them, each by itself.
#pragma once

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/models/cells/cell_units.h"

namespace krohn {

/// A number rounded once: to bf16 too, for which a way by float would round twice.
template <class Real>
Real rounded(double x) {
  if constexpr (sizeof(Real) == 2) {
    auto nearest = static_cast<float>(x);
    // Rounded to odd: then the second rounding cannot meet a tie that the first one made.
    if (const double back = nearest;
        std::isfinite(nearest) && back != x && std::bit_cast<std::uint32_t>(nearest) % 2 == 0)
      nearest = std::nextafter(nearest, back < x ? INFINITY : -INFINITY);
    return static_cast<Real>(nearest);
  } else {
    return static_cast<Real>(x);
  }
}

/// The functions of cells: stated operations in double (groups/base/stated_functions.h), rounded once to the format.
template <class Real>
Real cell_tanh(Real x) {
  return rounded<Real>(stated::tanh(static_cast<double>(x)));
}
template <class Real>
Real cell_sigmoid(Real x) {
  return rounded<Real>(1 / (1 + stated::exp(-static_cast<double>(x))));
}

/// For `gates` · `hidden` products, and for the state of a layer: gate g of unit j is at g · hidden + j.
struct Cell {
  CellKind kind;
  std::string_view name;
  std::size_t gates;  ///< products that a unit takes, from the input and from the state alike
  bool sums;          ///< it takes them added up alone
  std::size_t kept;   ///< numbers that a unit remembers; the first is its output, and the state of the products
};

/// Every cell, and the one of that name or null.
const std::vector<Cell>& cells();
const Cell* find_cell(std::string_view name);

}  // namespace krohn
