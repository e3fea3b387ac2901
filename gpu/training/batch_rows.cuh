// gpu/training/batch_rows.cuh — the batches of many models as a step reads them in a place: the tokens of a model's
// words stand one word after another, a row a token, without gaps.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/host_device.h"

namespace krohn {

struct DeviceTarget {
  std::uint32_t row, word, label;
  float smoothing;  ///< as in simulate/tasks/training_batch.h
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

}  // namespace krohn
