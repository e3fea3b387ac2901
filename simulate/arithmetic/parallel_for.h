// simulate/arithmetic/parallel_for.h — pieces of work that know nothing of each other, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// The function that a thread calls with the numbers of its pieces.
using Worker = std::function<void(std::size_t)>;

/// Who does which piece: whoever is free, or every thread as many that follow each other, the same at every call, so
/// that what it wrote last time lies in its own caches.
enum class Sharing { kWhoIsFree, kSame };

/// Every thread makes one worker and calls it with some of 0 … count − 1, so that each is called once, in no order.
/// `threads` 0: as many as OpenMP gives; inside another call, one. Threads that another library's settings were left on
/// compute as groups/base/float_environment.h says, too. After an exception no further piece is begun; the first is
/// thrown.
void parallel_workers(std::size_t count, unsigned threads, const std::function<Worker()>& make_worker,
                      Sharing sharing = Sharing::kWhoIsFree);

/// The same with one body for all threads.
inline void parallel_for(std::size_t count, unsigned threads, const Worker& body,
                         Sharing sharing = Sharing::kWhoIsFree) {
  parallel_workers(
      count, threads, [&] { return Worker(std::cref(body)); }, sharing);
}

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

/// For so many columns, at least one.
template <class Real>
Numbers<Real> transposed(std::span<const Real> matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  Numbers<Real> result(matrix.size());
  transpose(matrix.data(), rows, columns, result.data(), rows);
  return result;
}

}  // namespace krohn
