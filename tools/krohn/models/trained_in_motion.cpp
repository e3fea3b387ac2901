#include <fmt/format.h>

#include <memory>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "tools/krohn/models/model_in_motion.h"

namespace krohn {

std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject subject, Precision precision) {
  const Dfa automaton = input_machine(*subject.task).automaton;
  TrackedAutomaton tracked = tracked_automaton(*subject.task, automaton);
  std::unique_ptr<LetterReader> reader = trained_machine(*subject.trained.model, *subject.task, precision);
  const auto refuse = [task = subject.task->info().name, alphabet = automaton.alphabet()](Letter letter) {
    throw InputError(
        fmt::format("no word of the task {} goes on with {} there", task, in_quotes(alphabet.name(letter))));
  };
  return reader_in_motion({std::move(reader),
                           std::move(tracked),
                           automaton,
                           {automaton.outputs().begin(), automaton.outputs().end()},
                           refuse});
}

}  // namespace krohn
