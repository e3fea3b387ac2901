// automata/cascades/position_cascade.h — a cascade of resets below a counter of positions: quasi-aperiodic stamps
// (Barrington, Compton, Straubing & Thérien 1992; MATH.md §4).
#pragma once

#include <cstdint>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"

namespace krohn {

struct PositionCascadeOptions {
  std::uint64_t max_elements = 20'000;  ///< of the transition monoid; LimitError beyond
  HolonomyOptions holonomy;
};

/// Emulates an automaton whose stamp is quasi-aperiodic. The first layer counts the letters read modulo t, the least t
/// for which the rest is aperiodic: every letter adds 1. All other layers have only the identity and constants. They
/// are the holonomy cascade of the automaton over (letter a, position i) whose states are pairs (position, state):
///     (i, q) ↦ (i+1, q·a),        (j, q) ↦ (i+1, c_i·a) for j ≠ i, with any one state c_i that is reached at i.
/// A word over pairs acts without a cycle: when its positions do not follow each other, all its images come from one
/// point; otherwise it moves positions by its length, and when that is a multiple of t its word of letters acts without
/// a cycle by the choice of t. For aperiodic automata t = 1 and there is no counter.
///
/// Throws InputError with a witness when the stamp is not quasi-aperiodic, LimitError past the limits.
Cascade position_cascade(const Dfa& dfa, const PositionCascadeOptions& options = {});

}  // namespace krohn
