#include "krohn/automata/words/count.h"

#include <algorithm>
#include <limits>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/words/accepted_words.h"

namespace krohn {

CountingGraph::CountingGraph(const Dfa& dfa) {
  constexpr State kUseless = std::numeric_limits<State>::max();
  const Dfa reachable = canonical(dfa);
  const std::vector<bool> useful = coaccessible_states(reachable);
  std::vector<State> number(reachable.states(), kUseless);
  const std::vector<std::uint64_t> texts = spellings(dfa.alphabet());
  State states = 0;
  for (State state = 0; state < reachable.states(); ++state)
    if (useful[state]) number[state] = states++;
  arcs_.resize(states);
  for (State state = 0; state < reachable.states(); ++state) {
    if (!useful[state]) continue;
    accepting_.push_back(reachable.accepts(state));
    std::vector<std::pair<State, Letter>> targets;
    for (Letter letter = 0; letter < reachable.letters(); ++letter)
      if (const State target = reachable.next(state, letter); useful[target]) targets.emplace_back(target, letter);
    std::sort(targets.begin(), targets.end());
    std::vector<Arc>& arcs = arcs_[number[state]];
    for (const auto& [target, letter] : targets) {
      if (arcs.empty() || arcs.back().target != number[target]) arcs.push_back({number[target], 0});
      arcs.back().multiplicity += texts[letter];
    }
  }
}

std::vector<Count> CountingGraph::counts_of_empty_word() const {
  return std::vector<Count>(accepting_.begin(), accepting_.end());
}

std::vector<Count> CountingGraph::one_letter_more(const std::vector<Count>& counts) const {
  std::vector<Count> result(states());
  for (State state = 0; state < states(); ++state)
    for (const Arc& arc : arcs_[state]) {
      if (arc.multiplicity == 1)
        result[state] += counts[arc.target];
      else
        result[state] += counts[arc.target] * arc.multiplicity;
    }
  return result;
}

std::vector<Count> count_words_by_length(const Dfa& dfa, std::uint64_t max_length) {
  const CountingGraph graph(dfa);
  std::vector<Count> result, counts = graph.counts_of_empty_word();
  for (std::uint64_t length = 0; length <= max_length; ++length) {
    if (length > 0) counts = graph.one_letter_more(counts);
    result.push_back(graph.states() == 0 ? Count(0) : counts[0]);
  }
  return result;
}

}  // namespace krohn
