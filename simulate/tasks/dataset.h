// simulate/tasks/dataset.h — which samples of a task are a data set: every length it has within a range, equally often.
#pragma once

#include <cstdint>

#include "krohn/simulate/tasks/task.h"

namespace krohn {

struct DatasetOptions {
  std::uint64_t samples = 1000;
  LengthRange lengths{40, 40};  ///< each sample's length is uniform among the task's lengths in the range
  std::uint64_t seed = 1;
  std::uint64_t first_index = 0;  ///< samples first_index … first_index + samples − 1: shards of one data set
};

/// The length of sample `index`. Throws InputError when the task has no length in the range.
std::uint64_t sample_length(const Task& task, const DatasetOptions& options, std::uint64_t index);

}  // namespace krohn
