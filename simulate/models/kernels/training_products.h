// simulate/models/kernels/training_products.h — the loops of matrix products. Included by the translation unit of every
// instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_tiles.h"

namespace krohn {
namespace {

constexpr std::size_t kDepthBlock = 256;  ///< a packed panel of b stays in the first-level cache

/// b's columns from `column` on, `width` of them, the others 0.
template <class Real, std::size_t kColumns>
void pack(const Product<Real>& product, std::size_t first, std::size_t depth, std::size_t column, std::size_t width,
          Real* panel) {
  const Real* const b = product.b + first * product.b_row + column;
  if (width == kColumns) {
    for (std::size_t k = 0; k < depth; ++k)
      std::memcpy(panel + k * kColumns, b + k * product.b_row, kColumns * sizeof(Real));
    return;
  }
  std::memset(panel, 0, depth * kColumns * sizeof(Real));
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t j = 0; j < width; ++j) panel[k * kColumns + j] = b[k * product.b_row + j];
}

/// All rows of `width` columns, kVectors vectors at most, of a slice of the depth; `panel` holds b's.
template <class Real, std::size_t kLanes, std::size_t kRows, std::size_t kVectors>
void add_panel(const Product<Real>& product, std::size_t first, std::size_t depth, std::size_t column,
               std::size_t width, const Real* panel) {
  constexpr std::size_t kColumns = kVectors * kLanes;
  const bool whole = width == kColumns;
  by_rows<kRows>(product.rows, [&](std::size_t row, auto height) {
    constexpr std::size_t kHeight = decltype(height)::count;
    using T = Tile<Real, kLanes, kHeight, kVectors>;
    Real* const c = product.c + row * product.c_row + column;
    T tile = whole ? T::from(c, product.c_row) : T::zero();
    tile.add({product.a + row * product.a_row + first * product.a_depth, product.a_row, product.a_depth}, panel,
             kColumns, depth);
    if (whole) return tile.to(c, product.c_row);
    Real edge[kHeight * kColumns];
    tile.to(edge, kColumns);
    for (std::size_t r = 0; r < kHeight; ++r)
      for (std::size_t j = 0; j < width; ++j) c[r * product.c_row + j] += edge[r * kColumns + j];
  });
}

template <class Real, std::size_t kLanes, std::size_t kRows>
void add_product(const Product<Real>& product) {
  alignas(64) Real panel[kDepthBlock * 2 * kLanes];
  for (std::size_t first = 0; first < product.depth; first += kDepthBlock) {
    const std::size_t depth = product.depth - first < kDepthBlock ? product.depth - first : kDepthBlock;
    for (std::size_t column = 0; column < product.columns;) {
      const std::size_t left = product.columns - column;
      if (left > kLanes) {
        const std::size_t width = left < 2 * kLanes ? left : 2 * kLanes;
        pack<Real, 2 * kLanes>(product, first, depth, column, width, panel);
        add_panel<Real, kLanes, kRows, 2>(product, first, depth, column, width, panel);
        column += width;
      } else {
        pack<Real, kLanes>(product, first, depth, column, left, panel);
        add_panel<Real, kLanes, kRows, 1>(product, first, depth, column, left, panel);
        column += left;
      }
    }
  }
}

}  // namespace
}  // namespace krohn
