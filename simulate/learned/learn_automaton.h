// simulate/learned/learn_automaton.h — the minimal Moore machine behind a source of answers, learned by asking:
// Angluin's observation table (1987) with the counterexamples of Rivest and Schapire (1993), for outputs of any number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Writes answers[i], what is said after the whole of words[i]; answers.size() == words.size(). Many words come at
/// once, for machines that read many as fast as one. It has to say the same to the same word.
using AnswerOracle = std::function<void(std::span<const Word> words, std::span<Output> answers)>;

class AutomatonLearner {
 public:
  /// Asks about the empty word and every letter at once. Throws LimitError past `max_states`.
  AutomatonLearner(Letter letters, AnswerOracle oracle, std::uint64_t max_states);

  State states() const { return static_cast<State>(access_.size()); }
  /// A word that leads to the state, the empty one to state 0; and suffixes that tell all states apart.
  const Word& access(State state) const { return access_[state]; }
  std::span<const Word> suffixes() const { return suffixes_; }
  /// Words that the oracle was asked about.
  std::uint64_t questions() const { return questions_; }

  State next(State state, Letter letter) const { return table_[std::size_t{state} * letters_ + letter]; }
  State run(std::span<const Letter> word) const;
  Output output(State state) const { return rows_[state][0]; }

  /// What is known now, as an automaton in which no two states are equivalent. `output_names` must cover the outputs.
  Dfa hypothesis(const Alphabet& alphabet, std::vector<std::string> output_names) const;

  /// `word`: the oracle's last output on it is not that of `run(word)`. Adds at least one state. O(log |word|)
  /// questions and those of a new column, states · letters. Throws LimitError past `max_states`.
  void refine(std::span<const Letter> word);

 private:
  using Row = std::vector<Output>;  ///< after an access word and each suffix

  std::vector<Output> ask(std::span<const Word> words);
  std::vector<Row> rows_of(std::span<const Word> words);
  Word successor(State state, Letter letter) const;
  State add_state(Word access, Row row);
  void close();

  Letter letters_;
  AnswerOracle oracle_;
  std::uint64_t max_states_;
  std::vector<Word> access_, suffixes_;
  std::vector<Row> rows_;            ///< of the states
  std::vector<Row> successor_rows_;  ///< of state · letter
  std::vector<State> table_;
  std::map<Row, State> state_of_row_;
  std::uint64_t questions_ = 0;
};

}  // namespace krohn
