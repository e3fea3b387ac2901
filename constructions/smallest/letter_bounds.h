// constructions/smallest/letter_bounds.h — how many reflections some letter takes, and what layers must hold
// (docs/build.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

/// A number that is proved, and what says so.
struct LeastNumber {
  std::uint64_t value = 0;
  std::string because;
};

/// The most reflections per letter that one layer cannot do without whose numbers take finitely many values, whatever
/// reads them: of every letter what its idempotent power and its order there say, and of group automata what letters
/// that generate the group must move together.
LeastNumber reflections_of_any_layer(const Dfa& automaton);

/// What the simple groups in the monoid say of a cascade's layers.
struct DivisorBounds {
  LeastNumber labels;   ///< of the widest layer of permutations and resets
  LeastNumber numbers;  ///< of the widest layer, if its numbers take finitely many values
  /// Of layers with diagonal complex matrices: the greatest derived length; nothing when a group is not solvable.
  std::optional<LeastNumber> diagonal;
};

/// Throws LimitError where a composition series is out of reach.
DivisorBounds divisor_bounds(const Dfa& automaton, const GreenStructure& green);

/// For an aperiodic monoid, how many layers with diagonal matrices in [0, 1] there are at least: one is enough only if
/// xx = x and xyx = yx for all elements. Nothing where the monoid has more than `max_elements`.
std::optional<LeastNumber> layers_of_resets(const Dfa& automaton, std::uint64_t max_elements = 2000);

}  // namespace krohn
