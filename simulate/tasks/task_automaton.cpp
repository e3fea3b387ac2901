#include "krohn/simulate/tasks/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"

namespace krohn {
namespace {

/// Letter of the task's inputs ↦ letter of the automaton.
std::vector<Letter> letters_by_name(const Alphabet& inputs, const Dfa& automaton, const std::string& task) {
  std::vector<Letter> letters;
  const auto same = same_letters(inputs, automaton.alphabet());
  for (Letter letter = 0; letter < inputs.size(); ++letter) {
    if (!same[letter])
      throw InputError(fmt::format("task {} has the letter {}, which the language does not have as one letter: {}",
                                   task, inputs.name(letter), to_string(automaton.alphabet())));
    letters.push_back(*same[letter]);
  }
  if (letters.size() != automaton.letters())
    throw InputError(
        fmt::format("task {} has fewer letters than the language: {}", task, to_string(automaton.alphabet())));
  return letters;
}

/// Output of the automaton ↦ label of the task, or kNeverGiven.
std::vector<Output> labels_by_name(const Dfa& own, const Dfa& automaton, const std::string& task) {
  std::vector<Output> labels;
  for (const std::string& name : automaton.output_names()) {
    const auto found = std::ranges::find(own.output_names(), name);
    labels.push_back(found == own.output_names().end() ? TrackedAutomaton::kNeverGiven
                                                       : static_cast<Output>(found - own.output_names().begin()));
  }
  if (std::ranges::count(labels, TrackedAutomaton::kNeverGiven) == std::ssize(labels))
    throw InputError(fmt::format("task {} has no answer of the language's: \"{}\"", task,
                                 fmt::join(automaton.output_names(), "\", \"")));
  return labels;
}

}  // namespace

TaskAutomaton input_machine(const Task& task) {
  const Dfa* const oracle = task.oracle();
  if (oracle == nullptr)
    throw InputError(
        fmt::format("task {} has no finite automaton, so there is nothing to verify against", task.info().name));
  // By place, not by name: a language may have letters that are called "=" or "[BOS]".
  const Letter letters = task.input_letters();
  std::vector<Letter> inputs(letters);
  std::iota(inputs.begin(), inputs.end(), Letter{0});
  std::vector<Symbol> symbols(oracle->alphabet().symbols().begin(), oracle->alphabet().symbols().begin() + letters);
  std::vector<State> table;
  for (State state = 0; state < oracle->states(); ++state)
    for (const Letter letter : inputs) table.push_back(oracle->next(state, letter));
  TaskAutomaton machine{Dfa::moore(Alphabet::from_symbols(std::move(symbols)), std::move(table), oracle->initial(),
                                   {oracle->outputs().begin(), oracle->outputs().end()},
                                   {oracle->output_names().begin(), oracle->output_names().end()}),
                        std::move(inputs),
                        {},
                        {}};
  // The special tokens that stand around the shortest sample, up to its last answer.
  const std::vector<TaskToken> sample = task.sample(task.info().least_length, 1, 0);
  const auto special = [&](const TaskToken& token) { return token.letter >= letters; };
  std::size_t first = 0, answered = 0;
  while (first < sample.size() && special(sample[first])) machine.before.push_back(sample[first++].letter);
  for (std::size_t i = 0; i < sample.size(); ++i)
    if (sample[i].target) answered = i;
  for (std::size_t i = first; i <= answered; ++i)
    if (special(sample[i])) machine.after.push_back(sample[i].letter);
  return machine;
}

TrackedAutomaton tracked_automaton(const Task& task, const Dfa& automaton, std::uint64_t least_length) {
  const Dfa own = input_machine(task).automaton;
  const std::optional<Dfa> asked = task.asked_inputs(least_length);
  if (!asked) throw InputError(fmt::format("task {} does not say which words it asks about", task.info().name));
  const std::vector<Letter> letters = letters_by_name(own.alphabet(), automaton, task.info().name);
  const std::vector<Output> labels = labels_by_name(own, automaton, task.info().name);
  const State dead = asked->states() > 1 ? asked->states() - 1 : asked->states();

  std::map<std::pair<State, State>, State> known;
  std::vector<std::pair<State, State>> pairs;
  const auto number = [&](State state, State place) {
    const auto [at, fresh] = known.emplace(std::pair(place == dead ? 0 : state, place), known.size());
    if (fresh) pairs.push_back(at->first);
    return at->second;
  };
  number(automaton.initial(), asked->initial());
  std::vector<State> table;
  std::vector<Output> outputs, wanted;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [state, place] = pairs[i];
    for (Letter letter = 0; letter < own.letters(); ++letter)
      table.push_back(number(automaton.next(state, letters[letter]), asked->next(place, letter)));
    outputs.push_back(automaton.output(state));
    wanted.push_back(place == dead           ? TrackedAutomaton::kNoSuchWord
                     : asked->accepts(place) ? labels[automaton.output(state)]
                                             : TrackedAutomaton::kNotAsked);
  }
  return {Dfa::moore(own.alphabet(), std::move(table), 0, std::move(outputs),
                     {automaton.output_names().begin(), automaton.output_names().end()}),
          std::move(wanted)};
}

namespace {

constexpr char kOracle[] = "oracle", kAutomaton[] = "automaton", kGenerators[] = "generators";
constexpr std::size_t kMaxText = std::size_t{4} << 20;

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
  if (arcs > kMaxText / 2) return metadata;  // an arc takes a digit and a comma
  std::string text = write_json(*task.oracle());
  if (text.size() <= kMaxText) metadata[kAutomaton] = std::move(text);
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
