// simulate/models/cells/cells.h — the table of cells: simulate/models/cells/cell.h for what one is.
#pragma once

#include "krohn/simulate/models/cells/cell.h"

namespace krohn {

extern template const std::vector<Cell<float>>& cells();
extern template const std::vector<Cell<double>>& cells();
extern template const std::vector<Cell<Eigen::bfloat16>>& cells();
extern template const Cell<float>* find_cell(std::string_view);
extern template const Cell<double>* find_cell(std::string_view);
extern template const Cell<Eigen::bfloat16>* find_cell(std::string_view);

}  // namespace krohn
