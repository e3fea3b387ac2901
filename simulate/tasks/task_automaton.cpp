#include "krohn/simulate/tasks/task_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "krohn/automata/dfa/same_letters.h"
#include "krohn/groups/error.h"

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

}  // namespace krohn
