// automata/questions/questions.h — emptiness, disjointness, inclusion, equality of acceptors, deterministic or not.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/automata/operations/automaton.h"

namespace krohn {

// Acceptors over different alphabets are read over the common refinement, `common_alphabet`: an acceptor rejects every
// word with a letter that it lacks. Words that are returned are over that alphabet, and shortest among those that
// decide the question. Every search polls TimeLimit. A LimitError says below which length no word decides the question.

/// Throws InputError when a letter that only one of them has stands for several valuations of bits, as letters of mata
/// may: their names do not tell whether they overlap, so nothing could be said truly. All questions ask this.
void require_comparable(const Alphabet& a, const Alphabet& b);

struct QuestionLimits {
  std::uint64_t max_pairs = 10'000'000;  ///< pairs of states, of a state and a subset, or of subsets
};

struct DecidingWord {
  std::optional<Word> word;  ///< nothing: no word decides against, so the answer is yes
  bool in_first = false;     ///< it is accepted by the first automaton
  bool in_second = false;    ///< and by the second
  std::uint64_t pairs = 0;   ///< how many the search met
};

/// A word of the language. Breadth-first, O(states + arcs).
DecidingWord accepted_word(const Automaton& automaton, const QuestionLimits& limits = {});

/// A word of both. Pairs of states, at most m·n: nothing is determinised.
DecidingWord common_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

/// A word of `a` that is not one of `b`. Pairs (state of a, subset of b), of which only those are kept that no other
/// with a smaller subset covers: antichains (De Wulf, Doyen, Henzinger, Raskin, CAV 2006). A pair that is covered by
/// one met as early has no shorter word, so breadth-first order keeps words shortest. Exponential at worst, as the
/// problem is PSPACE-complete; pairs of states when b is deterministic.
DecidingWord excess_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

/// A word of one and not of the other. Hopcroft and Karp's algorithm where both are deterministic, machines with
/// outputs included (equivalence.h); otherwise on pairs of subsets made as they are met, and up to congruence while
/// that pays: a pair that unions of earlier pairs imply is skipped (Bonchi, Pous, POPL 2013), and a word that tells it
/// apart tells one of those apart, so words stay shortest.
DecidingWord distinguishing_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

}  // namespace krohn
