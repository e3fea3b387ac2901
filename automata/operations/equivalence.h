// automata/operations/equivalence.h — whether two automata compute the same, and a shortest word that tells.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

// Automata over different alphabets are read over the common refinement, `refine(a.alphabet(), b.alphabet()).merged`:
// an acceptor rejects every word with a letter that it lacks. Words that are returned are over that alphabet, which is
// the common one when the alphabets are equal.

/// A shortest word on which the outputs, compared by name, differ; nothing when the automata are equivalent. Hopcroft
/// and Karp's union–find (1971) in breadth-first order: a pair that earlier pairs imply is skipped, and a word that
/// distinguishes it distinguishes one of those as early, so the first word found is shortest. O(k (m + n) α(m + n)).
/// Throws InputError when one has letters that the other lacks, whatever their order, and not both are acceptors.
std::optional<Word> distinguishing_word(const Dfa& a, const Dfa& b);

/// No word distinguishes them.
bool equivalent(const Dfa& a, const Dfa& b);

/// A breadth-first search over all pairs, O(k m n): the obvious reference. Gives the length-lexicographically least
/// word.
std::optional<Word> reference_distinguishing_word(const Dfa& a, const Dfa& b);

}  // namespace krohn
