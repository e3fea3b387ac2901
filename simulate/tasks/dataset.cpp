#include "krohn/simulate/tasks/dataset.h"

#include <fmt/format.h>

#include <ostream>

#include "krohn/automata/dfa/symbol_names.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

std::string json_string(const std::string& text) { return nlohmann::json(text).dump(); }

std::string quoted_field(const std::string& text) {
  std::string field;
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field;
}

/// What is written for each token and label, once for the whole data set.
struct Vocabulary {
  std::vector<std::string> tokens, labels;
};

Vocabulary vocabulary_of(const Task& task, const DatasetOptions& options) {
  const bool json = options.format == DatasetFormat::kJsonLines;
  const auto spell = [&](const std::string& name, std::size_t index) {
    if (options.numbers) return std::to_string(index);
    return json ? json_string(name) : quoted_field(protected_name(name, true));
  };
  Vocabulary vocabulary;
  for (Letter letter = 0; letter < task.alphabet().size(); ++letter)
    vocabulary.tokens.push_back(spell(task.alphabet().name(letter), letter));
  for (std::size_t label = 0; label < task.labels().size(); ++label)
    vocabulary.labels.push_back(spell(task.labels()[label], label));
  return vocabulary;
}

class Writer {
 public:
  Writer(const Task& task, const DatasetOptions& options, std::ostream& out)
      : task_(task), options_(options), out_(out), words_(vocabulary_of(task, options)) {}

  void write_header() {
    if (options_.format == DatasetFormat::kCsv) {
      out_ << "index,length,input,targets\n";
      return;
    }
    std::vector<std::string> tokens;
    for (const Symbol& symbol : task_.alphabet().symbols()) tokens.push_back(symbol.name);
    const nlohmann::ordered_json header = {
        {"task", task_.info().name},
        {"source", task_.info().source},
        {"seed", options_.seed},
        {"samples", options_.samples},
        {"lengths", {options_.lengths.least, options_.lengths.greatest}},
        {"length_unit", task_.info().length_unit},
        {"chance", task_.info().chance},
        {"tokens", tokens},
        {"labels", std::vector<std::string>(task_.labels().begin(), task_.labels().end())}};
    out_ << header.dump() << '\n';
  }

  void write_sample(std::uint64_t index) {
    const std::uint64_t length = sample_length(task_, options_, index);
    if (options_.format == DatasetFormat::kJsonLines) {
      out_ << "{\"index\":" << index << ",\"length\":" << length << ",\"input\":[";
      write_tokens(index, length, ",");
      out_ << "],\"targets\":[";
      write_targets(index, length, ",", "null");
      out_ << "]}\n";
    } else {
      out_ << index << ',' << length << ",\"";
      write_tokens(index, length, " ");
      out_ << "\",\"";
      write_targets(index, length, " ", "_");
      out_ << "\"\n";
    }
  }

 private:
  void write_tokens(std::uint64_t index, std::uint64_t length, const char* separator) {
    const auto stream = task_.open(length, options_.seed, index);
    const char* between = "";
    while (const auto token = stream->next()) {
      out_ << between << words_.tokens[token->letter];
      between = separator;
    }
  }
  void write_targets(std::uint64_t index, std::uint64_t length, const char* separator, const char* none) {
    const auto stream = task_.open(length, options_.seed, index);
    const char* between = "";
    while (const auto token = stream->next()) {
      out_ << between;
      if (token->target)
        out_ << words_.labels[*token->target];
      else
        out_ << none;
      between = separator;
    }
  }

  const Task& task_;
  const DatasetOptions& options_;
  std::ostream& out_;
  Vocabulary words_;
};

void check(const std::ostream& out) {
  if (!out)
    throw SystemError("the data set could not be written: the output refuses bytes (disk full or pipe closed?)");
}

}  // namespace

DatasetFormat parse_dataset_format(std::string_view name) {
  if (name == "jsonl" || name == "json") return DatasetFormat::kJsonLines;
  if (name == "csv") return DatasetFormat::kCsv;
  throw InputError(fmt::format("unknown data set format \"{}\"; formats are jsonl and csv", name));
}

std::uint64_t sample_length(const Task& task, const DatasetOptions& options, std::uint64_t index) {
  const TaskInfo& info = task.info();
  const auto [least, greatest] = options.lengths;
  const std::uint64_t step = info.length_step;
  const std::uint64_t first = least <= info.least_length
                                  ? info.least_length
                                  : info.least_length + (least - info.least_length + step - 1) / step * step;
  if (greatest < first)
    throw InputError(fmt::format("task {} has no length from {} to {}; lengths are {}{} and up", info.name, least,
                                 greatest, info.least_length,
                                 step == 1 ? "" : fmt::format(", {}, …", info.least_length + step)));
  const std::uint64_t choices = (greatest - first) / step + 1;
  if (choices > UINT32_MAX) throw InputError("a range of lengths holds at most 2^32 − 1 of them");
  // A stream of its own, far from the samples' streams 0, 1, 2, ….
  constexpr std::uint64_t kLengthStream = UINT64_MAX;
  return first + step * RandomWord(static_cast<Letter>(choices), options.seed, kLengthStream).at(index);
}

void write_dataset(const Task& task, const DatasetOptions& options, std::ostream& out) {
  Writer writer(task, options, out);
  if (options.header) writer.write_header();
  for (std::uint64_t done = 0; done < options.samples; ++done) {
    writer.write_sample(options.first_index + done);
    check(out);
    if (options.progress) options.progress(done + 1);
  }
  out.flush();
  check(out);
}

}  // namespace krohn
