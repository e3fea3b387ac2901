// automata/words/word_powers.h — long words as people write them: a^382, ab (ba)^20 c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// The word as a row of factors with a space between each two: letters written as `Alphabet::format_word` writes them,
/// and powers, "1^382" of one letter and "((1 2) (2 3))^20" of several, wherever they are shorter. What is printed
/// reads back as the word, and as no other: a block stands in the first of the brackets () [] {} ⟨⟩ that no letter is
/// written with, and where letters are written with "^" or white space every factor stands in brackets. (Where letters
/// take all four, there are no powers.)
///
/// A word that would take more than `most` characters is cut after whole factors or letters, and ends in "…".
/// Repetitions of up to 256 letters are found, from the left, the one that saves most first. O(256 · length).
std::string word_in_powers(const Alphabet& alphabet, std::span<const Letter> word, std::size_t most = SIZE_MAX);

}  // namespace krohn
