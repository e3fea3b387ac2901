#include "tools/krohn/models/saved_run.h"

#include <fmt/format.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

namespace krohn {
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
  const nlohmann::json json = nlohmann::json::parse(read_file(path, kLargestFile), nullptr, false);
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
  if (state.word > tested.words || state.position > tested.length)
    throw InputError(path, "the saved run stands past its end; the file is damaged, start again without --resume");
  return state;
}

}  // namespace krohn
