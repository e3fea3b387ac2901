// automata/operations/equivalence.h — emptiness and equivalence, each with a shortest word.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

// The words that one acceptor accepts: nothing, everything, finitely many words; a
// shortest one.

// All take acceptors and throw InputError on other machines. O(k n).

/// Per state: some word leads from it to acceptance.
std::vector<bool> coaccessible_states(const Dfa& dfa);

/// The length-lexicographically least accepted word.
std::optional<Word> shortest_accepted_word(const Dfa& dfa);

bool is_empty(const Dfa& dfa);
/// Accepts every word over its own alphabet.
bool is_universal(const Dfa& dfa);
/// Accepts finitely many words: no cycle passes through states that are reachable and coaccessible.
bool is_finite(const Dfa& dfa);

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

}  // namespace krohn
