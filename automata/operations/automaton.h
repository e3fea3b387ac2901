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

// The subset construction.

struct DeterminiseOptions {
  std::uint64_t max_states = 10'000'000;  ///< LimitError beyond, naming `--max-states`
};

/// The complete deterministic automaton of the reachable subsets, in BFS order, the empty set as a sink when it is
/// reached. A subset is told apart by its members that matter: those from which acceptance is possible and that read a
/// letter or accept, the rest being passed by ε-moves; all with a member that by its loops accepts every word are one,
/// so that a search does not go on behind its match. O(reachable subsets · arcs) time; a subset takes one word when
/// at most 64 states matter, else one word per occupied block of 32 states. Throws LimitError past `max_states` and
/// past a table of 2^30 entries.
Dfa determinise(const Nfa& nfa, const DeterminiseOptions& options = {});

}  // namespace krohn
