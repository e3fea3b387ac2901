#include "krohn/simulate/prove/pairs/network_automaton.h"

#include <utility>

#include "krohn/automata/dfa/tabulate.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
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

}  // namespace krohn
