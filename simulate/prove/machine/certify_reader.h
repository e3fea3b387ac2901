// simulate/prove/machine/certify_reader.h — proves that a machine tracks an automaton, or shows a word on which it does
// not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

// How hard a machine that reads letters is questioned. The time is that of
// groups/base/time_limit.h.

struct ReaderLimits {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_steps = UINT64_MAX;              ///< letters read by the search of pairs
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::uint64_t long_letters = 0;                    ///< read in search of long failing words; 0: none are searched
  std::uint64_t seed = 1;                            ///< of random words among them
  std::function<void(std::uint64_t)> progress;       ///< pairs so far; may throw Interrupted
  /// Letters so far, and of how many, in search of long failing words; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> long_progress = {};
};

// The search for long words on which a machine fails, where no search of pairs
// gets so far: errors add up, and some words let them.

/// Long words, until `long_letters` are read:
///   narrow      from the start, of all pairs that the letters lead to, those with the least margins are followed, some
///               for every state of the automaton
///   powers      words u v v v … for short v and u that lead to different states, and random words, all read side by
///               side, to twice the length again and again; past 512 letters, the half with the least margins goes on
/// The word that is found ends at its first wrong answer, and is then shortened: parts are left out as long as it stays
/// wrong somewhere. Nothing when none was found, which says nothing; `letters_read` counts.
std::optional<Word> find_failing_word(const LetterReader& machine, const TrackedAutomaton& tracked,
                                      const ReaderLimits& options, std::uint64_t& letters_read);

/// The *closed reachable set* of MATH.md §5: breadth-first search over pairs (automaton state, all that the machine
/// remembers). Proved for words of every length when the search ends, refuted by a shortest word, or proved up to the
/// last completed length when a limit is met; then try_long_words. The certificate's arithmetic is the caller's to
/// state.
Certificate certify_reader(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& limits);

/// Where no more than a length is proved: what find_failing_word finds refutes, without being shortest.
void try_long_words(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked,
                    const ReaderLimits& limits);

}  // namespace krohn
