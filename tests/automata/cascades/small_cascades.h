// tests/automata/cascades/small_cascades.h — what the tests of both ways to cut a cascade into simpler layers need.
#pragma once

#include <doctest/doctest.h>

#include "krohn/groups/permutations/permutation.h"
#include "tests/automata/cascades/checked_cascades.h"

namespace krohn {

inline Dfa from_cycles(std::initializer_list<const char*> letters, Point degree) {
  Maps maps;
  for (const char* text : letters) {
    const Permutation p = parse_cycles(text, degree);
    maps.emplace_back(p.images().begin(), p.images().end());
  }
  return automaton(maps, degree);
}

/// Cuts, by `checked(automaton, cascade)`, both decompositions of every automaton with two letters and at most three
/// states, and of 400 random ones with four.
template <class Checked>
void check_small_automata(unsigned seed, Checked checked) {
  const auto both = [&](const Dfa& dfa) {
    checked(dfa, holonomy_decomposition(dfa));
    checked(dfa, chain_decomposition(dfa));
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, both);
  std::mt19937 random(seed);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    both(random_automaton(random, 4, 2));
  }
}

}  // namespace krohn
