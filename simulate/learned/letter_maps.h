// simulate/learned/letter_maps.h — the recurrent states among the numbers that a model remembers, and what its letters
// do to them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace krohn {

/// A recurrent state among the numbers that are remembered: of one layer, and of one head where there are several.
struct StatePart {
  std::size_t first = 0, count = 0;
};

/// `size` × `columns` numbers of the memory, row by row.
struct StateBlock {
  std::size_t first = 0, size = 0, columns = 0;
};

/// The matrix by which a letter multiplies each block. For reflections, also their β, head by head.
struct LetterMaps {
  std::vector<Eigen::MatrixXd> matrices;
  std::vector<double> betas;
};

}  // namespace krohn
