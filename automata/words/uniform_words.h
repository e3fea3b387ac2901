// automata/words/uniform_words.h — random words, uniform over the accepted words of one length.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/words/count.h"

namespace krohn {

// The recursive method (Nijenhuis, Wilf 1978): from state q with l letters to go, a letter is drawn with probability
// proportional to the accepted words of l − 1 letters from its target. Only 64-bit outputs of the generator are used,
// so a seed gives the same words on every platform. A letter that stands for a class of characters is as likely as its
// characters together: `random_spelling` (automata/words/spellings.h) chooses among them.

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
