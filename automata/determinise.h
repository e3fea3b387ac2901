// automata/determinise.h — the subset construction.
#pragma once

#include <cstdint>

#include "automata/dfa.h"
#include "automata/nfa.h"

namespace krohn {

struct DeterminiseOptions {
  std::uint64_t max_states = 10'000'000;  ///< LimitError beyond, naming `--max-states`
};

/// The complete deterministic automaton of the reachable subsets, in BFS order, the empty set as a sink when it is
/// reached. O(reachable subsets · arcs). Throws LimitError past `max_states`.
Dfa determinise(const Nfa& nfa, const DeterminiseOptions& options = {});

}  // namespace krohn
