#include "krohn/constructions/build/cascade_network.h"

#include <fmt/format.h>

#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/build/build_one_hot.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// A bijection moves the one-hot label; a constant forgets the old one and writes its codeword. The only label of a
/// layer of width 1 is both, and is moved.
Transition transition_of(const Transformation& action, const Layer& layer, std::optional<KeyStyle> keys) {
  if (action.is_permutation()) return {permutation_matrix(action.to_permutation(), keys), {}};
  return {ZeroMatrix{layer.dimension}, codeword(layer, *action.constant_image())};
}

Layer layer_of(const CascadeLayer& cascade_layer, Label initial, std::optional<KeyStyle> keys) {
  Layer layer = unit_layer(cascade_layer.width, coordinate_copies(keys));
  layer.initial_label = initial;
  layer.initial = codeword(layer, initial);
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back(transition_of(action, layer, keys));
  layer.wiring = cascade_layer.wiring;
  return layer;
}

std::string note_of(const Cascade& cascade) {
  std::string note;
  for (const CascadeLayer& layer : cascade.layers)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", layer.width, layer.component);
  return note;
}

void require_permutation_reset(const Cascade& cascade) {
  for (std::size_t k = 0; k < cascade.layers.size(); ++k)
    for (const Transformation& action : cascade.layers[k].actions)
      if (!action.is_permutation() && !action.constant_image())
        throw InputError(fmt::format("layer {} of the cascade has the action {}, neither a bijection nor a constant",
                                     k + 1, to_string(action)));
}

}  // namespace

Network cascade_network(const Dfa& automaton, const Cascade& cascade, const CascadeNetworkOptions& options) {
  if (!(cascade.alphabet == automaton.alphabet()))
    throw InputError("the cascade was made for another alphabet than the automaton's");
  require_permutation_reset(cascade);
  Network network{automaton,
                  {},
                  cascade.readout,
                  {"cascade-" + cascade.method, {}, "Grazzi Thm. 4 (MATH.md §3)", note_of(cascade)}};
  for (std::size_t k = 0; k < cascade.layers.size(); ++k)
    network.layers.push_back(layer_of(cascade.layers[k], cascade.initial[k], options.keys));
  validate(network);
  return network;
}

}  // namespace krohn
