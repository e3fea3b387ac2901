#include "krohn/constructions/build/build_one_hot.h"

#include "krohn/constructions/actions/tracked_states.h"

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

}  // namespace krohn
