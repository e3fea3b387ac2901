#include "krohn/simulate/tasks/stored_task.h"

#include <fmt/format.h>

#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/fingerprint.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

constexpr char kOracle[] = "oracle", kAutomaton[] = "automaton", kGenerators[] = "generators";
constexpr std::size_t kMostText = std::size_t{4} << 20;

std::string oracle_of(const Task& task) {
  return task.oracle() == nullptr ? "" : fingerprint(canonical_automaton(*task.oracle()));
}

}  // namespace

std::map<std::string, std::string> stored_task(const Task& task, const LanguageOptions& options) {
  std::map<std::string, std::string> metadata;
  if (options.generators) metadata[kGenerators] = *options.generators;
  if (task.oracle() == nullptr) return metadata;
  metadata[kOracle] = oracle_of(task);
  if (!is_language_name(task.info().name)) return metadata;
  const std::uint64_t arcs = std::uint64_t{task.oracle()->states()} * task.oracle()->letters();
  if (arcs > kMostText / 2) return metadata;  // an arc takes a digit and a comma
  std::string text = write_json(*task.oracle());
  if (text.size() <= kMostText) metadata[kAutomaton] = std::move(text);
  return metadata;
}

std::unique_ptr<Task> restored_task(const std::string& name, const std::map<std::string, std::string>& metadata,
                                    const LanguageOptions& options, const std::string& where) {
  const auto text_of = [&](const char* key) -> std::optional<std::string> {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::nullopt : std::optional(found->second);
  };
  const std::optional<std::string> oracle = text_of(kOracle), automaton = text_of(kAutomaton);
  if (automaton) {
    auto task = language_task(name, to_dfa(read_json(*automaton, where), where));
    if (oracle != oracle_of(*task))
      throw InputError(where, "its automaton is not the one that its \"oracle\" tells of");
    return task;
  }
  LanguageOptions own = options;
  if (oracle && !is_language_name(name)) {
    own = LanguageOptions{};
    own.generators = text_of(kGenerators);
    own.max_states = options.max_states;
  }
  auto task = make_task(name, own);
  if (oracle && oracle != oracle_of(*task))
    throw InputError(where,
                     fmt::format("the model was made for another automaton than {} is now: give the options that "
                                 "it was read with then (--alphabet, --symbols, …), or the file as it was",
                                 in_quotes(name)));
  return task;
}

}  // namespace krohn
