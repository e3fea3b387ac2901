// automata/classes/semigroup_tests.h — what no algorithm on the automaton is known or fast for: thresholds, dot-depth
// one, and the order of local testability.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "krohn/automata/monoid/stamp.h"

namespace krohn {

/// Why an aperiodic language is not locally threshold testable: idempotents e and f and a, b, c with
/// e·a·f·b·e·c·f ≠ e·c·f·b·e·a·f (Thérien & Weiss 1985; Beauquier & Pin 1989), checked by running the words; nothing
/// when it is.
std::optional<std::string> threshold_violation(const SyntacticSemigroup& semigroup);

/// Why the language is not of dot-depth one: idempotents e and f and a, b, c, d against Knast's identity (1983)
/// (eafbe)^ω eafde (ecfde)^ω = (eafbe)^ω (ecfde)^ω, checked by running the words; nothing when it is.
std::optional<std::string> dot_depth_one_violation(const SyntacticSemigroup& semigroup);

/// True if the ends of k−1 letters and the set of the factors of k letters decide. By Simon's lemma on graphs whose
/// vertices are the words x of k−1 letters, exactly when loops at every x are idempotent and commute; loops of fewer
/// letters than x, which only periodic x have, are read off their period (docs/MATH.md).
bool is_locally_testable_of_order(const SyntacticSemigroup& semigroup, std::uint64_t k);

/// True if the ends of k−1 letters and the sequences of factors of k letters decide: by Knast's theorem on graphs whose
/// vertices are the words of k−1 letters (docs/MATH.md). Throws LimitError past two million products.
bool is_dot_depth_one_of_width(const SyntacticSemigroup& semigroup, std::uint64_t k);

}  // namespace krohn
