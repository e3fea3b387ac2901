// automata/classes/piecewise_testable.h — strictly piecewise and piecewise testable languages.
#pragma once

#include "krohn/automata/classes/strictly_local.h"

namespace krohn {

// SP_k: the languages that a set of forbidden subsequences of at most k letters
// defines: those closed under leaving out letters (Rogers et al. 2010).

/// A word that is accepted, and one that is not though it has fewer letters of it: the language is not closed under
/// subsequences. Nothing when it is. `dfa` is minimal. O(n² · letters), 8n² bytes. Throws LimitError past 4,000 states.
std::optional<std::string> lost_subsequence(const Dfa& dfa);

/// The words that no accepted word has as a subsequence, while all their own subsequences occur. `dfa` is minimal and
/// its language closed under subsequences: then it is SP_k for the length k of the longest of these words, and k at
/// least 1. Throws LimitError past 200,000 sets of states.
ListedWords minimal_forbidden_subsequences(const Dfa& dfa, std::size_t most_listed);

/// Why the language is not piecewise testable: a cycle of several states, or a state and two letters between which the
/// order matters for ever; nothing when it is. `dfa` is minimal. Klíma & Polák 2013: no cycles, and confluent.
/// O(n · letters² · depth).
std::optional<std::string> piecewise_violation(const Dfa& dfa);

/// The least k of at least 1 for a language that is piecewise testable: one more than the greatest r + l for which some
/// state q, letter a with q ≠ q·a, word x to q and word y that tells q from q·a have x ~_r xa and y ~_l ay (Simon's
/// lemma: exactly then xy and xay have the same subsequences of r + l letters). coNP-hard in general (Masopust &
/// Thomazo 2017): LimitError past 200,000 vectors of such numbers.
std::uint64_t piecewise_order(const Dfa& dfa);

/// The letters on a longest way through the automaton: never less than `piecewise_order` (Klíma & Polák 2013).
std::uint64_t automaton_depth(const Dfa& dfa);

}  // namespace krohn
