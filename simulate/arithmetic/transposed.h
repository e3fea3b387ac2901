// simulate/arithmetic/transposed.h — a matrix with its rows as columns, for products that read it the other way.
#pragma once

#include <cstddef>
#include <span>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// Of a row-major matrix of so many columns, at least one. O(its numbers).
template <class Real>
Numbers<Real> transposed(std::span<const Real> matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  Numbers<Real> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

}  // namespace krohn
