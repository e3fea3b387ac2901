// automata/families/random_automata.h — automata drawn from a seed; the same seed gives the same automaton on every
// machine.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/automata/dfa/tabulate.h"

namespace krohn {

/// `count` letter names: "a" … "z", or "a1" … "a<count>" when there are more than 26.
std::vector<std::string> letter_names(std::uint64_t count);

/// Every δ(q, letter) uniform over the m states, every state accepting with probability ½, state 0 initial. Some states
/// may be unreachable.
Dfa random_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit = {});

/// The random state machine of Ebrahimi B.1: states and letters are 0 … m−1, δ(q, σ) = π_q(σ) with a uniform
/// permutation π_q for each state. The first letter of a word *is* the initial state, so there is a state "start"
/// besides, m+1 in all; its output is "start", the others' their number. With `initial` the start state is left out and
/// the machine starts there: m states.
Dfa random_state_machine(std::uint64_t m, std::uint64_t seed, std::optional<std::uint64_t> initial = {},
                         const TableLimit& limit = {});

/// Every letter a uniform permutation of the m states, state 0 initial; the output is the state.
Dfa random_permutation_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed,
                                 const TableLimit& limit = {});

}  // namespace krohn
