// simulate/models/kernels/training_tiles.h — a few rows of a small matrix product in registers, and the order in which
// tiles cover a matrix. Included by the translation unit of every instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_vectors.h"

namespace krohn {
namespace {

/// A number known when compiling, to choose the extent of a tile.
template <std::size_t kCount>
struct Extent {
  static constexpr std::size_t count = kCount;
};

/// body(Extent<count>) for a count from kLeast to kMax.
template <std::size_t kMax, std::size_t kLeast = 1, class Body>
inline void with_extent(std::size_t count, const Body& body) {
  if constexpr (kMax > kLeast) {
    if (count < kMax) return with_extent<kMax - 1, kLeast>(count, body);
  }
  body(Extent<kMax>{});
}

/// a(row, depth) of a product; `row` and `depth` are steps, so that it may be transposed.
template <class Real>
struct Factor {
  const Real* at;
  std::size_t row, depth;
};

/// kRows × kVectors vectors. Loops over them are unrolled, without which compilers keep them in memory.
template <class Real, std::size_t kLanes, std::size_t kRows, std::size_t kVectors>
struct Tile {
  using V = Vector<Real, kLanes>;
  V part[kRows][kVectors];

  static Tile zero() {
    Tile tile;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) tile.part[r][v] = V{};
    return tile;
  }
  static Tile from(const Real* numbers, std::size_t row) {
    Tile tile;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) tile.part[r][v] = load<V>(numbers + r * row + v * kLanes);
    return tile;
  }
  void to(Real* numbers, std::size_t row) const {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) store(numbers + r * row + v * kLanes, part[r][v]);
  }

  /// Adds Σ_d a(r, d) b(d, ·), or takes it away.
  template <bool kAway = false>
  void add(const Factor<Real>& a, const Real* b, std::size_t b_row, std::size_t depth) {
    for (std::size_t d = 0; d < depth; ++d) {
      V right[kVectors];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) right[v] = load<V>(b + d * b_row + v * kLanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kRows; ++r) {
        const Real by = a.at[r * a.row + d * a.depth];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v)
          if constexpr (kAway)
            part[r][v] -= by * right[v];
          else
            part[r][v] += by * right[v];
      }
    }
  }
  void take(const Factor<Real>& a, const Real* b, std::size_t b_row, std::size_t depth) {
    add<true>(a, b, b_row, depth);
  }
};

/// body(first, Extent<rows>) for blocks of kRows, 4, 2 and 1 rows from 0 on.
template <std::size_t kRows, class Body>
inline void by_rows(std::size_t count, const Body& body) {
  std::size_t row = 0;
  for (; row + kRows <= count; row += kRows) body(row, Extent<kRows>{});
  if constexpr (kRows > 4)
    for (; row + 4 <= count; row += 4) body(row, Extent<4>{});
  for (; row + 2 <= count; row += 2) body(row, Extent<2>{});
  if (row < count) body(row, Extent<1>{});
}

/// body(first, Extent<rows>) for as few blocks of at most kRows rows as there can be, of almost the same height each: a
/// last block of one row would leave most of the processor idle.
template <std::size_t kRows, class Body>
inline void by_even_rows(std::size_t count, const Body& body) {
  if (count == 0) return;
  const std::size_t blocks = (count + kRows - 1) / kRows, least = count / blocks, higher = count % blocks;
  for (std::size_t block = 0, row = 0; block < blocks; ++block) {
    const std::size_t height = least + (block < higher ? 1 : 0);
    with_extent<kRows>(height, [&](auto extent) { body(row, extent); });
    row += height;
  }
}

/// The same as by_rows from the last row down.
template <std::size_t kRows, class Body>
inline void by_rows_down(std::size_t count, const Body& body) {
  for (; count >= kRows; count -= kRows) body(count - kRows, Extent<kRows>{});
  if constexpr (kRows > 4)
    for (; count >= 4; count -= 4) body(count - 4, Extent<4>{});
  for (; count >= 2; count -= 2) body(count - 2, Extent<2>{});
  if (count > 0) body(0, Extent<1>{});
}

/// body(first, Extent<vectors>) for two vectors or one; `count` is a whole number of vectors.
template <std::size_t kLanes, class Body>
inline void by_columns(std::size_t count, const Body& body) {
  std::size_t column = 0;
  for (; column + 2 * kLanes <= count; column += 2 * kLanes) body(column, Extent<2>{});
  if (column < count) body(column, Extent<1>{});
}

/// c += a b, all rows and columns; c has whole vectors.
template <class Real, std::size_t kLanes, std::size_t kRows>
void add_small_product(std::size_t rows, std::size_t columns, std::size_t depth, const Factor<Real>& a, const Real* b,
                       std::size_t b_row, Real* c, std::size_t c_row) {
  by_rows<kRows>(rows, [&](std::size_t row, auto height) {
    by_columns<kLanes>(columns, [&](std::size_t column, auto width) {
      using T = Tile<Real, kLanes, decltype(height)::count, decltype(width)::count>;
      T tile = T::from(c + row * c_row + column, c_row);
      tile.add({a.at + row * a.row, a.row, a.depth}, b + column, b_row, depth);
      tile.to(c + row * c_row + column, c_row);
    });
  });
}

}  // namespace
}  // namespace krohn
