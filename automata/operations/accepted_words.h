// automata/operations/accepted_words.h — accepted words: the shortest, in order, at random, and their spellings.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

// The number of words that an acceptor accepts, exactly. A letter that stands for a class of characters counts as many
// times as it has characters.

using Count = boost::multiprecision::cpp_int;

/// The accepted words of 0, 1, …, `max_length` letters. Throws InputError unless the automaton is an acceptor. The
/// counts have up to length · log₂ k bits for k letters or characters, so a step costs that much per useful transition:
/// O(k n · length²/64) word operations in all, and n counts of memory beside the result.
std::vector<Count> count_words_by_length(const Dfa& dfa, std::uint64_t max_length);

/// The states that the counts sum over: the useful ones (reachable and coaccessible) of an acceptor, renumbered in
/// breadth-first order, with the useful transitions between them, parallel ones together.
class CountingGraph {
 public:
  struct Arc {
    State target;
    std::uint64_t multiplicity;
  };

  explicit CountingGraph(const Dfa& dfa);

  /// Zero when nothing is accepted; otherwise state 0 is the initial one.
  State states() const { return static_cast<State>(arcs_.size()); }
  const std::vector<Arc>& arcs(State state) const { return arcs_[state]; }
  bool accepts(State state) const { return accepting_[state]; }

  /// Words of length 0 that are accepted from each state.
  std::vector<Count> counts_of_empty_word() const;
  /// From the words of some length that are accepted from each state, those of one letter more.
  std::vector<Count> one_letter_more(const std::vector<Count>& counts) const;

 private:
  std::vector<std::vector<Arc>> arcs_;
  std::vector<bool> accepting_;
};

// The words.

// The texts of a word whose letters stand for classes of characters: "[a-z]" is one letter
// and 26 texts.

/// How many texts a letter has: the characters of a class, 1 for a token.
std::uint64_t spellings(const Symbol& symbol);

/// Per letter.
std::vector<std::uint64_t> spellings(const Alphabet& alphabet);

/// The texts of one word, one after another: the last letters change first, a class from its printable ASCII characters
/// to the others, by code point. Each is written as `Alphabet::format_word` writes words.
class Spellings {
 public:
  Spellings(Alphabet alphabet, Word word);

  /// The next text; nothing after the last. O(length · log ranges).
  std::optional<std::string> next();

 private:
  Alphabet alphabet_;
  Word word_;
  std::vector<std::uint64_t> place_;  ///< of each letter's character in its class
  bool at_end_ = false;
};

/// One of the texts, each as likely as any other, by the 64-bit outputs of the generator alone; a word without classes
/// takes none.
std::string random_spelling(const Alphabet& alphabet, const Word& word, std::mt19937_64& random);

/// A generator of the accepted words in length-lexicographic order, letters in alphabet order. Between two words it
/// does O(k · length) work beside O(k n) for every new length. Memory: n bits for every length reached.
class AcceptedWords {
 public:
  /// From words of `length` letters on. Throws InputError unless the automaton is an acceptor.
  explicit AcceptedWords(const Dfa& dfa, std::uint64_t length = 0);

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

/// The first `count` accepted texts, or all when there are fewer: each word as all that its letters stand for.
std::vector<std::string> first_accepted_texts(const Dfa& dfa, std::uint64_t count);

/// The first `count` accepted words, or all when there are fewer.
std::vector<Word> first_accepted_words(const Dfa& dfa, std::size_t count);

// The recursive method (Nijenhuis, Wilf 1978): from state q with l letters to go, a letter is drawn with probability
// proportional to the accepted words of l − 1 letters from its target. Only 64-bit outputs of the generator are used,
// so a seed gives the same words on every platform. A letter that stands for a class of characters is as likely as its
// characters together: `random_spelling` chooses among them.

/// Exactly uniform: counts are big integers. O(k n · length) sums once, length · O(k) big-integer operations a word.
class ExactUniformWords {
 public:
  /// Throws InputError unless the automaton is an acceptor of some word of that length, LimitError when the table of
  /// counts, n · length · (length · log₂ k)/16 bytes, would pass `max_bytes`.
  ExactUniformWords(const Dfa& dfa, std::uint64_t length, std::uint64_t max_bytes = std::uint64_t{1} << 30);

  /// How many texts there are to draw from.
  const Count& words() const { return counts_[length_][dfa_.initial()]; }
  Word draw(std::mt19937_64& random) const;

 private:
  Dfa dfa_;
  std::vector<std::uint64_t> texts_;  ///< per letter
  std::uint64_t length_;
  std::vector<std::vector<Count>> counts_;  ///< [l][q]: accepted words of l letters from q
};

/// Nearly uniform, for long words: counts are doubles with exponents of their own, so none overflows or vanishes. The
/// distance in total variation from the uniform distribution is at most length · (k + 1)² · 2^−52 (10^7 letters over
/// {a, b}: 2·10^−8): the weight of a state is the very sum that its letters are drawn from, so errors do not compound.
/// Weights are kept at every √length-th position and recomputed between: O(k n · length) a word, 32 n √length bytes.
class ScaledUniformWords {
 public:
  /// Throws InputError unless the automaton is an acceptor of some word of that length.
  ScaledUniformWords(const Dfa& dfa, std::uint64_t length);

  Word draw(std::mt19937_64& random) const;

 private:
  /// mantissa · 2^exponent, the mantissa in [1, 2), or zero.
  struct Weight {
    double mantissa = 0;
    std::int64_t exponent = 0;
  };
  static Weight normalised(double value, std::int64_t exponent);
  /// Sums the weights of the targets of `state`, letter by letter; partial[l] is the sum of letters 0 … l, all over
  /// the same power of two, which is returned.
  std::int64_t partial_sums(State state, const std::vector<Weight>& weights, std::vector<double>& partial) const;
  std::vector<Weight> one_letter_more(const std::vector<Weight>& weights) const;

  Dfa dfa_;
  std::vector<double> texts_;  ///< per letter
  std::uint64_t length_, stride_;
  std::vector<std::vector<Weight>> checkpoints_;  ///< [i][q]: accepted words of i · stride letters from q
};

}  // namespace krohn
