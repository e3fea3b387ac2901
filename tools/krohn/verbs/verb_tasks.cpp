// krohn tasks — labelled data sets for the state-tracking tasks of the literature.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "krohn/automata/families/families.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/tasks_written.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct TasksArguments {
  std::string name, lengths, split, to, output = "-";
  std::optional<std::uint64_t> count;
  std::uint64_t seed = 1, first = 0;
  LanguageOptions reading;
  bool list = false, json = false;
};

std::string range_in_words(const LengthRange& range) {
  return range.least == range.greatest
             ? with_thousands(range.least)
             : fmt::format("{}..{}", with_thousands(range.least), with_thousands(range.greatest));
}

int list(const TasksArguments& options) {
  if (options.json) {
    print_json(task_list());
    return kDone;
  }
  std::vector<std::vector<std::string>> task_rows = {{"task", "train", "test", "source", "what"}};
  for (const TaskInfo& task : tasks())
    task_rows.push_back({task.name, range_in_words(task.train), range_in_words(task.test), task.source, task.summary});
  std::vector<std::vector<std::string>> family_rows = {{"language", "example", "what"}};
  for (const FamilyInfo& family : families()) family_rows.push_back({family.pattern, family.example, family.summary});
  fmt::print("{}\n{}", format_table(task_rows, ""), format_table(family_rows, ""));
  return kDone;
}

LengthRange lengths_of(const TasksArguments& options, const TaskInfo& info) {
  if (!options.lengths.empty()) return parse_lengths(options.lengths);
  if (options.split == "test") return info.test;
  if (options.split == "train") return info.train;
  throw InputError("--length", "how long? Give --length N, --length M..N, or --split train|test");
}

std::uint64_t count_of(const TasksArguments& options, const TaskInfo& info) {
  if (options.count) return *options.count;
  const std::uint64_t stated = options.split == "test"    ? info.test_samples
                               : options.split == "train" ? info.train_samples
                                                          : 0;
  if (stated == 0) throw InputError("--count", "how many samples? Give --count N");
  return stated;
}

/// The task's own lengths within the range, gone through in turn.
class Lengths {
 public:
  Lengths(LengthRange range, const TaskInfo& info) : step_(info.length_step) {
    const std::uint64_t least = std::max(range.least, info.least_length);
    first_ = info.least_length + (least - info.least_length + step_ - 1) / step_ * step_;
    if (range.greatest < first_)
      throw InputError("--length",
                       fmt::format("{} has lengths from {} on{} ({})", info.name, info.least_length,
                                   step_ > 1 ? fmt::format(", in steps of {}", step_) : "", info.length_unit));
    count_ = (range.greatest - first_) / step_ + 1;
  }
  std::uint64_t operator[](std::uint64_t index) const { return first_ + index % count_ * step_; }

 private:
  std::uint64_t first_ = 0, step_, count_ = 0;
};

/// A pipe or /dev/stdout, wherever that leads: it has no ending to tell a format by.
bool is_device(const std::string& path) {
  std::error_code error;
  return path.starts_with("/dev/") ||
         (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error));
}

std::string sample_format(const TasksArguments& options) {
  if (!options.to.empty()) return options.to;
  if (options.output == "-" || is_device(options.output)) return "jsonl";
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (ending == ".csv") return "csv";
  if (ending == ".jsonl" || ending == ".ndjson") return "jsonl";
  throw InputError(options.output, "the name of a data set ends in .jsonl or .csv; or name its format by --to");
}

int write_samples(const TasksArguments& options) {
  const std::string format = sample_format(options);
  const auto task = make_task(options.name, options.reading);
  const Lengths lengths(lengths_of(options, task->info()), task->info());
  const std::uint64_t count = count_of(options, task->info());
  AtomicFile file(options.output);
  const auto writer = format == "csv" ? csv_writer(*task, file) : json_lines_writer(*task, file);
  {
    Progress progress("writing samples");
    writer->begin();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t index = options.first + i;
      writer->write({.length = lengths[index], .seed = options.seed, .index = index});
      progress.update(i + 1, count);
    }
  }
  file.commit();
  return kDone;
}

int run_tasks(const TasksArguments& options) {
  if (options.list) return list(options);
  if (options.name.empty()) throw InputError("tasks", "name a task or a language; --list prints those with names");
  return write_samples(options);
}

}  // namespace

Work add_tasks(Verb& verb) {
  const auto options = std::make_shared<TasksArguments>();
  verb.add_option("TASK", options->name, "A task of --list, or a LANGUAGE: name:…, regex:…, a file");
  verb.add_flag("--list", options->list, "Print every task and every language that has a name");
  verb.add_option("--length", options->lengths, "Length of a sample, or a range M..N").type_name("COUNT");
  verb.add_option("--split", options->split, "Lengths and count of the task's paper").one_of({"train", "test"});
  add_optional_count(verb, "--count", options->count, "How many samples");
  add_count(verb, "--first", options->first, "Index of the first sample");
  add_seed(verb, options->seed);
  verb.add_option("--to", options->to, "Format to write, instead of FILE's extension").one_of({"jsonl", "csv"});
  verb.add_option("-o,--output", options->output, "The file to write, - for standard output").type_name("FILE");
  verb.add_flag("--json", options->json, "Print --list as JSON");
  add_language_options(verb, options->reading);
  return [options] { return run_tasks(*options); };
}

}  // namespace krohn
