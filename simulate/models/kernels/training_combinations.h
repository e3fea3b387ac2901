// simulate/models/kernels/training_combinations.h — rows that are combinations of few others, and the norm of what
// coefficients stand for. Included by the translation unit of every instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_rows.h"

namespace krohn {
namespace {

/// Rows of a table that are combined, and those of its gradient, stay in registers.
constexpr std::size_t kMaxTerms = 6;

/// kVectors vectors of columns, of which the last has `last` numbers.
template <class Real, std::size_t kLanes, std::size_t kVectors>
struct ColumnsOfRows {
  using V = Vector<Real, kLanes>;
  std::size_t last;
  V load_one(const Real* from, std::size_t v) const {
    return load_some<V>(from + v * kLanes, v + 1 == kVectors ? last : kLanes);
  }
  void store_one(Real* to, std::size_t v, const V& vector) const {
    store_some(to + v * kLanes, vector, v + 1 == kVectors ? last : kLanes);
  }
};

/// body(first column, ColumnsOfRows) for two vectors, one, and what is left of one.
template <class Real, std::size_t kLanes, class Body>
inline void by_column_vectors(std::size_t columns, const Body& body) {
  std::size_t column = 0;
  for (; column + 2 * kLanes <= columns; column += 2 * kLanes)
    body(column, ColumnsOfRows<Real, kLanes, 2>{kLanes}, Extent<2>{});
  for (; column < columns; column += kLanes) {
    const std::size_t left = columns - column;
    body(column, ColumnsOfRows<Real, kLanes, 1>{left < kLanes ? left : kLanes}, Extent<1>{});
  }
}

template <class Real, std::size_t kLanes>
void combine(const Combinations<Real>& rows, Real* to) {
  using V = Vector<Real, kLanes>;
  by_column_vectors<Real, kLanes>(rows.columns, [&](std::size_t column, const auto& columns, auto width) {
    constexpr std::size_t kVectors = decltype(width)::count;
    by_even_rows<kMaxTerms>(rows.terms, [&](std::size_t first, auto height) {
      constexpr std::size_t kTerms = decltype(height)::count;
      V table[kTerms][kVectors];
#pragma GCC unroll 6
      for (std::size_t j = 0; j < kTerms; ++j)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v)
          table[j][v] = columns.load_one(rows.table + (first + j) * rows.columns + column, v);
      for (std::size_t t = 0; t < rows.count; ++t) {
        Real* const row = to + t * rows.columns + column;
        const Real* const own = first == 0 ? rows.own + rows.source[t] * rows.columns + column : row;
        const Real* const by = rows.by + t * rows.terms + first;
        V sum[kVectors];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v) sum[v] = columns.load_one(own, v);
#pragma GCC unroll 6
        for (std::size_t j = 0; j < kTerms; ++j)
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kVectors; ++v) sum[v] += by[j] * table[j][v];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v) columns.store_one(row, v, sum[v]);
      }
    });
  });
}

/// by_by(t, j) += by_to(t, ·) · table(j, ·), for kTerms rows of the table.
template <class Real, std::size_t kLanes, std::size_t kTerms>
void add_coefficients_gradient(const Combinations<Real>& rows, std::size_t first, const Real* by_to, Real* by_by) {
  using V = Vector<Real, kLanes>;
  const Real* const table = rows.table + first * rows.columns;
  for (std::size_t t = 0; t < rows.count; ++t) {
    V sums[8] = {};
    by_vectors<kLanes>(rows.columns, [&](std::size_t i, std::size_t n) {
      const V by = load_some<V>(by_to + t * rows.columns + i, n);
#pragma GCC unroll 6
      for (std::size_t j = 0; j < kTerms; ++j) sums[j] += by * load_some<V>(table + j * rows.columns + i, n);
    });
    add_sums<Real, kLanes>(sums, by_by + t * rows.terms + first, kTerms);
  }
}

template <class Real, std::size_t kLanes>
void combine_adjoint(const Combinations<Real>& rows, const Real* by_to, Real* by_by, Real* by_table, Real* by_own) {
  using V = Vector<Real, kLanes>;
  by_even_rows<kMaxTerms>(rows.terms, [&](std::size_t first, auto height) {
    constexpr std::size_t kTerms = decltype(height)::count;
    add_coefficients_gradient<Real, kLanes, kTerms>(rows, first, by_to, by_by);
    by_column_vectors<Real, kLanes>(rows.columns, [&](std::size_t column, const auto& columns, auto width) {
      constexpr std::size_t kVectors = decltype(width)::count;
      V sums[kTerms][kVectors] = {};
      for (std::size_t t = 0; t < rows.count; ++t) {
        const Real* const by = rows.by + t * rows.terms + first;
        Real* const own = by_own + rows.source[t] * rows.columns + column;
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v) {
          const V row = columns.load_one(by_to + t * rows.columns + column, v);
          if (first == 0) columns.store_one(own, v, columns.load_one(own, v) + row);
#pragma GCC unroll 6
          for (std::size_t j = 0; j < kTerms; ++j) sums[j][v] += by[j] * row;
        }
      }
#pragma GCC unroll 6
      for (std::size_t j = 0; j < kTerms; ++j)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v) {
          Real* const to = by_table + (first + j) * rows.columns + column;
          columns.store_one(to, v, columns.load_one(to, v) + sums[j][v]);
        }
    });
  });
}

