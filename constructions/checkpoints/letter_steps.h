// constructions/checkpoints/letter_steps.h — what letters do, as far as one step of a delta rule can do it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// Whether every letter keeps all states or takes them all to one.
bool is_flip_flop(const TrackedStates& tracked);

/// Of a map of points: nothing moves; two points change places; `first` goes to `second`, which stays; or all go to
/// `second`.
struct PointStep {
  enum class Kind : std::uint8_t { kKeep, kSwap, kMerge, kReset };
  Kind kind = Kind::kKeep;
  Point first = 0, second = 0;
};

/// None when the map is nothing of the kind. A map to one of two points is a reset.
std::optional<PointStep> step_of(const Transformation& map);

/// A way to follow the states of an automaton by points: base point i of state label l is in column `column_of[i]` at
/// `images[l][i]`, and the images tell the labels apart.
struct PointSteps {
  Point points = 0;
  std::uint32_t columns = 1;
  std::vector<std::uint32_t> column_of;
  std::vector<std::vector<Point>> images;
  std::vector<PointStep> steps;                ///< per action of the letters
  Point first_point = 0, first_component = 0;  ///< base point 0 stays among so many points, from this one on
};

/// Points of the group's smallest action where every letter swaps two of them at most; else, the states themselves as
/// points of one column. None when some letter is no step, or a merge while `can_merge` is not set.
std::optional<PointSteps> point_steps(const Dfa& automaton, const TrackedStates& tracked, bool can_merge);

}  // namespace krohn
