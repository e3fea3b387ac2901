#include "krohn/constructions/actions/column_cascade.h"

namespace krohn {
namespace {

CascadeLayer layer_of(const TrackedStates& tracked, const BasedAction& action) {
  CascadeLayer layer;
  layer.width = action.degree();
  for (const Permutation& letter : action.letters)
    layer.actions.push_back(Transformation::from_images({letter.images().begin(), letter.images().end()}));
  layer.wiring.action_of = tracked.action_of;
  layer.component = component_name(layer.actions);
  return layer;
}

std::vector<Context> letters_go_on(const Dfa& automaton, Label width) {
  std::vector<Context> next;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) next.insert(next.end(), width, letter);
  return next;
}

/// The tree of the images of all states, a level for every base point.
Readout readout_of(const TrackedStates& tracked, const BasedAction& action) {
  const Point width = action.degree();
  Readout readout;
  std::vector<Context> node_of(tracked.count(), 0);
  std::size_t nodes = 1;
  for (std::size_t base = 0; base < action.column_of.size(); ++base) {
    const bool is_last = base + 1 == action.column_of.size();
    std::vector<Context>& next = readout.next.emplace_back(nodes * width, kNoContext);
    Context below = 0;
    for (Label label = 0; label < tracked.count(); ++label) {
      Context& to = next[std::size_t{node_of[label]} * width + action.images[label][base]];
      if (is_last)
        to = tracked.states[label];
      else if (to == kNoContext)
        to = below++;
      node_of[label] = to;
    }
    nodes = below;
  }
  return readout;
}

}  // namespace

Cascade column_cascade(const Dfa& automaton, const TrackedStates& tracked, const BasedAction& action) {
  Cascade cascade;
  cascade.alphabet = automaton.alphabet();
  cascade.method = "columns";
  cascade.layers.assign(action.column_of.size(), layer_of(tracked, action));
  for (std::size_t base = 0; base < cascade.layers.size(); ++base) {
    if (base + 1 < cascade.layers.size()) cascade.layers[base].wiring.next = letters_go_on(automaton, action.degree());
    cascade.initial.push_back(action.images[0][base]);
  }
  cascade.readout = readout_of(tracked, action);
  return cascade;
}

}  // namespace krohn
