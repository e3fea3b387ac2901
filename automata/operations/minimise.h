// automata/operations/minimise.h — the least automaton with the same outputs, in canonical numbering.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/nfa.h"

namespace krohn {

/// The minimal automaton: unreachable states dropped, states with the same future outputs merged (rounds of signatures
/// as in Moore 1956 while they pay, then Hopcroft 1971 from the partition reached), numbered canonically. Two automata
/// over one alphabet and with the same output names compute the same function exactly when their minimal automata are
/// `==`. A merged state takes the name of its first member in breadth-first order. O(k n log n) time; memory is stated
/// in minimise.cpp.
Dfa minimise(const Dfa& dfa);

/// Reachable states only, renumbered in breadth-first order from the initial state, letters in alphabet order. Two
/// isomorphic automata become identical. State names follow their states. O(k n).
Dfa canonical(const Dfa& dfa);

/// Brzozowski's minimiser (reverse, determinise, twice), for acceptors; independent of `minimise`, for tests and
/// cross-checks. Exponential at worst: throws LimitError past `max_states`.
Dfa minimise_brzozowski(const Dfa& dfa, std::uint64_t max_states = 10'000'000);

/// Moore's refinement by whole signatures, O(k n²): the obvious reference.
Dfa reference_minimise(const Dfa& dfa);

}  // namespace krohn