/// A square of numbers with rows of whole vectors, wide enough for all coefficients of a head.
template <class Real, std::size_t kLanes>
struct Square {
  using V = Vector<Real, kLanes>;
  static constexpr std::size_t kWide = (kMaxLetterRows + kLanes - 1) / kLanes * kLanes;
  alignas(64) Real numbers[kMaxLetterRows * kWide] = {};

  Square() = default;
  Square(const Real* from, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) std::memcpy(numbers + i * kWide, from + i * size, size * sizeof(Real));
  }
  /// Columns of xᵀ times the square.
  V product(const Real* x, std::size_t size, std::size_t column) const {
    V sum{};
    for (std::size_t j = 0; j < size; ++j) sum += x[j] * load<V>(numbers + j * kWide + column);
    return sum;
  }
};

template <class Real, std::size_t kLanes>
void gram_norm_rows(const GramRows<Real>& rows, Real* scale, Real* y) {
  using V = Vector<Real, kLanes>;
  const Square<Real, kLanes> factor(rows.factor, rows.terms);
  for (std::size_t t = 0; t < rows.count; ++t) {
    const Real* const x = rows.x + t * rows.row;
    Real as_long[Square<Real, kLanes>::kWide];  // numbers whose squares have the same sum
    V squares{};
    by_vectors<kLanes>(rows.terms, [&](std::size_t i, std::size_t) {
      const V part = factor.product(x, rows.terms, i);
      store(as_long + i, part);
      squares += part * part;
    });
    scale[t] = rms_scale<Real, kLanes>(sum_of<Real, kLanes>(squares), as_long, rows.terms, rows.width);
    by_vectors<kLanes>(rows.terms, [&](std::size_t i, std::size_t n) {
      store_some(y + t * rows.row + i, load_some<V>(x + i, n) * scale[t], n);
    });
  }
}

template <class Real, std::size_t kLanes>
void gram_norm(const GramRows<Real>& rows, Real* scale, Real* y) {
  with_lanes<kLanes>(rows.terms, [&](auto lanes) { gram_norm_rows<Real, decltype(lanes)::count>(rows, scale, y); });
}

template <class Real, std::size_t kLanes>
void gram_norm_adjoint_rows(const GramRows<Real>& rows, const Real* scale, const Real* by_y, Real* by_x,
                            Real* by_gram) {
  using V = Vector<Real, kLanes>;
  constexpr std::size_t kWide = Square<Real, kLanes>::kWide;
  const Square<Real, kLanes> gram(rows.gram, rows.terms);
  Square<Real, kLanes> sums;
  for (std::size_t t = 0; t < rows.count; ++t) {
    const std::size_t first = t * rows.row;
    const Real* const x = rows.x + first;
    const Real share =
        dot<Real, kLanes>(by_y + first, x, rows.terms) * scale[t] * scale[t] * scale[t] / static_cast<Real>(rows.width);
    by_vectors<kLanes>(rows.terms, [&](std::size_t i, std::size_t n) {
      const V own = load_some<V>(x + i, n), by_own = share * own;
      for (std::size_t j = 0; j < rows.terms; ++j) {
        Real* const to = sums.numbers + j * kWide + i;
        store(to, load<V>(to) + x[j] * by_own);
      }
      store_some(by_x + first + i,
                 load_some<V>(by_y + first + i, n) * scale[t] - share * gram.product(x, rows.terms, i), n);
    });
  }
  for (std::size_t i = 0; i < rows.terms; ++i)
    for (std::size_t j = 0; j < rows.terms; ++j) by_gram[i * rows.terms + j] -= sums.numbers[i * kWide + j] / 2;
}

template <class Real, std::size_t kLanes>
void gram_norm_adjoint(const GramRows<Real>& rows, const Real* scale, const Real* by_y, Real* by_x, Real* by_gram) {
  with_lanes<kLanes>(rows.terms, [&](auto lanes) {
    gram_norm_adjoint_rows<Real, decltype(lanes)::count>(rows, scale, by_y, by_x, by_gram);
  });
}

}  // namespace
}  // namespace krohn
