#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_parts.h"
#include "krohn/automata/operations/operations.h"

namespace krohn {
namespace {

Nfa plus_nfa(const Dfa& dfa, const char* operation) {
  require_acceptor(dfa, operation);
  Nfa nfa(dfa.alphabet());
  add_copy(nfa, dfa, refine(dfa.alphabet(), dfa.alphabet()).in_a);
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) nfa.add_epsilon(state, dfa.initial());
  nfa.add_initial(dfa.initial());
  return nfa;
}

}  // namespace

Dfa concatenation(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  require_acceptor(a, "concatenation");
  require_acceptor(b, "concatenation");
  const AlphabetRefinement common = refine(a.alphabet(), b.alphabet());
  Nfa nfa(common.merged);
  const State first_a = add_copy(nfa, a, common.in_a), first_b = add_copy(nfa, b, common.in_b);
  for (State state = 0; state < a.states(); ++state)
    if (a.accepts(state)) {
      nfa.set_accepting(first_a + state, false);
      nfa.add_epsilon(first_a + state, first_b + b.initial());
    }
  nfa.add_initial(first_a + a.initial());
  return minimal_of(nfa, max_states);
}

Dfa star(const Dfa& dfa, std::uint64_t max_states) {
  Nfa nfa = plus_nfa(dfa, "star");
  nfa.add_initial(nfa.add_state(true));  // the empty word, without accepting where `dfa` comes back to its start
  return minimal_of(nfa, max_states);
}

Dfa plus(const Dfa& dfa, std::uint64_t max_states) { return minimal_of(plus_nfa(dfa, "plus"), max_states); }

Nfa reverse_nfa(const Dfa& dfa) {
  require_acceptor(dfa, "reversal");
  Nfa nfa(dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state) nfa.add_state(state == dfa.initial());
  const State start = nfa.add_state();
  nfa.add_initial(start);
  for (State state = 0; state < dfa.states(); ++state) {
    for (Letter letter = 0; letter < dfa.letters(); ++letter) nfa.add_arc(dfa.next(state, letter), letter, state);
    if (dfa.accepts(state)) nfa.add_epsilon(start, state);
  }
  return nfa;
}

Dfa reverse(const Dfa& dfa, std::uint64_t max_states) { return minimal_of(reverse_nfa(canonical(dfa)), max_states); }

}  // namespace krohn
