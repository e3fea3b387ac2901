#include "krohn/constructions/actions/tracked_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "krohn/automata/dfa/breadth_first.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr Label kNone = UINT32_MAX;

/// Two states with the same image, when there are any.
struct Merge {
  Label first, second;
};
std::optional<Merge> find_merge(const Transformation& map) {
  std::vector<Label> preimage(map.degree(), kNone);
  for (Label label = 0; label < map.degree(); ++label) {
    Label& seen = preimage[map[label]];
    if (seen != kNone) return Merge{seen, label};
    seen = label;
  }
  return std::nullopt;
}

}  // namespace

TrackedStates tracked_states(const Dfa& automaton) {
  BreadthFirst reachable = breadth_first(automaton);
  TrackedStates tracked;
  tracked.states = std::move(reachable.order);
  std::map<Transformation, Action> interned;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    std::vector<Point> images(tracked.count());
    for (Label label = 0; label < tracked.count(); ++label)
      images[label] = reachable.table[std::size_t{label} * automaton.letters() + letter];
    const auto fresh = static_cast<Action>(interned.size());
    const auto [entry, inserted] = interned.emplace(Transformation::from_images(std::move(images)), fresh);
    if (inserted) {
      tracked.maps.push_back(entry->first);
      tracked.letter_of.push_back(letter);
    }
    tracked.action_of.push_back(entry->second);
  }
  return tracked;
}

bool is_group(const TrackedStates& tracked) {
  return std::ranges::all_of(tracked.maps, &Transformation::is_permutation);
}

std::vector<Permutation> permutations_of(const Dfa& automaton, const TrackedStates& tracked) {
  std::vector<Permutation> permutations;
  for (std::size_t action = 0; action < tracked.maps.size(); ++action) {
    const Transformation& map = tracked.maps[action];
    if (const auto merge = find_merge(map))
      throw InputError(fmt::format("letter \"{}\" is not a bijection: it takes states {} and {} both to {}",
                                   automaton.alphabet().name(tracked.letter_of[action]),
                                   automaton.state_name(tracked.states[merge->first]),
                                   automaton.state_name(tracked.states[merge->second]),
                                   automaton.state_name(tracked.states[map[merge->first]])));
    permutations.push_back(map.to_permutation());
  }
  return permutations;
}

Network single_layer_network(const Dfa& automaton, const TrackedStates& tracked, Layer layer, Provenance provenance) {
  layer.wiring.action_of = tracked.action_of;
  Readout readout{{std::vector<Context>(tracked.states.begin(), tracked.states.end())}};
  Network network{automaton, {std::move(layer)}, std::move(readout), std::move(provenance)};
  validate(network);
  return network;
}

}  // namespace krohn
