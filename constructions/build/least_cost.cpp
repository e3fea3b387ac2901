#include "krohn/constructions/build/least_cost.h"

#include <algorithm>

namespace krohn {
namespace {

constexpr std::uint64_t kIcosahedral = 60;

bool commute(const std::vector<Transformation>& maps) {
  for (std::size_t a = 0; a < maps.size(); ++a)
    for (std::size_t b = a + 1; b < maps.size(); ++b)
      for (Point point = 0; point < maps[a].degree(); ++point)
        if (maps[b][maps[a][point]] != maps[a][maps[b][point]]) return false;
  return true;
}

}  // namespace

LetterFacts::LetterFacts(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  states_ = tracked.count();
  for (const Transformation& map : tracked.maps) {
    const bool permutes = map.is_permutation(), resets = map.constant_image().has_value();
    all_permute_ = all_permute_ && permutes;
    permute_or_reset_ = permute_or_reset_ && (permutes || resets);
    hold_or_reset_ = hold_or_reset_ && (map.is_identity() || resets);
    if (permutes) orders_divide_12_ = orders_divide_12_ && 12 % map.to_permutation().order() == 0;
    if (permutes)
      reflections_ = std::max<std::uint64_t>(reflections_, map.to_permutation().reflection_length());
    else if (resets)
      reflections_ = states_;
  }
  all_commute_ = commute(tracked.maps);
}

LeastCost least_cost(CostKind kind, const LetterFacts& facts) {
  constexpr LeastCost nothing_known{}, two_layers{.layers = 2};
  const LeastCost as_on_states{.state_numbers = facts.states(),
                               .reflections = std::max<std::uint64_t>(facts.reflections(), 1)};
  switch (kind) {
    case CostKind::kGroup:
      return {.possible = facts.all_permute()};
    case CostKind::kAbelian:
      return {.possible = facts.all_permute() && facts.all_commute()};
    case CostKind::kPlane:
      return {.possible = facts.all_permute() && facts.all_commute(), .integral = facts.orders_divide_12()};
    case CostKind::kMaps:
      if (facts.all_permute()) return as_on_states;
      return {.householder = false, .state_numbers = facts.states()};
    case CostKind::kPermutations:
      return facts.all_permute() ? as_on_states : LeastCost{.possible = false};
    case CostKind::kTwoLayers:
      return {.possible = facts.all_permute() && facts.all_commute(), .layers = 2};
    case CostKind::kPermutationsResets:
      return facts.permute_or_reset() ? as_on_states : two_layers;
    case CostKind::kSwaps:
      if (facts.hold_or_reset() || (facts.all_permute() && facts.reflections() <= 1))
        return {.state_numbers = facts.states()};
      return two_layers;
    case CostKind::kPrimes: {
      const bool group = facts.all_permute() && (facts.all_commute() || facts.states() <= kIcosahedral);
      return facts.hold_or_reset() || group ? nothing_known : two_layers;
    }
    default:
      return nothing_known;
  }
}

}  // namespace krohn
