// simulate/models/kernels/training_softmax.h — softmax of rows of logits, as cross-entropy needs it. Included by the
// translation unit of every instruction set, and nothing else.
//
// Answers are few, rows are many: where a row has fewer numbers than a vector, a vector is a column of as many rows.
#pragma once

#include <type_traits>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_vectors.h"

namespace krohn {
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
