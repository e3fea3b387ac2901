#include "krohn/constructions/build/builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"

namespace krohn {

Layer unit_layer(Label labels, std::uint32_t copies) {
  Layer layer;
  layer.dimension = labels * copies;
  layer.labels = labels;
  layer.decoder.unit_copies = copies;
  layer.initial = codeword(layer, 0);
  return layer;
}

Network build_one_hot(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  Layer layer = unit_layer(tracked.count());
  for (const Transformation& map : tracked.maps) layer.transitions.push_back({MapMatrix{map}, {}});
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"one-hot", {}, "Grazzi App. A.2; Ebrahimi Prop. 2.2", {}});
}

namespace {

constexpr std::uint64_t kMaxGates = std::uint64_t{1} << 22;

/// Terms over actions instead of letters.
struct ActionFactors {
  std::vector<std::vector<std::uint32_t>> outputs, inputs, actions;
};

ActionFactors factors_by_output(const TrackedStates& tracked) {
  ActionFactors factors;
  for (Action action = 0; action < tracked.maps.size(); ++action)
    for (Label state = 0; state < tracked.count(); ++state) {
      factors.outputs.push_back({tracked.maps[action][state]});
      factors.inputs.push_back({state});
      factors.actions.push_back({action});
    }
  return factors;
}

ActionFactors factors_by_input(const TrackedStates& tracked) {
  ActionFactors factors;
  for (Action action = 0; action < tracked.maps.size(); ++action) {
    std::map<Label, std::vector<std::uint32_t>> preimages;
    for (Label state = 0; state < tracked.count(); ++state) preimages[tracked.maps[action][state]].push_back(state);
    for (auto& [image, states] : preimages) {
      factors.outputs.push_back({image});
      factors.inputs.push_back(std::move(states));
      factors.actions.push_back({action});
    }
  }
  return factors;
}

ActionFactors factors_by_letter(const TrackedStates& tracked) {
  std::map<std::pair<Label, Label>, std::vector<std::uint32_t>> arcs;
  for (Action action = 0; action < tracked.maps.size(); ++action)
    for (Label state = 0; state < tracked.count(); ++state)
      arcs[{state, tracked.maps[action][state]}].push_back(action);
  ActionFactors factors;
  for (auto& [arc, actions] : arcs) {
    factors.outputs.push_back({arc.second});
    factors.inputs.push_back({arc.first});
    factors.actions.push_back(std::move(actions));
  }
  return factors;
}

ActionFactors action_factors(const TrackedStates& tracked, FibreMode mode) {
  switch (mode) {
    case FibreMode::kOutput:
      return factors_by_output(tracked);
    case FibreMode::kInput:
      return factors_by_input(tracked);
    default:
      return factors_by_letter(tracked);
  }
}

CpFactors over_letters(ActionFactors factors, const TrackedStates& tracked, FibreMode mode) {
  std::vector<std::vector<std::uint32_t>> letters_of(tracked.maps.size());
  for (Letter letter = 0; letter < tracked.action_of.size(); ++letter)
    letters_of[tracked.action_of[letter]].push_back(letter);
  CpFactors result{mode, std::move(factors.outputs), std::move(factors.inputs), {}};
  for (const auto& actions : factors.actions) {
    std::vector<std::uint32_t> letters;
    for (const Action action : actions)
      letters.insert(letters.end(), letters_of[action].begin(), letters_of[action].end());
    std::sort(letters.begin(), letters.end());
    result.letters.push_back(std::move(letters));
  }
  return result;
}

std::string name_of(FibreMode mode) {
  constexpr const char* names[] = {"output", "input", "letter"};
  return names[static_cast<std::size_t>(mode)];
}

}  // namespace

Network build_bilinear(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  require_dense(tracked.maps.size(), tracked.count());
  Layer layer = unit_layer(tracked.count());
  for (const Transformation& map : tracked.maps) {
    Eigen::MatrixXd slice = Eigen::MatrixXd::Zero(tracked.count(), tracked.count());
    for (Label state = 0; state < tracked.count(); ++state) slice(map[state], state) = 1;
    layer.transitions.push_back({DenseMatrix{std::move(slice)}, {}});
  }
  return single_layer_network(automaton, tracked, std::move(layer), {"bilinear", {}, "Ebrahimi Prop. 2.2", {}});
}

CpFactors cp_factors(const Dfa& automaton, FibreMode mode) {
  const TrackedStates tracked = tracked_states(automaton);
  return over_letters(action_factors(tracked, mode), tracked, mode);
}

CpFactors smallest_cp_factors(const Dfa& automaton) {
  CpFactors best = cp_factors(automaton, FibreMode::kOutput);
  for (const FibreMode mode : {FibreMode::kInput, FibreMode::kLetter}) {
    CpFactors other = cp_factors(automaton, mode);
    if (other.rank() < best.rank()) best = std::move(other);
  }
  return best;
}

Network build_factored(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const CpFactors factors = smallest_cp_factors(automaton);
  if (std::uint64_t{factors.rank()} * tracked.maps.size() > kMaxGates)
    throw LimitError(fmt::format("{} rank-one terms for {} distinct letters are past the limit of 2^22", factors.rank(),
                                 tracked.maps.size()));
  std::vector<std::vector<std::uint32_t>> gates(automaton.letters());
  for (std::uint32_t term = 0; term < factors.rank(); ++term)
    for (const Letter letter : factors.letters[term]) gates[letter].push_back(term);
  Layer layer = unit_layer(tracked.count());
  for (const Letter letter : tracked.letter_of)
    layer.transitions.push_back({FactoredMatrix{tracked.count(), factors.outputs, factors.inputs, gates[letter]}, {}});
  return single_layer_network(
      automaton, tracked, std::move(layer),
      {"factored", {}, "Ebrahimi §2.3", fmt::format("CP rank {}, {} fibres", factors.rank(), name_of(factors.mode))});
}

}  // namespace krohn
