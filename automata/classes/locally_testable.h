// automata/classes/locally_testable.h — LT: the languages that the ends of a word and the set of its factors of some
// length decide (McNaughton & Papert 1971), decided on the automaton.
#pragma once

#include <optional>
#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Why the language is not locally testable, with words that were checked by running them; nothing when it is. `dfa` is
/// minimal. Trahtman's form of Kim, McNaughton & McCloskey 1991: of states p ≠ q that a word x keeps, where q is
/// reached from p, p is not reached from q, and every word s leads from both or from neither to a state that reaches q.
/// O(n³ · letters). Throws LimitError where the pairs of states have more than 50 million arcs.
std::optional<std::string> local_violation(const Dfa& dfa);

}  // namespace krohn
