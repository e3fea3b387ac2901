// tools/krohn/word_source.h — the words that `krohn run` takes: written out, from a file, or random.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// A word that is either stored or made slice by slice.
class WordSource {
 public:
  /// `text` is a word in the letters of `dfa`, `file:PATH` (its contents, where line ends are white space),
  /// `random:LENGTH`, `accepted:LENGTH` (random among the words that `dfa` accepts), or `word:W` for a word that looks
  /// like one of these. Throws InputError for unknown letters and SystemError for unreadable files.
  static WordSource parse(const std::string& text, const Dfa& dfa, std::uint64_t seed);

  std::uint64_t length() const { return length_; }
  /// The word that the slices are from, when it is random.
  const std::optional<RandomWord>& random() const { return random_; }
  /// The whole word, when it is stored; empty when it is random.
  const Word& letters() const { return letters_; }
  /// Letters [first, first + out.size()).
  void fill(std::uint64_t first, std::span<Letter> out) const;
  /// The word for a line of output, shortened.
  const std::string& title() const { return title_; }

 private:
  Word letters_;
  std::optional<RandomWord> random_;
  std::uint64_t length_ = 0;
  std::string title_;
};

}  // namespace krohn
