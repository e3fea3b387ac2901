#include "tools/krohn/models/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"

namespace krohn {

namespace fs = std::filesystem;

namespace {

/// A language may be given as a text longer than any name of a file.
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// A folder of runs that all diverged has no model, and one that PyTorch's trainer wrote none of krohn's; the latter
/// says what can be done with it.
void refuse_without_model(const std::string& folder) {
  const fs::path record = fs::path(folder) / "run.json";
  if (!is_file(record)) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().filename().string().starts_with(kCheckpointOfRun))
        throw InputError(folder, "its training has not ended; the command that began it goes on with it");
    return;
  }
  const auto run = parse_strict_json(read_file(record.string()), record.string());
  const std::string model = run.is_object() ? run.value("model", nlohmann::json()).dump() : "";
  constexpr std::string_view kPrefix = "\"torch:";
  if (!model.starts_with(kPrefix)) {
    if (run.is_object() && run.contains("runs"))
      throw InputError(
          folder,
          "has a run.json and no parameters.safetensors: where every run diverges there is no model; train again, with "
          "smaller rates");
    return;
  }
  const std::string family = model.substr(kPrefix.size(), model.find_first_of(":\"", kPrefix.size()) - kPrefix.size());
  if (family == "rnn" || family == "gru" || family == "lstm")
    throw InputError(folder, fmt::format("PyTorch trained this model: `krohn import {}/model.safetensors --as {} "
                                         "--against TASK -o FOLDER` makes one that krohn reads",
                                         visible(folder), family));
  throw InputError(folder,
                   fmt::format("PyTorch trained this model, {}, of which nothing is proved: `python -m "
                               "krohn.rivals eval` measures it, and krohn.test tests it (docs/results/rivals.md)",
                               visible(family)));
}

}  // namespace

std::string file_of_run(const std::string& name) {
  const fs::path parameters = fs::path(name) / "parameters.safetensors";
  if (is_file(parameters)) return parameters.string();
  refuse_without_model(name);
  return name;
}

std::vector<std::string_view> files_beside_parameters() {
  std::vector<std::string_view> files = kFilesOfModels;
  for (const char* file : {"network.safetensors", "run.json"}) files.emplace_back(file);
  return files;
}

bool is_trained_model(const std::string& name) {
  return is_model_name(name) && is_file(name) && read_safetensors(name).text("format") == "krohn.model";
}

std::string forward_line(const ComparedAnswers& compared, const std::string& file) {
  if (compared.words == 0) return "not compared with its own forward pass, which --expect FILE does";
  return fmt::format("agrees with its own forward pass after {} of {}{}", counted(compared.answers, "letter"),
                     counted(compared.words, "word"), file.empty() ? "" : " in " + visible(file));
}

nlohmann::ordered_json forward_json(const ComparedAnswers& compared) {
  return {{"compared_words", compared.words}, {"compared_answers", compared.answers}};
}

TrainedSubject load_trained_subject(const std::string& name, const LanguageOptions& options) {
  TrainedModel trained = load_model(name);
  auto task = restored_task(trained.task, trained.metadata, options, name);
  std::string task_name = task->info().name;
  if (trained.metadata.contains("automaton"))
    task_name = stored_name(trained.task, input_machine(*task).automaton, options).in_words();
  return {name, std::move(trained), std::move(task), std::move(task_name)};
}

namespace {

constexpr const char* kFormat = "krohn saved run 2";
constexpr std::size_t kLargestFile = 1 << 16;

nlohmann::ordered_json to_json(const TestedWords& tested) {
  return {{"format", kFormat},   {"model", tested.model},   {"arithmetic", tested.arithmetic},
          {"form", tested.form}, {"length", tested.length}, {"words", tested.words},
          {"seed", tested.seed}};
}

std::uint64_t number(const nlohmann::json& json, const std::string& path, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned())
    throw InputError(path,
                     fmt::format("\"{}\" is not a count; the file is damaged, start again without --resume", name));
  return found->get<std::uint64_t>();
}

State state_number(const nlohmann::json& json, const std::string& path, const char* name) {
  const std::uint64_t value = number(json, path, name);
  if (value >= UINT32_MAX) throw InputError(path, fmt::format("\"{}\" is not a state: {}", name, value));
  return static_cast<State>(value);
}

}  // namespace

void save_run(const std::string& path, const TestedWords& tested, const LongComparisonState& state) {
  nlohmann::ordered_json json = to_json(tested);
  json["word"] = state.word;
  json["position"] = state.position;
  json["machine_state"] = state.machine;
  json["automaton_state"] = state.automaton;
  json["comparisons"] = state.comparisons;
  if (state.failing_at) json["failing_at"] = *state.failing_at;
  write_file(path, json.dump(2) + "\n");
}

LongComparisonState load_run(const std::string& path, const TestedWords& tested) {
  const nlohmann::json json = parse_strict_json(read_file(path, kLargestFile), path);
  if (!json.is_object()) throw InputError(path, "not a saved run of `krohn verify --save`");
  const nlohmann::ordered_json expected = to_json(tested);
  for (const auto& [name, value] : expected.items())
    if (const auto found = json.find(name); found == json.end() || nlohmann::ordered_json(*found) != value)
      throw InputError(path, fmt::format("\"{}\" is {}, but this run has {}; give the options that it was begun with",
                                         name, found == json.end() ? "missing" : found->dump(), value.dump()));
  LongComparisonState state;
  state.word = number(json, path, "word");
  state.position = number(json, path, "position");
  state.machine = state_number(json, path, "machine_state");
  state.automaton = state_number(json, path, "automaton_state");
  state.comparisons = number(json, path, "comparisons");
  if (json.contains("failing_at")) state.failing_at = number(json, path, "failing_at");
  if (state.word > tested.words || state.position > (state.word < tested.words ? tested.length : 0))
    throw InputError(path, "the saved run stands past its end; the file is damaged, start again without --resume");
  return state;
}

}  // namespace krohn
