// simulate/models/kernels/training_products.h — the loops of matrix products. Included by the translation unit of every
// instruction set, and nothing else.
#pragma once

#include <type_traits>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_tiles.h"
#include "krohn/simulate/models/kernels/training_vectors.h"

namespace krohn {
namespace {

constexpr std::size_t kDepthBlock = 256;  ///< a packed panel of b stays in the first-level cache

/// Rows of a tile of two vectors: as many as leave registers for b. Thirty-two registers are those of 512 bits.
template <class Real, std::size_t kLanes, std::size_t kRows>
constexpr std::size_t kTallest = kLanes * sizeof(Real) == 64 ? 12 : kRows;

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
  const bool whole = width == kColumns, adds = first > 0 || !product.sets;
  by_even_rows<kTallest<Real, kLanes, kRows>>(product.rows, [&](std::size_t row, auto height) {
    constexpr std::size_t kHeight = decltype(height)::count;
    using T = Tile<Real, kLanes, kHeight, kVectors>;
    Real* const c = product.c + row * product.c_row + column;
    T tile = whole && adds ? T::from(c, product.c_row) : T::zero();
    tile.add({product.a + row * product.a_row + first * product.a_depth, product.a_row, product.a_depth}, panel,
             kColumns, depth);
    if (whole) return tile.to(c, product.c_row);
    // All is read before anything is written: short rows lie so near that one would wait for the other.
    const auto each = [&](const auto& body) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kHeight; ++r)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v)
          if (v * kLanes < width) body(tile.part[r][v], c + r * product.c_row + v * kLanes, width - v * kLanes);
    };
    if (adds)
      each([](auto& part, const Real* from, std::size_t count) { part += load_some<typename T::V>(from, count); });
    each([](const auto& part, Real* to, std::size_t count) { store_some(to, part, count); });
  });
}

/// Where b or c is long and read once, it is walked along its rows, a few side by side, as it lies in memory. Sums of
/// few rows and much depth are packed meanwhile: c's rows may lie a whole number of pages apart, and then the
/// first-level cache holds few of them.
template <class Real, std::size_t kLanes, std::size_t kRows>
void add_wide_product(const Product<Real>& product, std::size_t columns) {
  constexpr std::size_t kStretch = 512, kDepth = 8;
  alignas(64) Real packed[kRows * kStretch];
  for (std::size_t left = 0; left < columns; left += kStretch) {
    const std::size_t width = columns - left < kStretch ? columns - left : kStretch;
    by_even_rows<kRows>(product.rows, [&](std::size_t row, auto height) {
      constexpr std::size_t kHeight = decltype(height)::count;
      using T = Tile<Real, kLanes, kHeight, 2>;
      Real* const whole = product.c + row * product.c_row + left;
      const bool packs = product.depth > kDepth;
      Real* const sums = packs ? packed : whole;
      const std::size_t sums_row = packs ? kStretch : product.c_row;
      for (std::size_t r = 0; packs && r < kHeight; ++r)
        std::memcpy(packed + r * kStretch, whole + r * product.c_row, width * sizeof(Real));
      for (std::size_t first = 0; first < product.depth; first += kDepth) {
        const std::size_t depth = product.depth - first < kDepth ? product.depth - first : kDepth;
        const Factor<Real> a{product.a + row * product.a_row + first * product.a_depth, product.a_row, product.a_depth};
        for (std::size_t column = 0; column < width; column += 2 * kLanes) {
          T tile = T::from(sums + column, sums_row);
          tile.add(a, product.b + first * product.b_row + left + column, product.b_row, depth);
          tile.to(sums + column, sums_row);
        }
      }
      for (std::size_t r = 0; packs && r < kHeight; ++r)
        std::memcpy(whole + r * product.c_row, packed + r * kStretch, width * sizeof(Real));
    });
  }
}

template <class Real, std::size_t kLanes, std::size_t kRows>
void add_product(const Product<Real>& product) {
  alignas(64) Real panel[kDepthBlock * 2 * kLanes];
  const bool wide = product.columns >= 512 && (product.rows <= 4 * kRows || product.depth <= 4 * kRows);
  const std::size_t done = wide ? product.columns / (2 * kLanes) * (2 * kLanes) : 0;
  if (wide) {
    for (std::size_t row = 0; product.sets && row < product.rows; ++row)
      std::memset(product.c + row * product.c_row, 0, done * sizeof(Real));
    add_wide_product<Real, kLanes, kRows>(product, done);
  }
  for (std::size_t first = 0; first < product.depth; first += kDepthBlock) {
    const std::size_t depth = product.depth - first < kDepthBlock ? product.depth - first : kDepthBlock;
    for (std::size_t column = done; column < product.columns;) {
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

template <class Real, std::size_t kLanes, std::size_t kRows>
void multiply_rows(const RowProducts<Real>& rows) {
  by_even_rows<kTallest<Real, kLanes, kRows>>(rows.count, [&](std::size_t row, auto height) {
    constexpr std::size_t kHeight = decltype(height)::count;
    by_columns<kLanes>(rows.columns, [&](std::size_t column, auto width) {
      constexpr std::size_t kWidth = decltype(width)::count;
      using T = Tile<Real, kLanes, kHeight, kWidth>;
      using V = typename T::V;
      T tile = T::zero();
      tile.add({rows.x + row * rows.x_row, rows.x_row, 1}, rows.b + column, rows.b_row, rows.depth);
      for (std::size_t r = 0; r < kHeight; ++r) {
        Real* const to = rows.to[row + r] + column;
        for (std::size_t v = 0; v < kWidth; ++v) {
          V part = tile.part[r][v];
          if (rows.addition != nullptr) part += load<V>(rows.addition + column + v * kLanes);
          if (rows.adds) part += load<V>(to + v * kLanes);
          store(to + v * kLanes, part);
        }
      }
    });
  });
}

/// kHeight rows of a with kWidth of b: as many sums, kept in registers over the whole depth.
template <class Real, std::size_t kLanes, std::size_t kHeight, std::size_t kWidth>
void add_dots_of(const RowDots<Real>& dots, std::size_t row, std::size_t column) {
  using V = Vector<Real, kLanes>;
  V sums[kHeight][kWidth] = {};
  const Real *const a = dots.a + row * dots.a_row, *const b = dots.b + column * dots.b_row;
  const auto add = [&](std::size_t k, std::size_t count) {
    V right[kWidth];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kWidth; ++j) right[j] = load_some<V>(b + j * dots.b_row + k, count);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kHeight; ++i) {
      const V left = load_some<V>(a + i * dots.a_row + k, count);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kWidth; ++j) sums[i][j] += left * right[j];
    }
  };
  std::size_t k = 0;
  for (; k + kLanes <= dots.depth; k += kLanes) add(k, kLanes);
  if (k < dots.depth) add(k, dots.depth - k);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kHeight; ++i)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kWidth; ++j)
      dots.c[(row + i) * dots.c_row + (column + j) * dots.c_column] += sum_of<Real, kLanes>(sums[i][j]);
}

