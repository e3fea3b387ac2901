#include "krohn/automata/cascades/cascade.h"

#include <fmt/format.h>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/error.h"

namespace krohn {

void step(const Cascade& cascade, Letter letter, std::span<Label> labels) {
  Context context = letter;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    if (context == kNoContext)
      throw Error(fmt::format("layer {} of the cascade has no context for labels that no word reaches", k + 1));
    const Label pre = labels[k];
    labels[k] = layer.actions[layer.wiring.action_of[context]][pre];
    if (!layer.wiring.next.empty()) context = layer.wiring.next[std::size_t{context} * layer.width + pre];
  }
}

State decode(const Cascade& cascade, std::span<const Label> labels) {
  Context node = 0;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    node = cascade.readout.next[k][std::size_t{node} * cascade.layers[k].width + labels[k]];
    if (node == kNoContext)
      throw Error(fmt::format("the readout of the cascade has no entry for the labels up to layer {}", k + 1));
  }
  return node;
}

EmulationResult check_emulation(const Cascade& cascade, const Dfa& dfa, std::uint64_t max_triples) {
  return prove_emulation(label_machine(cascade), dfa, max_triples);
}

}  // namespace krohn
