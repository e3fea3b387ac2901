#include "krohn/constructions/build/cascade_network.h"

#include <fmt/format.h>

#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/build/build_one_hot.h"
#include "krohn/constructions/build/simple_layers.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// A bijection moves the one-hot label; a constant forgets the old one and writes its codeword. The only label of a
/// layer of width 1 is both, and is moved.
Transition transition_of(const Transformation& action, const Layer& layer, const CascadeNetworkOptions& options) {
  if (layer.columns > 1 && action.is_identity()) return {ReflectionProduct{1, {}}, {}};
  if (layer.columns == 1 && action.is_permutation())
    return {permutation_matrix(action.to_permutation(), options.keys), {}};
  return {ZeroMatrix{layer.dimension}, codeword(layer, *action.constant_image())};
}

/// Codeword i is the row e_iᵀ.
Layer row_layer(Label width) {
  require_listable(width, 1, width);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < width; ++label) {
    Eigen::MatrixXd& row = codewords.emplace_back(Eigen::MatrixXd::Zero(1, width));
    row(0, label) = 1;
  }
  return listed_layer(std::move(codewords));
}

Layer empty_layer(const CascadeLayer& cascade_layer, const CascadeNetworkOptions& options) {
  if (options.resets_in_rows && cascade_layer.width > 1 && is_reset_layer(cascade_layer))
    return row_layer(cascade_layer.width);
  return unit_layer(cascade_layer.width, coordinate_copies(options.keys));
}

Layer layer_of(const CascadeLayer& cascade_layer, Label initial, const CascadeNetworkOptions& options) {
  Layer layer = empty_layer(cascade_layer, options);
  layer.initial_label = initial;
  layer.initial = codeword(layer, initial);
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back(transition_of(action, layer, options));
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
    network.layers.push_back(layer_of(cascade.layers[k], cascade.initial[k], options));
  validate(network);
  return network;
}

}  // namespace krohn
