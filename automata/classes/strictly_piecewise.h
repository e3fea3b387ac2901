// automata/classes/strictly_piecewise.h — SP_k: the languages that a set of forbidden subsequences of at most k letters
// defines: those closed under leaving out letters (Rogers et al. 2010).
#pragma once

#include "krohn/automata/classes/strictly_local.h"

namespace krohn {

/// A word that is accepted, and one that is not though it has fewer letters of it: the language is not closed under
/// subsequences. Nothing when it is. `dfa` is minimal. O(n² · letters), 8n² bytes. Throws LimitError past 4,000 states.
std::optional<std::string> lost_subsequence(const Dfa& dfa);

/// The words that no accepted word has as a subsequence, while all their own subsequences occur. `dfa` is minimal and
/// its language closed under subsequences: then it is SP_k for the length k of the longest of these words, and k at
/// least 1. Throws LimitError past 200,000 sets of states.
ListedWords minimal_forbidden_subsequences(const Dfa& dfa, std::size_t most_listed);

}  // namespace krohn
