#include "tools/krohn/models/tasks_written.h"

#include <fmt/format.h>

#include "krohn/automata/families/families.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/report/output.h"

namespace krohn {

nlohmann::ordered_json task_list() {
  nlohmann::ordered_json json;
  for (const TaskInfo& task : tasks())
    json["tasks"].push_back({{"name", task.name},
                             {"summary", task.summary},
                             {"source", task.source},
                             {"length_unit", task.length_unit},
                             {"train", {{"least", task.train.least}, {"greatest", task.train.greatest}}},
                             {"test", {{"least", task.test.least}, {"greatest", task.test.greatest}}},
                             {"chance", task.chance}});
  for (const FamilyInfo& family : families())
    json["languages"].push_back({{"pattern", family.pattern},
                                 {"summary", family.summary},
                                 {"source", family.source},
                                 {"example", family.example}});
  return json;
}

namespace {

constexpr std::uint64_t kTokensBetweenChecks = 1 << 16;

std::string json_string(const std::string& text) { return nlohmann::json(text).dump(); }

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// The names of all letters and labels, as the format writes them: made once, used for every token.
template <class Format>
class Names {
 public:
  Names(const Task& task, Format format) {
    for (const Symbol& symbol : task.alphabet().symbols()) tokens_.push_back(format(symbol.name));
    for (const std::string& label : task.labels()) labels_.push_back(format(label));
  }
  const std::string& token(const TaskToken& token) const { return tokens_[token.letter]; }
  const std::string& target(const TaskToken& token, const std::string& none) const {
    return token.target ? labels_[*token.target] : none;
  }

 private:
  std::vector<std::string> tokens_, labels_;
};

/// Calls `body(position, token)` for every token, polling for Ctrl-C.
template <class Body>
void for_each_token(const Task& task, const SampleId& id, Body&& body) {
  const auto stream = task.open(id.length, id.seed, id.index);
  std::uint64_t position = 0;
  while (const auto token = stream->next()) {
    if (position % kTokensBetweenChecks == 0) Interruption::check();
    body(position++, *token);
  }
}

class JsonLinesWriter final : public TaskWriter {
 public:
  JsonLinesWriter(const Task& task, AtomicFile& file) : task_(task), file_(file), names_(task, json_string) {}

  void begin() override {}

  void write(const SampleId& id) override {
    file_.write(fmt::format(R"({{"length":{},"seed":{},"index":{},"tokens":[)", id.length, id.seed, id.index));
    for_each_token(task_, id, [this](std::uint64_t position, const TaskToken& token) {
      if (position > 0) file_.write(",");
      file_.write(names_.token(token));
    });
    file_.write("],\"targets\":[");
    for_each_token(task_, id, [this](std::uint64_t position, const TaskToken& token) {
      if (position > 0) file_.write(",");
      file_.write(names_.target(token, null_));
    });
    file_.write("]}\n");
  }

 private:
  const Task& task_;
  AtomicFile& file_;
  Names<decltype(&json_string)> names_;
  std::string null_ = "null";
};

class CsvWriter final : public TaskWriter {
 public:
  CsvWriter(const Task& task, AtomicFile& file) : task_(task), file_(file), names_(task, csv_field) {}

  void begin() override { file_.write("sample,length,seed,position,token,target\n"); }

  void write(const SampleId& id) override {
    for_each_token(task_, id, [this, &id](std::uint64_t position, const TaskToken& token) {
      file_.write(fmt::format("{},{},{},{},{},{}\n", id.index, id.length, id.seed, position + 1, names_.token(token),
                              names_.target(token, empty_)));
    });
  }

 private:
  const Task& task_;
  AtomicFile& file_;
  Names<decltype(&csv_field)> names_;
  std::string empty_;
};

}  // namespace

std::unique_ptr<TaskWriter> json_lines_writer(const Task& task, AtomicFile& file) {
  return std::make_unique<JsonLinesWriter>(task, file);
}

std::unique_ptr<TaskWriter> csv_writer(const Task& task, AtomicFile& file) {
  return std::make_unique<CsvWriter>(task, file);
}

LengthRange parse_lengths(const std::string& text, const char* option) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    const std::uint64_t length = parse_count(text, option);
    return {length, length};
  }
  const LengthRange range = {parse_count(text.substr(0, dots), option), parse_count(text.substr(dots + 2), option)};
  if (range.least > range.greatest) throw InputError(option, fmt::format("the range {} is reversed", text));
  return range;
}

}  // namespace krohn
