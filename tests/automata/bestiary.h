// tests/automata/bestiary.h — small automata that decompositions are tried on.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/language.h"

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

/// The automaton of a family with a number: "T" and 4, all maps of four points.
inline Dfa family(const std::string& name, State number) { return named_language(name + std::to_string(number)); }

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
