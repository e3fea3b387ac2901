// automata/monoid/partial_verdicts.h — what can be said of an automaton without its monoid.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/monoid/algebra.h"

namespace krohn {

/// The verdicts of `analyse`, decided as far as the automaton alone and the first elements of its monoid decide them:
/// group, commutative, R-trivial, definite and finite always; aperiodic and 2-groups only where a short word acts with
/// a cycle; right regular idempotents where short words cross; and what follows. The others are unknown, with `limit`
/// as the reason. All states of `dfa` must be reachable. O(states² · letters + 20,000 elements).
std::vector<Verdict> partial_verdicts(const Dfa& dfa, const std::string& limit);

/// The verdict "definite": whether no word that is not empty returns to the pair of states that it started from.
/// O(states² · letters); unknown, with `limit`, past 4,000 states.
Verdict definite(const Dfa& dfa, const std::string& limit);

/// The witness against "R-trivial": a state that is left and entered again; empty when there is none. O(n · letters).
std::string returning_state(const Dfa& dfa);

/// The witness against "group", "commutative" and "finite"; empty when there is none.
std::string merging_letter(const Dfa& dfa);
std::string non_commuting_letters(const Dfa& dfa);
std::string endless_words(const Dfa& dfa);

}  // namespace krohn
