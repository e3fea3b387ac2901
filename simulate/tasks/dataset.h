// simulate/tasks/dataset.h — labelled data sets as text: JSON lines and CSV, written as they are drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>

#include "krohn/simulate/tasks/task.h"

namespace krohn {

enum class DatasetFormat : std::uint8_t {
  /// A first line about the task ({"task", "tokens", "labels", "chance", "seed", …}) unless `header` is off, then for
  /// each sample {"index":0,"length":3,"input":["0","3","2"],"targets":[null,null,"0"]}.
  kJsonLines,
  /// index,length,input,targets: tokens and targets are separated by spaces, "_" stands where no answer is due; a first
  /// line with the column names unless `header` is off. Fields with commas or quotes are quoted (RFC 4180).
  kCsv,
};

struct DatasetOptions {
  DatasetFormat format = DatasetFormat::kJsonLines;
  std::uint64_t samples = 1000;
  LengthRange lengths{40, 40};  ///< each sample's length is uniform among the task's lengths in the range
  std::uint64_t seed = 1;
  std::uint64_t first_index = 0;  ///< samples first_index … first_index + samples − 1: shards of one data set
  bool numbers = false;           ///< tokens and labels as indices instead of names
  bool header = true;
  std::function<void(std::uint64_t)> progress;  ///< samples written so far; may throw Interrupted
};

/// Throws InputError listing the names: "jsonl", "csv".
DatasetFormat parse_dataset_format(std::string_view name);

/// The length of sample `index`. Throws InputError when the task has no length in the range.
std::uint64_t sample_length(const Task& task, const DatasetOptions& options, std::uint64_t index);

/// Writes the data set; the same options give the same bytes on every machine. Every sample is drawn twice, once for
/// its tokens and once for its targets, so memory does not grow with lengths or samples. Throws SystemError when the
/// stream refuses bytes.
void write_dataset(const Task& task, const DatasetOptions& options, std::ostream& out);

}  // namespace krohn
