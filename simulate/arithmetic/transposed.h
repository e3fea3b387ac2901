// simulate/arithmetic/transposed.h — a matrix with its rows as columns, for products that read it the other way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// to(j, i) = from(i, j) for a row-major matrix of rows × columns; rows of `to` are `to_row` numbers apart. O(numbers).
template <class Real>
void transpose(const Real* from, std::size_t rows, std::size_t columns, Real* to, std::size_t to_row) {
  // A few rows at once: lines of either matrix may lie a whole number of pages apart, where the first-level cache
  // holds few.
  constexpr std::size_t kRows = 16;
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t end = std::min(first + kRows, rows);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = first; i < end; ++i) to[j * to_row + i] = from[i * columns + j];
  }
}

/// Of so many columns, at least one.
template <class Real>
Numbers<Real> transposed(std::span<const Real> matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  Numbers<Real> result(matrix.size());
  transpose(matrix.data(), rows, columns, result.data(), rows);
  return result;
}

}  // namespace krohn
