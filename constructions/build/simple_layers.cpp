#include "krohn/constructions/build/simple_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/build/build_one_hot.h"
#include "krohn/constructions/build/build_orthogonal.h"
#include "krohn/constructions/exactness/locked_rotation.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"
#include "krohn/groups/representations/orthogonal_representation.h"

namespace krohn {
namespace {

Layer started(Layer layer, Label initial) {
  layer.initial_label = initial;
  layer.initial = codeword(layer, initial);
  return layer;
}

DiagonalMatrix multiple_of_identity(std::uint32_t dimension, double value) {
  return {std::vector<double>(dimension, value)};
}

Turn turn_of(Label shift, Label width) {
  return Turn{static_cast<std::int64_t>(shift), static_cast<std::int64_t>(width)}.normalised();
}

/// Complex numbers that rounding locks in this precision, where the search finds some.
std::optional<Layer> locked_layer(const CascadeLayer& cascade_layer, Precision precision) {
  std::vector<std::uint32_t> shifts;
  for (const Transformation& action : cascade_layer.actions) shifts.push_back(action[0]);
  const auto lock = locked_rotation(cascade_layer.width, shifts, precision, /*complex=*/true);
  if (!lock) return std::nullopt;
  Layer layer = listed_layer({lock->codewords.begin(), lock->codewords.end()});
  for (const std::uint32_t shift : shifts) layer.transitions.push_back({DenseMatrix{lock->turns.at(shift)}, {}});
  return layer;
}

PermutationGroup group_of(const CascadeLayer& layer) {
  std::vector<Permutation> generators;
  for (const Transformation& action : layer.actions) {
    if (!action.is_permutation())
      throw InputError(fmt::format("the action {} is not a permutation", to_string(action)));
    generators.push_back(action.to_permutation());
  }
  return PermutationGroup::from_generators(layer.width, std::move(generators));
}

}  // namespace

bool is_reset_layer(const CascadeLayer& layer) {
  return std::all_of(layer.actions.begin(), layer.actions.end(), [](const Transformation& action) {
    return action.is_identity() || action.constant_image().has_value();
  });
}

bool is_shift_layer(const CascadeLayer& layer) {
  return std::all_of(layer.actions.begin(), layer.actions.end(), [&](const Transformation& action) {
    for (Label x = 0; x < layer.width; ++x)
      if (action[x] != (x + action[0]) % layer.width) return false;
    return true;
  });
}

Layer reset_layer(const CascadeLayer& cascade_layer, Label initial) {
  Layer layer = unit_layer(cascade_layer.width);
  for (const Transformation& action : cascade_layer.actions) {
    if (action.is_identity()) {
      layer.transitions.push_back({multiple_of_identity(layer.dimension, 1), {}});
    } else {
      layer.transitions.push_back(
          {multiple_of_identity(layer.dimension, 0), codeword(layer, *action.constant_image())});
    }
  }
  return started(std::move(layer), initial);
}

Layer sign_layer(const CascadeLayer& cascade_layer, Label initial) {
  Layer layer = listed_layer({Eigen::MatrixXd::Constant(1, 1, 1), Eigen::MatrixXd::Constant(1, 1, -1)});
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({multiple_of_identity(1, action[0] == 0 ? 1 : -1), {}});
  return started(std::move(layer), initial);
}

Layer turn_layer(const CascadeLayer& cascade_layer, Label initial, Precision precision) {
  if (auto locked = locked_layer(cascade_layer, precision)) return started(*std::move(locked), initial);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < cascade_layer.width; ++label) {
    const Turn turn = turn_of(label, cascade_layer.width);
    Eigen::MatrixXd code(2, 1);
    code << static_cast<double>(turn.cosine()), static_cast<double>(turn.sine());
    codewords.push_back(code);
  }
  Layer layer = listed_layer(std::move(codewords));
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({RotationBlocks{{{false, turn_of(action[0], cascade_layer.width)}}}, {}});
  return started(std::move(layer), initial);
}

Layer cyclic_layer(const CascadeLayer& cascade_layer, Label initial) {
  Layer layer = unit_layer(cascade_layer.width);
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({permutation_matrix(action.to_permutation(), std::nullopt), {}});
  return started(std::move(layer), initial);
}

Layer orthogonal_layer(const CascadeLayer& cascade_layer, Label initial, std::uint32_t max_dimension) {
  const OrthogonalRepresentation representation = smallest_separating_representation(group_of(cascade_layer), initial);
  if (representation.dimension() > max_dimension)
    throw InputError(fmt::format("{} on {} labels needs {} dimensions", cascade_layer.component, cascade_layer.width,
                                 representation.dimension()));
  std::vector<Eigen::MatrixXd> codewords;
  for (const Eigen::VectorXd& code : representation.codewords) codewords.push_back(without_noise(code));
  Layer layer = listed_layer(std::move(codewords));
  layer.labels = cascade_layer.width;
  layer.decoder.label_of = representation.point_of;
  layer.initial_label = initial;  // the first codeword is the start's
  for (const Eigen::MatrixXd& matrix : representation.generators)
    layer.transitions.push_back({DenseMatrix{without_noise(matrix)}, {}});
  return layer;
}

}  // namespace krohn
