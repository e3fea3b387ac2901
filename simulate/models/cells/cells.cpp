#include "krohn/simulate/models/cells/cells.h"

#include <algorithm>

namespace krohn {
namespace {

Cell cell_of(CellKind kind) {
  Cell cell{};
  with_unit(kind, [&](auto unit) {
    using Unit = decltype(unit);
    cell = {kind, Unit::kName, Unit::kGates, Unit::kSums, Unit::kKept};
  });
  return cell;
}

}  // namespace

const std::vector<Cell>& cells() {
  static const std::vector<Cell> all{cell_of(CellKind::kTanh), cell_of(CellKind::kRelu), cell_of(CellKind::kGru),
                                     cell_of(CellKind::kLstm)};
  return all;
}

const Cell* find_cell(std::string_view name) {
  const auto found = std::ranges::find(cells(), name, &Cell::name);
  return found == cells().end() ? nullptr : &*found;
}

}  // namespace krohn
