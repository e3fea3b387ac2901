// simulate/prove/machine/failing_word.h — the search for long words on which a machine fails, where no search of pairs
// gets so far: errors add up, and some words let them.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/simulate/prove/machine/reader_limits.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Long words, until `long_letters` are read:
///   narrow      from the start, of all pairs that the letters lead to, those with the least margins are followed, some
///               for every state of the automaton
///   powers      words u v v v … for short v and u that lead to different states, and random words, all read side by
///               side, to twice the length again and again; past 512 letters, the half with the least margins goes on
/// The word that is found ends at its first wrong answer, and is then shortened: parts are left out as long as it stays
/// wrong somewhere. Nothing when none was found, which says nothing; `letters_read` counts.
std::optional<Word> find_failing_word(const LetterReader& machine, const TrackedAutomaton& tracked,
                                      const ReaderLimits& options, std::uint64_t& letters_read);

}  // namespace krohn
