// constructions/smallest/plan_sizes.h — what the planner's networks count, in the models of docs/build.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// One network that was built.
struct PlanSize {
  std::string construction;
  std::uint32_t layers = 0;
  std::uint64_t numbers = 0;         ///< in all layers
  std::uint64_t widest_numbers = 0;  ///< of one layer
  std::uint64_t widest_labels = 0;   ///< of one layer
  std::int64_t reflections = -1;     ///< most per letter in a layer; −1: no such form
  /// In exact arithmetic the numbers take finitely many values: weights are as the theorem has them, not made for one
  /// format, and nothing snaps.
  bool has_finitely_many_values = false;
  bool is_diagonal = false;          ///< every A is diagonal over the complex numbers
  bool is_in_unit_interval = false;  ///< every A is diagonal with entries in [0, 1]
  bool adds_inputs = false;          ///< some B is not 0
  bool reads_linearly = false;       ///< what is shown is a linear function of the numbers: found exactly
  bool reads_affinely = false;       ///< the same with a constant
};

/// Every possible row of the planner's table. `shown` is by state.
std::vector<PlanSize> plan_sizes(const Dfa& automaton, std::span<const std::uint32_t> shown);

}  // namespace krohn
