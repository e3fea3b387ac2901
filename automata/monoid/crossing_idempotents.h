// automata/monoid/crossing_idempotents.h — idempotents e and f of the semigroup of an automaton with efe ≠ fe: what one
// layer of contractions cannot hold with finitely many values, in exact arithmetic (docs/MATH.md §4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/monoid/algebra.h"

namespace krohn {

/// Words e and f, none of them empty, that lead every state where they lead it when read twice.
struct CrossingIdempotents {
  Word e, f;
  State from = 0;  ///< from here efe and fe lead to states that are told apart
  /// So do (ef)ⁿ(fe)ⁿ and (fe)ⁿ, for an n that makes both powers idempotent: nor can one layer then keep right answers
  /// apart by a margin, with values that stay bounded, in exact arithmetic. Found for some e and f where it holds.
  bool bars_margins = false;
};

struct CrossingSearch {
  std::optional<CrossingIdempotents> found;  ///< one that bars margins where one was met
  bool is_complete = false;                  ///< without `found`: there is none
};

/// What counts in the search where not every two states do.
struct ToldApart {
  std::vector<bool> pairs;    ///< p · states + q: some word, the empty one included, must be answered differently
  std::vector<bool> is_dead;  ///< by state: nothing is known of words that lead here
};

/// Among the idempotent powers of the first `max_elements` elements of the semigroup; `told_apart` without a value:
/// every two states are. All states are taken to be reached. Each find is checked by running its words. O(kernels ·
/// idempotents · states) for the different kernels of idempotents, at most 300 million; then the search is not
/// complete.
CrossingSearch crossing_idempotents(const Dfa& dfa, std::uint64_t max_elements,
                                    const std::optional<ToldApart>& told_apart = std::nullopt);

/// The verdict "right regular idempotents": unknown where the search was not complete.
Verdict right_regular_idempotents(const Dfa& dfa, std::uint64_t max_elements);

/// "with e = "0" and f = "22", efe and fe differ from state 0, and so do (ef)ⁿ(fe)ⁿ and (fe)ⁿ".
std::string to_string(const CrossingIdempotents& found, const Dfa& dfa);

}  // namespace krohn
