// automata/words/spellings.h — the texts of a word whose letters stand for classes of characters: "[a-z]" is one letter
// and 26 texts.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

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

}  // namespace krohn
