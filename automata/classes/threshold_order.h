// automata/classes/threshold_order.h — LTT_{k,t}: the ends of k−1 letters and the number of every factor of k letters,
// as far as t, decide.
#pragma once

#include <cstdint>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

struct ThresholdOrder {
  std::uint64_t k = 1, t = 1;
};

/// The least k for which the language is LTT_{k,t} with some t, and the least such t. `dfa` is minimal and locally
/// threshold testable. On the graph whose vertices are the words of k−1 letters, by the pairs of states that words lead
/// to (docs/MATH.md). Throws LimitError where that graph becomes too large before k is found.
ThresholdOrder threshold_order(const Dfa& dfa);

}  // namespace krohn
