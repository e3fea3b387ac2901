// simulate/run/tracked_words.h — random words that a tracked automaton has, and how many show all its moves.
#pragma once

#include <cstdint>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/random.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Letters of equal chances, drawn again where one cannot stand; shorter than `length` where none of 256 can, and
/// empty without letters.
Word random_tracked_word(const TrackedAutomaton& tracked, std::uint64_t length, Random& random);

/// So many words of so many letters that no move of a state by a letter is likely to be missed: each about thirty
/// times, within 1,000 and 20,000 words.
struct WordsOfMoves {
  std::uint64_t words = 0, length = 12;
};
WordsOfMoves words_of_moves(const Dfa& automaton);

}  // namespace krohn
