// tests/automata/bestiary.h — small automata that decompositions are tried on.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

using Maps = std::vector<std::vector<State>>;

/// letter ↦ (state ↦ state); accepting states do not matter to a cascade.
inline Dfa automaton(const Maps& maps, State states, State initial = 0) {
  std::vector<std::string> names;
  for (std::size_t letter = 0; letter < maps.size(); ++letter) names.push_back("l" + std::to_string(letter));
  std::vector<State> table(std::size_t{states} * maps.size());
  for (State q = 0; q < states; ++q)
    for (std::size_t letter = 0; letter < maps.size(); ++letter) table[q * maps.size() + letter] = maps[letter][q];
  return Dfa::acceptor(Alphabet::from_names(names), std::move(table), initial, std::vector<bool>(states, false));
}

inline Dfa random_automaton(std::mt19937& random, State states, Letter letters) {
  Maps maps(letters, std::vector<State>(states));
  for (auto& map : maps)
    for (State& image : map) image = static_cast<State>(random() % states);
  return automaton(maps, states);
}

/// A cycle, a transposition and a map of rank n−1: they generate all of T_n.
inline Dfa full_transformation_monoid(State n) {
  Maps maps(3, std::vector<State>(n));
  for (auto& map : maps) std::iota(map.begin(), map.end(), State{0});
  std::rotate(maps[0].begin(), maps[0].begin() + 1, maps[0].end());
  std::swap(maps[1][0], maps[1][1]);
  maps[2][0] = 1;
  return automaton(maps, n);
}

/// One letter, q ↦ q + 1 modulo m.
inline Dfa cycle(State m) {
  Maps maps(1, std::vector<State>(m));
  for (State q = 0; q < m; ++q) maps[0][q] = (q + 1) % m;
  return automaton(maps, m);
}

/// A cycle and a transposition.
inline Dfa symmetric_group(State n) {
  Maps maps(2, std::vector<State>(n));
  for (State q = 0; q < n; ++q) {
    maps[0][q] = (q + 1) % n;
    maps[1][q] = q < 2 ? 1 - q : q;
  }
  return automaton(maps, n);
}

/// Sums of products modulo m, × before + and −: (finished terms a, running product t), m² states.
inline Dfa modular_arithmetic(State m) {
  const State n = m * m;
  Maps maps(m + 3, std::vector<State>(n));
  for (State q = 0; q < n; ++q) {
    const State a = q / m, t = q % m, closed = (a + t) % m * m;
    for (State digit = 0; digit < m; ++digit) maps[digit][q] = a * m + t * digit % m;
    maps[m][q] = closed + 1 % m;      // +
    maps[m + 1][q] = closed + m - 1;  // −
    maps[m + 2][q] = q;               // ×
  }
  return automaton(maps, n, 1 % m);
}

struct Tomita {
  const char* language;
  Maps maps;  ///< for 0 and 1
};
inline const Tomita kTomita[] = {
    {"1*", {{1, 1}, {0, 1}}},
    {"(10)*", {{2, 0, 2}, {1, 2, 2}}},
    {"no odd run of 0s after an odd run of 1s", {{0, 2, 1, 4, 4}, {1, 0, 3, 2, 4}}},
    {"no 000", {{1, 2, 3, 3}, {0, 0, 0, 3}}},
    {"even 0s, even 1s", {{1, 0, 3, 2}, {2, 3, 0, 1}}},
    {"0s − 1s ≡ 0 mod 3", {{1, 2, 0}, {2, 0, 1}}},
    {"0*1*0*1*", {{0, 2, 2, 4, 4}, {1, 1, 3, 3, 4}}},
};

/// The automaton of a table, over the letters a, b, …, that accepts nothing; initial state 0.
inline Dfa of_table(State states, Letter letters, std::vector<State> table) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < letters; ++letter) names.push_back(std::string(1, static_cast<char>('a' + letter)));
  return Dfa::acceptor(Alphabet::from_names(names), std::move(table), 0, std::vector<bool>(states, false));
}

/// All complete automata with these states and letters and initial state 0, through `body`.
template <class Body>
void for_all_tables(State states, Letter letters, Body body) {
  std::vector<State> table(std::size_t{states} * letters, 0);
  for (bool done = false; !done;) {
    body(of_table(states, letters, table));
    done = true;
    for (State& image : table) {
      image = image + 1 == states ? 0 : image + 1;
      if (!(done = image == 0)) break;
    }
  }
}

}  // namespace krohn
