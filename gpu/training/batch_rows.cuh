// gpu/training/batch_rows.cuh — the batches of many models as a step reads them in a place: the tokens of a model's
// words stand one word after another, a row a token, without gaps.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

struct DeviceTarget {
  std::uint32_t row, word, label;
  float smoothing;  ///< as in simulate/tasks/task.h
};

/// Lists of every model, one model after another.
struct BatchRows {
  std::uint32_t models = 0, words = 0, letters = 0;  ///< letters: of the alphabet
  std::uint32_t most_rows = 0, most_targets = 0;     ///< that a model has room for
  const std::uint32_t* rows = nullptr;               ///< a model's tokens
  const std::uint32_t* target_counts = nullptr;
  const float *rates = nullptr, *kept = nullptr, *epsilons = nullptr;
  const std::uint32_t* first = nullptr;         ///< row of each word's first token; one more at the end
  const std::uint32_t* letter = nullptr;        ///< by row
  const std::uint32_t* word_of = nullptr;       ///< by row
  const std::uint32_t* readers = nullptr;       ///< rows by the letter they read
  const std::uint32_t* first_reader = nullptr;  ///< of each letter; one more at the end
  const DeviceTarget* targets = nullptr;

  KROHN_HOST_DEVICE std::uint32_t first_of(std::uint64_t m, std::uint64_t word) const {
    return first[m * (words + std::uint64_t{1}) + word];
  }
  KROHN_HOST_DEVICE std::uint32_t length_of(std::uint64_t m, std::uint64_t word) const {
    return first_of(m, word + 1) - first_of(m, word);
  }
  KROHN_HOST_DEVICE std::uint32_t letter_at(std::uint64_t m, std::uint64_t row) const {
    return letter[m * most_rows + row];
  }
  KROHN_HOST_DEVICE std::uint32_t word_at(std::uint64_t m, std::uint64_t row) const {
    return word_of[m * most_rows + row];
  }
  KROHN_HOST_DEVICE const DeviceTarget& target(std::uint64_t m, std::uint64_t i) const {
    return targets[m * most_targets + i];
  }
  /// Calls body(row) for all rows that read the letter, in order.
  template <class Body>
  KROHN_HOST_DEVICE void for_readers(std::uint64_t m, std::uint64_t letter_read, Body&& body) const {
    const std::uint32_t* const from = first_reader + m * (letters + std::uint64_t{1}) + letter_read;
    for (std::uint32_t i = from[0]; i < from[1]; ++i) body(readers[m * most_rows + i]);
  }
};

// Tables of numbers with a row for every letter, token, target or word of a batch, one table a model, and which of
// their rows are in use.

/// Row r of model m begins at at + m · model + r · row.
struct Table {
  float* at = nullptr;
  std::uint64_t model = 0;
  std::uint32_t row = 0;

  KROHN_HOST_DEVICE float* of(std::uint64_t m, std::uint64_t r) const { return at + m * model + r * row; }
  /// From a column on.
  Table from(std::uint64_t column) const { return {at + column, model, row}; }
};

/// How many rows the models' tables have: `most` at most; where `counts` is given each model its own. `times` of them
/// stand for every one that is counted.
struct RowCount {
  std::uint32_t most = 0;
  const std::uint32_t* counts = nullptr;
  std::uint32_t times = 1;

  KROHN_HOST_DEVICE std::uint64_t of(std::uint64_t m) const {
    return std::uint64_t{times} * (counts == nullptr ? most : counts[m]);
  }
  KROHN_HOST_DEVICE std::uint64_t room() const { return std::uint64_t{times} * most; }
};

/// Rows of a table over which a sum is one part: parts are added afterwards, one after another.
inline constexpr std::uint32_t kSumPart = 256;

/// Which row of a layer's input a token reads: in the first layer its letter's, elsewhere its own.
struct Source {
  BatchRows b;
  bool by_letter = false;
  KROHN_HOST_DEVICE std::uint64_t of(std::uint64_t m, std::uint64_t token) const {
    return by_letter ? b.letter_at(m, token) : token;
  }
};

/// Calls op(m, row, column) for every number of the rows in use.
template <class Op>
struct EachNumber {
  Op op;
  RowCount rows;
  std::uint32_t models = 0, columns = 0;
  std::uint64_t items() const { return models * rows.room() * columns; }

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t column = item % columns, row = item / columns % rows.room(), m = item / columns / rows.room();
    if (row < rows.of(m)) op(m, row, static_cast<std::uint32_t>(column));
  }
};

KROHN_HOST_DEVICE inline float logistic(float x) { return 1 / (1 + expf(-x)); }
KROHN_HOST_DEVICE inline float silu(float x) { return x * logistic(x); }
KROHN_HOST_DEVICE inline float silu_slope(float x) {
  const float s = logistic(x);
  return s * (1 + x * (1 - s));
}

/// One operation, rounded once on a device; on the processor, which compiles for machines without it, a product and a
/// sum.
KROHN_HOST_DEVICE inline float multiply_add(float a, float b, float c) {
  return KROHN_EITHER(__fmaf_rn(a, b, c), a * b + c);
}

}  // namespace krohn
