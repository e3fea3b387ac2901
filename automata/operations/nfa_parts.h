// automata/operations/nfa_parts.h — what operations that pass through nondeterminism share: copies of operands, and the
// way back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/nfa.h"

namespace krohn {

/// Adds the states of the acceptor to `nfa`, read over its alphabet, and returns the number of the first. Arcs into
/// states from which nothing is accepted are left out, so that subsets never tell those states apart. No initial state.
State add_copy(Nfa& nfa, const Dfa& dfa, const std::vector<std::optional<Letter>>& letters);

/// The minimal automaton of the language. Throws LimitError past `max_states` subsets.
Dfa minimal_of(const Nfa& nfa, std::uint64_t max_states);

}  // namespace krohn
