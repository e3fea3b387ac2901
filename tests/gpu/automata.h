// tests/gpu/automata.h — automata for the tests of the CUDA floor.
#pragma once

#include "tests/simulate/hand_built.h"
#include "tests/testing.h"

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

/// Every letter a permutation drawn by itself: no two states ever meet.
inline Dfa random_permutations(State states, Letter letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<State> images(states), table(std::size_t{states} * letters);
  std::iota(images.begin(), images.end(), State{0});
  for (Letter letter = 0; letter < letters; ++letter) {
    std::shuffle(images.begin(), images.end(), random);
    for (State state = 0; state < states; ++state) table[std::size_t{state} * letters + letter] = images[state];
  }
  return hand_built::automaton(letters, std::move(table));
}

}  // namespace krohn
