// tests/automata/random_automata.h — random automata from a seed, for the property tests of this floor.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "tests/testing.h"

namespace krohn {

/// Numbers below a bound from a seeded Mersenne twister: the same on every platform, which distributions are not.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

/// {a, b, c, …}.
inline Alphabet first_letters(Letter letters) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < letters; ++letter) names.push_back(std::string(1, static_cast<char>('a' + letter)));
  return Alphabet::from_names(names);
}

/// Random targets and outputs. Targets are multiples of `cluster`: the larger, the more states are equivalent.
inline Dfa random_moore(Dice& dice, State states, Letter letters, Output outputs, State cluster = 1) {
  std::vector<State> table(std::size_t{states} * letters);
  for (State& entry : table) entry = dice.below(states) / cluster * cluster;
  std::vector<Output> out(states);
  for (Output& value : out) value = dice.below(outputs);
  std::vector<std::string> names{"reject", "accept", "third", "fourth"};
  names.resize(std::max<std::size_t>(outputs, 2));
  return Dfa::moore(first_letters(letters), std::move(table), dice.below(states), std::move(out), std::move(names));
}

inline Dfa random_acceptor(Dice& dice, State states, Letter letters, State cluster = 1) {
  return random_moore(dice, states, letters, 2, cluster);
}

inline bool accepts(const Dfa& dfa, const Word& word) { return dfa.accepts(dfa.run(word)); }

inline Word random_word(Dice& dice, Letter letters, std::uint32_t max_length) {
  Word word(dice.below(max_length + 1));
  for (Letter& letter : word) letter = dice.below(letters);
  return word;
}

/// All words of at most `max_length` letters, in length-lexicographic order.
inline std::vector<Word> short_words(Letter letters, std::size_t max_length) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size() && words[i].size() < max_length; ++i)
    for (Letter letter = 0; letter < letters; ++letter) {
      Word longer = words[i];
      longer.push_back(letter);
      words.push_back(std::move(longer));
    }
  return words;
}

}  // namespace krohn
