#include "krohn/automata/operations/nfa_parts.h"

#include "krohn/automata/operations/determinise.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/minimise.h"

namespace krohn {

State add_copy(Nfa& nfa, const Dfa& dfa, const std::vector<std::optional<Letter>>& letters) {
  const std::vector<bool> useful = coaccessible_states(dfa);
  const State first = nfa.states();
  for (State state = 0; state < dfa.states(); ++state) nfa.add_state(dfa.accepts(state));
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < letters.size(); ++letter) {
      if (!letters[letter]) continue;
      const State target = dfa.next(state, *letters[letter]);
      if (useful[target]) nfa.add_arc(first + state, letter, first + target);
    }
  return first;
}

Dfa minimal_of(const Nfa& nfa, std::uint64_t max_states) {
  DeterminiseOptions options;
  options.max_states = max_states;
  return minimise(determinise(nfa, options));
}

}  // namespace krohn
