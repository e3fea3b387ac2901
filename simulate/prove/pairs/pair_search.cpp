#include "krohn/simulate/prove/pairs/pair_search.h"

#include <fmt/format.h>

#include <utility>

#include "krohn/groups/base/messages.h"
#include "krohn/simulate/prove/pairs/network_machine.h"

namespace krohn {
namespace {

Certificate begin_certificate(const CertifyOptions& options, Claim claim, std::uint64_t pairs) {
  Certificate certificate;
  certificate.claim = std::move(claim);
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed reachable set";
  certificate.pairs = pairs;
  return certificate;
}

}  // namespace

Certificate proved_by_pairs(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t depth) {
  Certificate certificate = begin_certificate(options, Proved{}, pairs);
  certificate.proof = ReachedPairs{pairs, depth};
  certificate.evidence = fmt::format(
      "words reach {} of an automaton state and a network state, all by words of at most {}, and the "
      "network is right on every one",
      counted(pairs, "pair"), counted(depth, "letter"));
  return certificate;
}

Certificate refuted_by_pairs(const CertifyOptions& options, std::uint64_t pairs, Word word, const FailingRun& run) {
  const std::string evidence = fmt::format("breadth-first search met a wrong answer after {} and {}",
                                           counted(word.size(), "letter"), counted(pairs, "pair"));
  Certificate certificate = begin_certificate(options, Refuted{std::move(word), /*shortest=*/true}, pairs);
  certificate.evidence = evidence;
  certificate.proof = run;
  return certificate;
}

Certificate proved_up_to_depth(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t length,
                               std::uint64_t complete, std::string limit) {
  Certificate certificate = begin_certificate(options, ProvedUpTo{length}, pairs);
  certificate.proof = ReachedPairs{complete, length - 1};
  certificate.evidence = fmt::format("the network is right on all words of up to {}; the search over {} did not end",
                                     counted(length, "letter"), counted(pairs, "pair"));
  certificate.limit = std::move(limit);
  return certificate;
}

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
