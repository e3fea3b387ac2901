// simulate/tasks/training_batch.h — samples of a task, side by side, as a model in training reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// `words` samples of possibly different lengths. Letters of a word that has ended are not to be read.
struct TrainingBatch {
  struct Target {
    std::uint32_t position, word;
    TaskLabel label;
    float smoothing = 0;  ///< ε: the label should get 1 − ε + ε/K of the probability, each of the other K − 1 ε/K
  };
  std::uint32_t words = 0, positions = 0;  ///< positions: of the longest word, special tokens included
  std::vector<Letter> letters;             ///< position t of word w at t · words + w
  std::vector<std::uint32_t> lengths;      ///< tokens of every word
  std::vector<Target> targets;             ///< by position, then word
};

/// Samples first_index, first_index + 1, … of the task; each one's length is uniform among the task's lengths in the
/// range, a pure function of seed and index. Throws InputError when the task has no length there, or the batch would
/// have more than 2^30 letters.
TrainingBatch draw_batch(const Task& task, LengthRange lengths, std::uint64_t seed, std::uint64_t first_index,
                         std::uint32_t words);

}  // namespace krohn
