// automata/classes/threshold_order.h — LTT_{k,t}: the ends of k−1 letters and the number of every factor of k letters,
// as far as t, decide.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

struct ThresholdOrder {
  std::uint64_t k = 1, t = 1;
};

/// Whether LTT_{k,t} holds, by all signatures (ends and numbers) that words have: words with one signature must lead to
/// one state, for signatures are a congruence. `dfa` is minimal. Nothing past `max_signatures`.
std::optional<bool> is_threshold_testable(const Dfa& dfa, std::uint64_t k, std::uint64_t t, std::size_t max_signatures);

/// For a language that is locally threshold testable: k and t of which neither can be smaller alone, the first with the
/// least k + t, then the least k. Nothing when a limit was met before.
std::optional<ThresholdOrder> threshold_order(const Dfa& dfa, std::uint64_t most_together, std::size_t max_signatures);

}  // namespace krohn
