// tests/gpu/automata.h — automata for the tests of the CUDA floor.
#pragma once

#include <random>

#include "tests/simulate/hand_built.h"

namespace krohn {

/// `states` states in a circle; letter k moves k steps on.
inline Dfa circle(State states, Letter letters) {
  return hand_built::counter(states, hand_built::all_residues(letters));
}

/// Every transition drawn by itself.
inline Dfa random_automaton(State states, Letter letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return hand_built::random_automaton(random, states, letters);
}

}  // namespace krohn
