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
// (rotation-locked, rotation-grid, the shifts in diagonal-unit-circle) are made for the wished one, or fp32.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/actions/key_style.h"
#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

/// What the user asks for. Everything unset is left to the planner.
struct BuildOptions {
  std::optional<std::string> construction;
  std::optional<Precision> precision;  ///< must be exact in this precision when `exact`
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
  std::vector<Precision> locked_in;  ///< the same, but only letter after letter: locked_precisions.h
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
/// is built once to be measured, within limits that its reason names. Throws InputError for an unknown construction and an
/// automaton without a start.
std::vector<PlanRow> plan(const Dfa& automaton, const BuildOptions& wishes, const RowVisitor& visit = {});

/// Which rows a choice is made from.
enum class PlanRows : std::uint8_t {
  kAll,     ///< all, for a table
  kNeeded,  ///< those that may win: the others cost too much by constructions/build/least_cost.h. The choice is the
            ///< same.
};

/// The winner with its network, or why there is none. Each row was built at most once, one at a time.
struct Choice {
  std::vector<PlanRow> rows;       ///< in the order of the table
  std::optional<Network> network;  ///< of the chosen row
  std::exception_ptr failure;      ///< what `build` throws; null with a network
  const PlanRow* chosen() const;
};

/// Throws InputError for an unknown construction only. The construction that the wishes name is built within wider
/// limits than the rows of a table.
Choice choose(const Dfa& automaton, const BuildOptions& wishes, PlanRows rows);

/// Builds the chosen row (or the one that `wishes.construction` names). Throws InputError with the reason when nothing
/// fits, LimitError when a stated limit was met.
Network build(const Dfa& automaton, const BuildOptions& wishes);

}  // namespace krohn
