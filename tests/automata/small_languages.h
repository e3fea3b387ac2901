// tests/automata/small_languages.h — all small acceptors, random nondeterministic ones, and what they accept word by
// word: the oracles of this floor's tests about languages.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

namespace krohn {

/// Every acceptor of `states` states over the first `letters` letters that starts in state 0.
inline std::vector<Dfa> all_acceptors(State states, Letter letters) {
  std::vector<Dfa> all;
  std::vector<State> table(std::size_t{states} * letters, 0);
  while (true) {
    for (std::uint32_t accepting = 0; accepting < (1U << states); ++accepting) {
      std::vector<bool> accepts;
      for (State state = 0; state < states; ++state) accepts.push_back((accepting >> state & 1U) != 0);
      all.push_back(Dfa::acceptor(first_letters(letters), table, 0, accepts));
    }
    std::size_t at = 0;
    while (at < table.size() && ++table[at] == states) table[at++] = 0;
    if (at == table.size()) return all;
  }
}

/// Any number of initial states, ε-moves among them.
inline Nfa random_nfa(Dice& dice, State states, Letter letters, std::uint32_t arcs, std::uint32_t epsilons) {
  Nfa nfa(first_letters(letters));
  for (State state = 0; state < states; ++state) nfa.add_state(dice.below(3) == 0);
  for (std::uint32_t i = 0; i < arcs; ++i) nfa.add_arc(dice.below(states), dice.below(letters), dice.below(states));
  for (std::uint32_t i = 0; i < epsilons; ++i) nfa.add_epsilon(dice.below(states), dice.below(states));
  for (std::uint32_t i = dice.below(2) + (dice.below(20) != 0 ? 1U : 0U); i > 0; --i)
    nfa.add_initial(dice.below(states));
  return nfa;
}

using WordSet = std::set<Word>;

/// The accepted words of at most `length` letters, by simulation.
inline WordSet words_of(const Nfa& nfa, std::size_t length) {
  WordSet words;
  for (const Word& word : short_words(nfa.alphabet().size(), length))
    if (nfa.accepts_word(word)) words.insert(word);
  return words;
}

inline WordSet where(Letter letters, std::size_t length, const std::function<bool(const Word&)>& holds) {
  WordSet words;
  for (const Word& word : short_words(letters, length))
    if (holds(word)) words.insert(word);
  return words;
}

inline Word joined(Word left, const Word& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Word cut(const Word& word, std::size_t begin, std::size_t end) {
  return {word.begin() + static_cast<std::ptrdiff_t>(begin), word.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace krohn
