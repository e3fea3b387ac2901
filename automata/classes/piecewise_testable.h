// automata/classes/piecewise_testable.h — PT_k: the languages where the subsequences of at most k letters that a word
// has decide (Simon 1975).
#pragma once

#include "krohn/automata/classes/strictly_local.h"

namespace krohn {

/// Why the language is not piecewise testable: a cycle of several states, or a state and two letters between which the
/// order matters for ever; nothing when it is. `dfa` is minimal. Klíma & Polák 2013: no cycles, and confluent.
/// O(n · letters² · depth).
std::optional<std::string> piecewise_violation(const Dfa& dfa);

/// The least k of at least 1 for a language that is piecewise testable: one more than the greatest r + l for which some
/// state q, letter a with q ≠ q·a, word x to q and word y that tells q from q·a have x ~_r xa and y ~_l ay (Simon's
/// lemma: exactly then xy and xay have the same subsequences of r + l letters). coNP-hard in general (Masopust &
/// Thomazo 2017): LimitError past 200,000 vectors of such numbers.
std::uint64_t piecewise_order(const Dfa& dfa);

/// The letters on a longest way through the automaton: never less than `piecewise_order` (Klíma & Polák 2013).
std::uint64_t automaton_depth(const Dfa& dfa);

}  // namespace krohn
