// constructions/build/least_cost.h — what a row of the planner's table costs at least, before anything is built: a row
// that cannot be better than one at hand is not built (constructions/build/planner.h).
#pragma once

#include <cstdint>

#include "krohn/constructions/actions/tracked_states.h"

namespace krohn {

/// What the letters do to the reachable states, as far as costs depend on it. O(letters · n), and what multiplying all
/// pairs of letters takes until two do not commute.
class LetterFacts {
 public:
  explicit LetterFacts(const Dfa& automaton);

  std::uint64_t states() const { return states_; }
  bool all_permute() const { return all_permute_; }
  bool all_commute() const { return all_commute_; }
  /// Every letter is a permutation or a constant; the identity or a constant.
  bool permute_or_reset() const { return permute_or_reset_; }
  bool hold_or_reset() const { return hold_or_reset_; }
  /// The twelfth power of every letter that permutes is the identity.
  bool orders_divide_12() const { return orders_divide_12_; }
  /// The most reflections of a letter that permutes, n − cycles; n when a letter is a constant.
  std::uint64_t reflections() const { return reflections_; }

 private:
  std::uint64_t states_ = 0, reflections_ = 0;
  bool orders_divide_12_ = true, all_permute_ = true, all_commute_ = true, permute_or_reset_ = true,
       hold_or_reset_ = true;
};

/// A lower bound in the order of the planner's rule.
struct LeastCost {
  bool possible = true;  ///< false: the construction refuses the automaton for certain
  bool integral =
      true;  ///< false: its weights are no integers for certain, so that no more than one precision is exact
  std::uint32_t layers = 1;
  bool householder = true;  ///< false: it has no Householder form for certain
  std::uint64_t state_numbers = 1;
  std::uint64_t reflections = 1;
};

/// What is known of a construction's cost.
enum class CostKind : std::uint8_t {
  kAny,
  kGroup,               ///< for letters that permute the states
  kAbelian,             ///< for letters that permute the states and commute
  kPlane,               ///< for the same, by rotations of a plane that are rounded for one precision
  kMaps,                ///< one coordinate a state at least, every letter moving them as it moves the states
  kPermutations,        ///< the same, for letters that permute the states
  kTwoLayers,           ///< for letters that permute the states and commute
  kPermutationsResets,  ///< a cascade of one-hot permutation-reset layers
  kSwaps,               ///< a cascade of resets in rows and single swaps of one-hot labels
  kPrimes,              ///< a cascade of resets, cyclic groups and A_5
};

/// kPlane: entries near cosines and sines are integers at right angles only. Every order that divides 12 is let pass,
/// which covers all that matrices of integers can have in the plane.
///
/// Cascades. kPermutationsResets: one layer emulates the automaton only if its labels map onto the states so that
/// letters agree. A letter that permutes the labels then permutes the states, with cycles at least as long, and a
/// constant stays one; so other letters need a second layer. kPrimes: one layer of resets makes letters constant or the
/// identity, one of a cyclic group makes them commute, and one of A_5 has at most 60 states.
LeastCost least_cost(CostKind kind, const LetterFacts& facts);

}  // namespace krohn
