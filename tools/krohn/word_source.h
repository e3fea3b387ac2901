// tools/krohn/word_source.h — the words that `krohn run` takes: written out, from a file, or random.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// A word that is stored, made slice by slice, or read from a file that may never end.
class WordSource {
 public:
  /// `text` is a word in the letters of `dfa`, `file:PATH` (one word; line ends are no letters of it),
  /// `random:LENGTH`, `accepted:LENGTH` (random among the words that `dfa` accepts), or `word:W` for a word that looks
  /// like one of these. `dfa` outlives the word. Throws InputError for unknown letters and SystemError for unreadable
  /// files.
  static WordSource parse(const std::string& text, const Dfa& dfa, std::uint64_t seed);

  /// The letters, or those that are stored when there are more.
  std::uint64_t length() const { return length_; }
  /// True for a word that goes on behind `letters()`: it can be read once, from first to last.
  bool is_open() const { return rest_ != nullptr; }
  /// The word that the slices are from, when it is random.
  const std::optional<RandomWord>& random() const { return random_; }
  /// The word, or its beginning when it is open; empty when it is random.
  const Word& letters() const { return letters_; }
  /// Letters from `first` on, at most out.size(). Returns how many; 0 at the end. `first` is where the last read ended.
  /// Throws as `parse`.
  std::size_t read(std::uint64_t first, std::span<Letter> out) const;
  /// The word for a line of output: a typed one whole, as it was typed.
  const std::string& title() const { return title_; }
  /// The whole word as text; nothing for the words of files and for random ones.
  const std::optional<std::string>& text() const { return text_; }

 private:
  Word letters_;
  std::shared_ptr<WordStream> rest_;  ///< the words after letters_, if any
  std::optional<RandomWord> random_;
  std::uint64_t length_ = 0;
  std::string title_;
  std::optional<std::string> text_;
};

}  // namespace krohn
