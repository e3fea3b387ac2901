// automata/operations/automaton.h — an automaton as it came: nondeterministic only where its file or expression is.
#pragma once

#include <cstdint>
#include <variant>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/nfa.h"

namespace krohn {

using Automaton = std::variant<Dfa, Nfa>;

const Alphabet& alphabet_of(const Automaton& automaton);
/// The letters over which two automata are compared: `refine(…).merged`.
Alphabet common_alphabet(const Automaton& a, const Automaton& b);

/// Throws InputError for a machine with outputs, naming `operation`, and LimitError past 2^27 arcs.
Nfa to_nfa(const Automaton& automaton, const char* operation);
/// The automaton itself, or its subset construction. Throws LimitError past `max_states` subsets.
Dfa to_dfa(const Automaton& automaton, std::uint64_t max_states);

/// The minimal deterministic automaton where it is found within some multiple of the states; otherwise the automaton
/// itself. Nothing that explodes is tried to its end.
Automaton settled(Nfa nfa);

}  // namespace krohn
