#include "krohn/simulate/prove/pairs/certify_reachable.h"

#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_claims.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

/// The network has to answer with the automaton's state after every letter.
struct EveryState {
  const Dfa& automaton;

  State initial(State) const { return automaton.initial(); }
  bool is_right_at_start(State answer) const { return answer == automaton.initial(); }
  bool may_follow(State, Letter) const { return true; }
  bool is_asked(State, Letter) const { return true; }
  State next(State state, Letter letter, State) const { return automaton.next(state, letter); }
  bool is_right(State after, State answer) const { return after == answer; }
};

template <class Arithmetic>
PairSearchEnd search(const Network& network, const CertifyOptions& options) {
  NetworkMachine<Arithmetic> machine(network, options.form);
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.max_bytes = options.max_bytes;
  limits.progress = options.progress;
  return ReachablePairs(machine, EveryState{network.automaton}, limits).run();
}

}  // namespace

Certificate certify_reachable_set(const Network& network, const CertifyOptions& options) {
  const PairSearchEnd end =
      with_arithmetic(options.arithmetic, [&](auto type) { return search<decltype(type)>(network, options); });
  switch (end.kind) {
    case PairSearchEnd::Kind::kClosed:
      return proved_by_pairs(options, end.pairs, end.length);
    case PairSearchEnd::Kind::kWrong:
      return refuted_by_pairs(options, end.pairs, end.word,
                              {{}, end.expected, end.given == kNoState ? std::nullopt : std::optional(end.given)});
    case PairSearchEnd::Kind::kLimit:
      break;
  }
  return proved_up_to_depth(options, end.pairs, end.length, end.complete, end.limit);
}

}  // namespace krohn
