// automata/operations/emptiness.h — what one acceptor accepts at all: nothing, everything, finitely many words; a
// shortest one.
#pragma once

#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

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

}  // namespace krohn
