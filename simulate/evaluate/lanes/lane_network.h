// simulate/evaluate/lanes/lane_network.h — a network whose layers are all lane programs
// (simulate/evaluate/lanes/lane_program.h).
#pragma once

#include <utility>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/lanes/lane_layer.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

/// The layers of a network as lane programs. Views the network, which must outlive it.
template <class A>
class LaneNetwork {
 public:
  LaneNetwork(const Network& network, Form form) : rounded(network, form) {}

  /// False when some layer has no fast form.
  bool make(const Network& network) {
    const auto& readout = network.readout.next;
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      LanePlace place{k > 0, 0, readout[k], kNoState};
      if (k + 1 < network.layers.size()) {
        place.contexts_above = static_cast<Context>(network.layers[k + 1].wiring.action_of.size());
        place.unknown_above = static_cast<Context>(readout[k + 1].size() / network.layers[k + 1].labels);
      }
      auto layer = LaneLayer<A>::make(rounded.layers()[k], network.layers[k], place);
      if (!layer) return false;
      layers.push_back(std::move(*layer));
    }
    return true;
  }

  RoundedNetwork<A> rounded;
  std::vector<LaneLayer<A>> layers;
};

}  // namespace krohn
