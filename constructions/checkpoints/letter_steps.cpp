#include "krohn/constructions/checkpoints/letter_steps.h"

#include <algorithm>

#include "krohn/constructions/actions/based_action.h"

namespace krohn {
namespace {

std::optional<PointSteps> group_steps(const Dfa& automaton, const TrackedStates& tracked) {
  const BasedAction action = best_based_action(automaton, tracked);
  PointSteps steps{action.degree(), action.columns, action.column_of, action.images, {}, 0, 0};
  for (const Permutation& letter : action.letters) {
    const auto cycles = letter.cycles();
    if (cycles.size() > 1 || (cycles.size() == 1 && cycles[0].size() != 2)) return std::nullopt;
    steps.steps.push_back(cycles.empty() ? PointStep{} : PointStep{PointStep::Kind::kSwap, cycles[0][0], cycles[0][1]});
  }
  // The component of base point 0: its points are numbered one after the other.
  Point first = 0;
  for (const Point degree : action.degrees) {
    if (!action.images.empty() && action.images[0][0] < first + degree) {
      steps.first_component = degree;
      break;
    }
    first += degree;
  }
  steps.first_point = first;
  return steps;
}

}  // namespace

bool is_flip_flop(const TrackedStates& tracked) {
  return std::ranges::all_of(
      tracked.maps, [](const Transformation& map) { return map.is_identity() || map.constant_image().has_value(); });
}

std::optional<PointStep> step_of(const Transformation& map) {
  using Kind = PointStep::Kind;
  std::vector<Point> moved;
  for (Point point = 0; point < map.degree(); ++point)
    if (map[point] != point) moved.push_back(point);
  if (moved.empty()) return PointStep{};
  if (const auto constant = map.constant_image()) return PointStep{Kind::kReset, 0, *constant};
  if (moved.size() == 1) return PointStep{Kind::kMerge, moved[0], map[moved[0]]};
  if (moved.size() == 2 && map[moved[0]] == moved[1] && map[moved[1]] == moved[0])
    return PointStep{Kind::kSwap, moved[0], moved[1]};
  return std::nullopt;
}

std::optional<PointSteps> point_steps(const Dfa& automaton, const TrackedStates& tracked, bool can_merge) {
  if (is_group(tracked))
    if (auto steps = group_steps(automaton, tracked)) return steps;
  PointSteps steps{tracked.count(), 1, {0}, {}, {}, 0, tracked.count()};
  for (Label label = 0; label < tracked.count(); ++label) steps.images.push_back({label});
  for (const Transformation& map : tracked.maps) {
    const auto step = step_of(map);
    if (!step || (step->kind == PointStep::Kind::kMerge && !can_merge)) return std::nullopt;
    steps.steps.push_back(*step);
  }
  return steps;
}

}  // namespace krohn
