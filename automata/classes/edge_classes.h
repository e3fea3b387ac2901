// automata/classes/edge_classes.h — languages that the beginning or the end of a word decides, and finite ones.
#pragma once

#include "krohn/automata/classes/strictly_local.h"

namespace krohn {

/// The least k such that the last k letters decide, or two words that any number of further letters keeps apart. `dfa`
/// is minimal. The longest path among the pairs of states. O(n² · letters). Throws LimitError past 4,000 states.
ClassOrder definite_order(const Dfa& dfa);

/// The least k such that the first k letters decide, or words that matter after any number of letters. `dfa` is
/// minimal. O(n · letters).
ClassOrder reverse_definite_order(const Dfa& dfa);

/// Words of which there are infinitely many, when the language is not finite.
std::optional<std::string> endless(const Dfa& dfa);

}  // namespace krohn
