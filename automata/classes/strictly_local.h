// automata/classes/strictly_local.h — SL_k: the languages that a set of forbidden factors of at most k letters defines,
// where ⋊ and ⋉ mark the ends and count as letters (McNaughton & Papert 1971; Rogers & Pullum 2011).
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

}  // namespace krohn
