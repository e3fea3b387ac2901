// tools/krohn/models/tasks_written.h — lists of tasks, and their data sets.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "krohn/groups/base/atomic_file.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// {"tasks": [{"name", "summary", "source", "length_unit", "train", "test", "chance"}], "languages": [{"pattern",
/// "summary", "source", "example"}]}
nlohmann::ordered_json task_list();

/// Which sample of a task.
struct SampleId {
  std::uint64_t length = 0, seed = 0, index = 0;
};

/// Writes samples one after another. Memory does not grow with their length.
class TaskWriter {
 public:
  virtual ~TaskWriter() = default;
  virtual void begin() = 0;
  virtual void write(const SampleId& id) = 0;
};

/// `jsonl`: an object per sample and line, {"length", "seed", "index", "tokens": […], "targets": […]}, with null where
/// no answer is due. The names of tokens and answers are JSON strings.
std::unique_ptr<TaskWriter> json_lines_writer(const Task& task, AtomicFile& file);

/// `csv`: a row per token, sample,length,seed,position,token,target, quoted as RFC 4180 says; the target is empty where
/// no answer is due.
std::unique_ptr<TaskWriter> csv_writer(const Task& task, AtomicFile& file);

/// The value of an option: "N" or "M..N". Throws InputError for anything else and for reversed ranges.
LengthRange parse_lengths(const std::string& text, const char* option = "--length");

}  // namespace krohn
