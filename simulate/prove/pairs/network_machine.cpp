#include "krohn/simulate/prove/pairs/network_machine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

/// Nothing is wrong; what the network answers is a part of its state.
struct OwnAnswers {
  State initial(State answer) const { return answer; }
  bool is_right_at_start(State) const { return true; }
  bool may_follow(State, Letter) const { return true; }
  bool is_asked(State, Letter) const { return true; }
  State next(State, Letter, State answer) const { return answer; }
  bool is_right(State, State) const { return true; }
};

/// Pairs are met in the order of their numbers and of letters, so that the table fills from its beginning.
struct TableOfSteps {
  std::vector<State> answers, table;

  void fresh(RecordSet::Index, State answer) { answers.push_back(answer); }
  void step(RecordSet::Index to) { table.push_back(to); }
};

template <class Arithmetic>
std::optional<Dfa> search(const Network& network, Form form, const NetworkAutomatonOptions& options) {
  NetworkMachine<Arithmetic> machine(network, form);
  PairLimits limits;
  limits.max_pairs = options.max_states;
  limits.max_steps = options.max_transitions;
  limits.progress = options.progress;
  ReachablePairs<NetworkMachine<Arithmetic>, OwnAnswers, TableOfSteps> pairs(machine, {}, limits);
  if (pairs.run().kind != PairSearchEnd::Kind::kClosed) return std::nullopt;
  TableOfSteps& found = pairs.witness();
  const State none = network.automaton.states();
  for (State& answer : found.answers)
    if (answer == kNoState) answer = none;
  return Dfa::moore(network.automaton.alphabet(), std::move(found.table), 0, std::move(found.answers),
                    numerals(std::uint64_t{none} + 1));
}

}  // namespace

std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options) {
  const FloatEnvironment environment;
  return with_arithmetic(arithmetic, [&](auto type) { return search<decltype(type)>(network, form, options); });
}

namespace {

/// Entries of all codewords that are compared for a margin.
constexpr std::size_t kComparedEntries = 4096;

template <class Arithmetic>
class NetworkReader final : public LetterReader {
 public:
  NetworkReader(const Network& network, Form form, std::vector<Output> outputs)
      : machine_(network, form), outputs_(std::move(outputs)), start_(machine_.words()) {
    at_start_ = answer(machine_.start(start_.data()));
  }

  Letter letters() const override { return machine_.letters(); }
  Memory start() const override { return start_; }
  Answer answer_at_start() const override { return at_start_; }
  Answer step(Letter letter, Memory& memory, bool asked) const override {
    machine_.load(memory.data());
    const Answer given = answer(machine_.step(letter, asked, memory.data()));
    if (!asked || given.output == kNoAnswer) return given;
    return {given.output, machine_.margin(kComparedEntries)};
  }

 private:
  Answer answer(State state) const {
    if (state == kNoState && !machine_.is_finite()) return {.missing = Missing::kState};
    if (state == kNoState) return {};
    return {outputs_.empty() ? state : outputs_[state], 0};
  }

  mutable NetworkMachine<Arithmetic> machine_;  // its buffers; a step changes nothing that a step depends on
  std::vector<Output> outputs_;
  Memory start_;
  Answer at_start_;
};

}  // namespace

std::unique_ptr<LetterReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                             std::vector<Output> outputs) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<LetterReader> {
    return std::make_unique<NetworkReader<decltype(type)>>(network, form, std::move(outputs));
  });
}

TrackedAutomaton every_state(const Dfa& automaton) {
  std::vector<Output> wanted(automaton.states());
  std::iota(wanted.begin(), wanted.end(), Output{0});
  return {automaton, std::move(wanted)};
}

}  // namespace krohn
