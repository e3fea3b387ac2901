// automata/words/accepted_words.h — the accepted words of an acceptor, one after another, shortest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// A generator of the accepted words in length-lexicographic order, letters in alphabet order. Between two words it
/// does O(k · length) work beside O(k n) for every new length. Memory: n bits for every length reached.
class AcceptedWords {
 public:
  /// Throws InputError unless the automaton is an acceptor.
  explicit AcceptedWords(const Dfa& dfa);

  /// The next word; nothing when the language is finite and all were given.
  std::optional<Word> next();

 private:
  /// The first letter from `first` on after which `remaining` letters can still lead to acceptance.
  std::optional<Letter> letter_from(State state, Letter first, std::size_t remaining) const;
  /// Extends `word_` to `length_` letters by the least letters possible. The way exists.
  void complete();
  /// The next word of the same length.
  bool advance();
  void next_length();

  Dfa dfa_;
  bool finite_;
  std::vector<std::vector<bool>> possible_;  ///< [l][q]: some word of l letters leads from q to acceptance
  std::size_t length_ = 0;
  bool fresh_ = true;  ///< no word of this length was given yet
  Word word_;
  std::vector<State> path_;  ///< path_[i] is the state after i letters of word_
};

/// The first `count` accepted texts, or all when there are fewer: each word as all that its letters stand for
/// (automata/words/spellings.h).
std::vector<std::string> first_accepted_texts(const Dfa& dfa, std::uint64_t count);

/// The first `count` accepted words, or all when there are fewer.
std::vector<Word> first_accepted_words(const Dfa& dfa, std::size_t count);

}  // namespace krohn
