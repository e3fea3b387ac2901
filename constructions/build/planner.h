// constructions/build/planner.h — which constructions an automaton admits, what each costs, and which to take.
//
// The rule. A row fits the wishes when its cost is within them, when it is bit-exact (in the wished precision, if only
// letter after letter; otherwise in all four, in any order) if `exact` is set, and when it is written with keys if
// `keys` is set. Among the rows that fit, in this order:
//   1. bit-exact ones, because they are proved for words of every length;
//   2. fewer layers;
//   3. those with a Householder form, because their norm is at most 1 and the layers of linear RNNs can hold them;
//   4. less work per token: state numbers × reflections, since each reflection updates the whole state, or state
//      numbers alone where there is no Householder form;
//   5. fewer state numbers;
//   6. the earlier in the table.
// permutation-vector, whose margin shrinks with the degree, rotation-snapped, which is not linear, and registers, of
// which there may be far more than states, are taken only by name. Constructions that are made for one precision
// (rotation-locked, rotation-grid, the shifts in diagonal-unit-circle) are made for the wished one, or fp32; those that
// wrap around (wrapping-cells, diagonal-wrapping) fit where integers that do are wished.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

// A lower bound on the cost of a row of the planner's table, before anything is built: a row
// that cannot be better than one at hand is not built.

/// The letters' action on the reachable states, as far as costs depend on it. O(letters · n), and the cost of
/// multiplying all pairs of letters takes until two do not commute.
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

/// The known cost of a construction.
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

/// The user's wishes. Everything unset is left to the planner.
struct BuildOptions {
  std::optional<std::string> construction;
  std::optional<Precision> precision;  ///< must be exact in this precision when `exact`
  std::optional<WrappingIntegers> integers;  ///< of constructions that wrap around; u8 in a table
  std::optional<KeyStyle> keys;
  std::optional<std::int64_t> max_reflections;  ///< per token and layer
  std::optional<std::uint64_t> max_dimension;   ///< Σ n·d
  bool exact = false;                           ///< only bit-exact constructions
};

/// One row of the planner's table.
struct PlanRow {
  std::string construction;
  std::string theorem;
  bool possible = false;
  std::string reason;  ///< why not, or what limits it; empty when possible without remark
  std::uint32_t layers = 0;
  std::uint64_t state_numbers = 0;
  std::int64_t reflections = -1;  ///< most per token in any layer; −1: no GH form
  std::vector<std::size_t> alphabet_sizes;
  std::vector<Precision> exact_in;   ///< bit-exact for words of every length, in any order of evaluation
  std::vector<Precision> locked_in;  ///< the same, but only letter after letter: exactness.h
  std::optional<WrappingIntegers> wraps_in;  ///< it counts by wrapping around: exact in these integers and nowhere else
  std::uint64_t snap_every = 0;      ///< K > 0: not linear, snaps to its codewords every K letters
  double margin = 0;                 ///< least distance of two codewords, least over layers
  bool met_limit = false;            ///< not possible within a plan's limits; by name more is tried
  bool chosen = false;
};

/// The names that `BuildOptions::construction` takes, in the order of the table.
std::vector<std::string> construction_names();

/// Shown every network that is built, with its row, before it is dropped.
using RowVisitor = std::function<void(const PlanRow&, const Network&)>;

/// All constructions, possible or not, with their cost; exactly one row is `chosen` when any fits the wishes. Every row
/// is built once to be measured, within limits that its reason names. Throws InputError for an unknown construction and
/// an automaton without a start.
std::vector<PlanRow> plan(const Dfa& automaton, const BuildOptions& wishes, const RowVisitor& visit = {});

/// Which rows a choice is made from.
enum class PlanRows : std::uint8_t {
  kAll,     ///< all, for a table
  kNeeded,  ///< those that may win: the others cost too much by their lower bound. The choice is the
            ///< same.
};

/// The winner with its network, or why there is none. Each row was built at most once, one at a time.
struct Choice {
  std::vector<PlanRow> rows;       ///< in the order of the table
  std::optional<Network> network;  ///< of the chosen row
  std::exception_ptr failure;      ///< the exception of `build`; null with a network
  const PlanRow* chosen() const;
};

/// Throws InputError for an unknown construction only. The construction that the wishes name is built within wider
/// limits than the rows of a table.
Choice choose(const Dfa& automaton, const BuildOptions& wishes, PlanRows rows);

/// Builds the chosen row (or the one that `wishes.construction` names). Throws InputError with the reason when nothing
/// fits, LimitError when a stated limit was met.
Network build(const Dfa& automaton, const BuildOptions& wishes);

}  // namespace krohn
