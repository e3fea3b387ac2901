#include "krohn/automata/operations/emptiness.h"

#include "krohn/automata/dfa/breadth_first.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/operations/product.h"

namespace krohn {

std::vector<bool> coaccessible_states(const Dfa& dfa) {
  require_acceptor(dfa, "coaccessibility");
  // Arcs backwards, letters forgotten: the sources of q are sources[first[q]] … sources[first[q + 1] − 1].
  std::vector<std::size_t> first(std::size_t{dfa.states()} + 1, 0);
  for (const State target : dfa.table()) ++first[target];
  std::size_t end = 0;
  for (std::size_t& offset : first) offset = end += offset;
  std::vector<State> sources(dfa.table().size());
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state)) sources[--first[target]] = state;

  std::vector<bool> coaccessible(dfa.states(), false);
  std::vector<State> queue;
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) {
      coaccessible[state] = true;
      queue.push_back(state);
    }
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::size_t j = first[queue[i]]; j < first[queue[i] + 1]; ++j)
      if (!coaccessible[sources[j]]) {
        coaccessible[sources[j]] = true;
        queue.push_back(sources[j]);
      }
  return coaccessible;
}

std::optional<Word> shortest_accepted_word(const Dfa& dfa) {
  require_acceptor(dfa, "the shortest accepted word");
  const ShortestWords words(dfa);
  for (const State state : words.states())
    if (dfa.accepts(state)) return words.to(state);
  return std::nullopt;
}

bool is_empty(const Dfa& dfa) { return !shortest_accepted_word(dfa); }

bool is_universal(const Dfa& dfa) {
  require_acceptor(dfa, "universality");
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state)
    if (reachable[state] && !dfa.accepts(state)) return false;
  return true;
}

bool is_finite(const Dfa& dfa) {
  const std::vector<bool> coaccessible = coaccessible_states(dfa);
  const Components components = strongly_connected_components(dfa);
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state) {
    if (!reachable[state] || !coaccessible[state]) continue;
    for (const State target : dfa.row(state))
      if (components.of[target] == components.of[state]) return false;
  }
  return true;
}

}  // namespace krohn
