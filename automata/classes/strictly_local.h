// automata/classes/strictly_local.h — strictly local, locally testable and threshold testable languages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The least k of at least 1, or why there is none.
struct ClassOrder {
  std::optional<std::uint64_t> k;
  std::string witness;  ///< without a k: words, checked by running them
};

/// `dfa` is minimal. By suffix substitution closure, a language is SL_k exactly when any k−1 letters take all states
/// from which something is accepted to one such state at most (Caron 2000; Edlefsen et al. 2008): the longest path
/// among the pairs of such states. O(n² · letters). Throws LimitError past 4,000 states.
ClassOrder strictly_local_order(const Dfa& dfa);

/// A finite set of words, listed as far as a limit allows.
struct ListedWords {
  std::vector<std::string> words;  ///< shortest first
  std::uint64_t count = 0;         ///< all of them, as far as 2^63 goes
  std::uint64_t longest = 0;       ///< letters
  bool complete = true;            ///< whether `words` has them all
};

/// The factors that no accepted word between ⋊ and ⋉ has, while all their own factors occur. `dfa` is minimal and
/// strictly local. Throws LimitError past 200,000 pairs of sets of states.
ListedWords minimal_forbidden_factors(const Dfa& dfa, std::size_t most_listed);

// LT: the languages that the ends of a word and the set of its factors of some
// length decide (McNaughton & Papert 1971), decided on the automaton.

/// Why the language is not locally testable, with words that were checked by running them; nothing when it is. `dfa` is
/// minimal. Trahtman's form of Kim, McNaughton & McCloskey 1991: of states p ≠ q that a word x keeps, where q is
/// reached from p, p is not reached from q, and every word s leads from both or from neither to a state that reaches q.
/// O(n³ · letters). Throws LimitError where the pairs of states have more than 50 million arcs.
std::optional<std::string> local_violation(const Dfa& dfa);

// LTT_{k,t}: the ends of k−1 letters and the number of every factor of k letters,
// as far as t, decide.

struct ThresholdOrder {
  std::uint64_t k = 1, t = 1;
};

/// The least k for which the language is LTT_{k,t} with some t, and the least such t. `dfa` is minimal and locally
/// threshold testable. On the graph whose vertices are the words of k−1 letters, by the pairs of states that words lead
/// to (docs/MATH.md). Throws LimitError where that graph becomes too large before k is found.
ThresholdOrder threshold_order(const Dfa& dfa);

}  // namespace krohn
