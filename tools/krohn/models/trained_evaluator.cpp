#include "tools/krohn/models/trained_evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/machine/reader_run.h"

namespace krohn {
namespace {

/// The state that threads share.
struct Loaded {
  Loaded(TrainedSubject given, Precision precision)
      : subject(std::move(given)),
        automaton(input_machine(*subject.task).automaton),
        tracked(tracked_automaton(*subject.task, automaton)),
        reader(trained_machine(*subject.trained.model, *subject.task, precision)) {}

  TrainedSubject subject;
  Dfa automaton;
  TrackedAutomaton tracked;
  std::unique_ptr<TrainedReader> reader;
};

class TrainedEvaluator final : public Evaluator {
 public:
  explicit TrainedEvaluator(std::shared_ptr<const Loaded> loaded)
      : loaded_(std::move(loaded)), run_(*loaded_->reader, loaded_->tracked), state_(loaded_->automaton.initial()) {}

  void reset() override {
    run_ = ReaderRun(*loaded_->reader, loaded_->tracked);
    state_ = loaded_->automaton.initial();
  }

  std::optional<State> step(Letter letter) override {
    if (!run_.read(letter))
      throw InputError(fmt::format("no word of the task {} goes on with {} there", loaded_->subject.task->info().name,
                                   in_quotes(loaded_->automaton.alphabet().name(letter))));
    state_ = loaded_->automaton.next(state_, letter);
    return current();
  }

  void run(std::span<const Letter> letters, std::span<State> states) override {
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = step(letters[t]).value_or(kNoState);
  }

  std::optional<State> current() const override {
    const Dfa& automaton = loaded_->automaton;
    if (!run_.is_asked() || run_.answer().output == automaton.output(state_)) return state_;
    for (State state = 0; state < automaton.states(); ++state)
      if (automaton.output(state) == run_.answer().output) return state;
    return std::nullopt;
  }

  LetterReader::Missing missing() const override { return run_.answer().missing; }

  std::vector<double> numbers() const override {
    std::vector<double> numbers;
    for (const std::vector<double>& part : loaded_->reader->states(run_.memory()))
      numbers.insert(numbers.end(), part.begin(), part.end());
    return numbers;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<TrainedEvaluator>(loaded_); }

 private:
  std::shared_ptr<const Loaded> loaded_;
  ReaderRun run_;
  State state_;  ///< the automaton's
};

}  // namespace

std::unique_ptr<Evaluator> trained_evaluator(TrainedSubject subject, Precision precision) {
  return std::make_unique<TrainedEvaluator>(std::make_shared<const Loaded>(std::move(subject), precision));
}

}  // namespace krohn
