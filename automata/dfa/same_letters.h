// automata/dfa/same_letters.h — which letters of two alphabets are the same.
#pragma once

#include <optional>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// For each letter of `a` the letter of `b` with the same name and the same characters, where there is one. A class
/// that holds the characters of a letter is another letter than that (`Alphabet::find` finds it all the same, as words
/// are read); to compare languages whose letters are cut differently, `refine` both. O(n log n).
std::vector<std::optional<Letter>> same_letters(const Alphabet& a, const Alphabet& b);

}  // namespace krohn
