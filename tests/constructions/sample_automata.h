// tests/constructions/sample_automata.h — automata made from groups and from seeds, for the tests of this floor.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "tests/testing.h"

namespace krohn {

inline Alphabet numbered_letters(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("s" + std::to_string(i));
  return Alphabet::from_names(names);
}

/// State 0 accepts; letters by their maps of the states.
inline Dfa automaton_of_maps(const std::vector<std::vector<State>>& maps) {
  const std::size_t states = maps[0].size();
  std::vector<State> table;
  for (std::size_t state = 0; state < states; ++state)
    for (const auto& map : maps) table.push_back(map[state]);
  std::vector<bool> accepting(states, false);
  accepting[0] = true;
  return Dfa::acceptor(numbered_letters(maps.size()), std::move(table), 0, accepting);
}

/// Addition of each step modulo m.
inline Dfa counter(State m, const std::vector<State>& steps) {
  std::vector<std::vector<State>> maps;
  for (const State step : steps) {
    std::vector<State> map(m);
    for (State state = 0; state < m; ++state) map[state] = (state + step) % m;
    maps.push_back(std::move(map));
  }
  return automaton_of_maps(maps);
}

/// The group that the letters generate, acting on itself: the states are the elements, the identity first.
inline Dfa word_problem_of(const std::vector<Permutation>& letters) {
  const auto elements = GroupElements::enumerate(PermutationGroup::from_generators(letters[0].degree(), letters));
  std::vector<std::vector<State>> maps(letters.size(), std::vector<State>(elements.size()));
  for (ElementIndex element = 0; element < elements.size(); ++element)
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
      maps[letter][element] = elements.times_generator(element, letter);
  return automaton_of_maps(maps);
}

/// The word problem of a named group over a named set of elements.
inline Dfa word_problem(const std::string& name, const std::string& generators) {
  std::vector<Permutation> letters;
  for (const NamedPermutation& generator : generating_set(named_group(name), generators))
    letters.push_back(generator.value);
  return word_problem_of(letters);
}

/// The named group on its points.
inline Dfa point_action(const std::string& name, const std::string& generators) {
  std::vector<std::vector<State>> maps;
  for (const NamedPermutation& generator : generating_set(named_group(name), generators))
    maps.push_back({generator.value.images().begin(), generator.value.images().end()});
  return automaton_of_maps(maps);
}

inline Dfa random_automaton(unsigned seed, State states, Letter letters) {
  std::mt19937 engine(seed);
  std::vector<std::vector<State>> maps(letters, std::vector<State>(states));
  for (auto& map : maps)
    for (State& image : map) image = static_cast<State>(engine() % states);
  return automaton_of_maps(maps);
}

inline Dfa random_permutation_automaton(unsigned seed, State states, Letter letters) {
  std::mt19937 engine(seed);
  std::vector<std::vector<State>> maps(letters, std::vector<State>(states));
  for (auto& map : maps) {
    for (State i = 0; i < states; ++i) map[i] = i;
    for (State i = states; i > 1; --i) std::swap(map[i - 1], map[engine() % i]);
  }
  return automaton_of_maps(maps);
}

/// A random state machine δ(q, σ) = π_q(σ) on m states and m letters (Ebrahimi & Memisevic, §3).
inline Dfa random_state_machine(unsigned seed, State m) {
  std::mt19937 engine(seed);
  std::vector<std::vector<State>> maps(m, std::vector<State>(m));
  for (State q = 0; q < m; ++q) {
    std::vector<State> row(m);
    for (State i = 0; i < m; ++i) row[i] = i;
    for (State i = m; i > 1; --i) std::swap(row[i - 1], row[engine() % i]);
    for (State letter = 0; letter < m; ++letter) maps[letter][q] = row[letter];
  }
  return automaton_of_maps(maps);
}

/// {w : w ends in abb}, minimal.
inline Dfa ends_in_abb() { return automaton_of_maps({{1, 1, 1, 1}, {0, 2, 3, 0}}); }

}  // namespace krohn