template <class Real, std::size_t kLanes>
void add_dots(const RowDots<Real>& dots) {
  constexpr std::size_t kHeight = kLanes * sizeof(Real) == 64 ? 7 : 3, kWidth = 4;
  by_even_rows<kHeight>(dots.rows, [&](std::size_t row, auto height) {
    std::size_t column = 0;
    for (; column + kWidth <= dots.columns; column += kWidth)
      add_dots_of<Real, kLanes, decltype(height)::count, kWidth>(dots, row, column);
    for (; column < dots.columns; ++column) add_dots_of<Real, kLanes, decltype(height)::count, 1>(dots, row, column);
  });
}

}  // namespace

// Softmax of rows of logits, as cross-entropy needs it. Included by the
// translation unit of every instruction set, and nothing else.
//
// Answers are few, rows are many: where a row has fewer numbers than a vector, a vector is a column of as many rows.

namespace {

/// `count` rows from `first` on, at most kLanes of them and of kLanes numbers each: columns are gathered once.
template <class Real, std::size_t kLanes>
void softmax_of_columns(const SoftmaxRows<Real>& rows, std::size_t first, std::size_t count) {
  using V = Vector<Real, kLanes>;
  using Place = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  using Places = Vector<Place, kLanes>;
  const std::size_t labels = rows.labels;
  Real* const x = rows.x + first * labels;
  Real column[kLanes][kLanes] = {};
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t label = 0; label < labels; ++label) column[label][row] = x[row * labels + label];
  V greatest = load<V>(column[0]);
  Places best{};
  for (std::size_t label = 1; label < labels; ++label) {
    const V own = load<V>(column[label]);
    const auto is_greater = own > greatest;
    greatest = is_greater ? own : greatest;
    best = is_greater ? Places{} + static_cast<Place>(label) : best;
  }
  V sum{};
  for (std::size_t label = 0; label < labels; ++label) {
    const V power = exponential<Real, kLanes>(load<V>(column[label]) - greatest);
    sum += power;
    store(column[label], power);
  }
  const V scale = load_some<V>(rows.share + first, count) / sum, away = load_some<V>(rows.away + first, count);
  for (std::size_t label = 0; label < labels; ++label) store(column[label], load<V>(column[label]) * scale - away);
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t label = 0; label < labels; ++label) x[row * labels + label] = column[label][row];
  store_some(rows.greatest + first, greatest, count);
  store_some(rows.sum + first, sum, count);
  for (std::size_t row = 0; row < count; ++row) rows.best[first + row] = static_cast<std::uint32_t>(best[row]);
}

template <class Real, std::size_t kLanes>
void softmax_of_row(const SoftmaxRows<Real>& rows, std::size_t row) {
  using V = Vector<Real, kLanes>;
  Real* const x = rows.x + row * rows.labels;
  std::size_t best = 0;
  for (std::size_t label = 1; label < rows.labels; ++label)
    if (x[label] > x[best]) best = label;
  const Real greatest = x[best];
  Real sum = 0;
  for (std::size_t label = 0; label < rows.labels; label += kLanes) {
    const std::size_t count = rows.labels - label < kLanes ? rows.labels - label : kLanes;
    store_some(x + label, exponential<Real, kLanes>(load_some<V>(x + label, count) - greatest), count);
    sum += sum_of<Real, kLanes>(load_some<V>(x + label, count));
  }
  const Real scale = rows.share[row] / sum, away = rows.away[row];
  for (std::size_t label = 0; label < rows.labels; ++label) x[label] = x[label] * scale - away;
  rows.greatest[row] = greatest, rows.sum[row] = sum, rows.best[row] = static_cast<std::uint32_t>(best);
}

template <class Real, std::size_t kLanes>
void softmax(const SoftmaxRows<Real>& rows) {
  if (rows.labels > kLanes) {
    for (std::size_t row = 0; row < rows.count; ++row) softmax_of_row<Real, kLanes>(rows, row);
    return;
  }
  for (std::size_t first = 0; first < rows.count; first += kLanes)
    softmax_of_columns<Real, kLanes>(rows, first, rows.count - first < kLanes ? rows.count - first : kLanes);
}

}  // namespace

}  // namespace krohn
