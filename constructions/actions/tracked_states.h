// constructions/actions/tracked_states.h — what every construction starts from: the states that words reach, and the
// distinct maps that letters make of them.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// The reachable part of an automaton. Label i stands for `states[i]`, in breadth-first order, so label 0 is the
/// initial state. Letters that do the same share an action.
struct TrackedStates {
  std::vector<State> states;
  std::vector<Transformation> maps;  ///< one per action, distinct
  std::vector<Action> action_of;     ///< letter ↦ action
  std::vector<Letter> letter_of;     ///< action ↦ its first letter, for messages
  Label count() const { return static_cast<Label>(states.size()); }
};

/// O(k n).
TrackedStates tracked_states(const Dfa& automaton);

/// Whether every letter permutes the states.
bool is_group(const TrackedStates& tracked);

/// The actions as permutations. Throws InputError naming the first letter that is not a bijection and two states that
/// it merges.
std::vector<Permutation> permutations_of(const Dfa& automaton, const TrackedStates& tracked);

/// Finishes a network of one layer: sets the wiring (a letter's context is the letter, its action `tracked.action_of`)
/// and the readout (label i is `tracked.states[i]`), and validates.
Network single_layer_network(const Dfa& automaton, const TrackedStates& tracked, Layer layer, Provenance provenance);

}  // namespace krohn
