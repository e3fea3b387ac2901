// automata/dfa/shown_word.h — words as people read them.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// The whole word on one line, visible. In words of more than eight letters a part that stands at least three times in
/// a row is written as a power, with blanks around it, where that makes the text much shorter: `1^380`, `b^11 abba b^4
/// (abb)^5`. Beside a power, letters that could be mistaken for its signs are in quotes: `"(1 2)"^20 "()"`. Without
/// one, the word is written as `Alphabet::format_word` does. O(length), times the longest part.
std::string in_powers(const Alphabet& alphabet, std::span<const Letter> word);

/// The same for a sentence: in quotes where it is the word letter by letter; "ε" without letters.
std::string quoted_letters(const Alphabet& alphabet, std::span<const Letter> word);

/// With its length: `"abb" (3 letters)`, `1^380 (380 letters)`; cut after about 240 bytes. "the empty word".
std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word);

/// A word of a product, to the power n where it is repeated.
struct WordFactor {
  std::span<const Letter> word;
  bool is_repeated = false;
};

/// `"a" "ab"ⁿ "b"`, empty factors left out; "ε" where all are empty.
std::string product_of_words(const Alphabet& alphabet, std::initializer_list<WordFactor> factors);

}  // namespace krohn
