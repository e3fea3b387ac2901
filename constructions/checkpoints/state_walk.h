// constructions/checkpoints/state_walk.h — a letter to go on with from every state.
#pragma once

#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// For every state a letter, such that going on by them from the initial state meets many states before any of them
/// again: to a state not met yet where there is one, and of these to the one with the fewest such successors
/// (Warnsdorff). A heuristic. O(states · letters²).
std::vector<Letter> state_walk(const Dfa& automaton);

}  // namespace krohn
