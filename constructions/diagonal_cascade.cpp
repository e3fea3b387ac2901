#include "constructions/diagonal_cascade.h"

#include <fmt/format.h>

#include <algorithm>

#include "constructions/build_one_hot.h"
#include "constructions/listed_layer.h"
#include "constructions/locked_rotation.h"
#include "groups/error.h"

namespace krohn {
namespace {

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

DiagonalMatrix multiple_of_identity(std::uint32_t dimension, double value) {
  return {std::vector<double>(dimension, value)};
}

Layer reset_layer(const CascadeLayer& cascade_layer) {
  Layer layer = unit_layer(cascade_layer.width);
  for (const Transformation& action : cascade_layer.actions) {
    if (action.is_identity()) {
      layer.transitions.push_back({multiple_of_identity(layer.dimension, 1), {}});
    } else {
      layer.transitions.push_back(
          {multiple_of_identity(layer.dimension, 0), codeword(layer, *action.constant_image())});
    }
  }
  return layer;
}

Turn turn_of(Label shift, Label width) {
  return Turn{static_cast<std::int64_t>(shift), static_cast<std::int64_t>(width)}.normalised();
}

Layer sign_layer(const CascadeLayer& cascade_layer) {
  Layer layer = listed_layer({Eigen::MatrixXd::Constant(1, 1, 1), Eigen::MatrixXd::Constant(1, 1, -1)});
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({multiple_of_identity(1, action[0] == 0 ? 1 : -1), {}});
  return layer;
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

Layer turn_layer(const CascadeLayer& cascade_layer, Precision precision) {
  if (auto locked = locked_layer(cascade_layer, precision)) return *std::move(locked);
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
  return layer;
}

/// A layer of two labels whose actions are the identity and the swap shifts; one whose actions are the identity and
/// constants resets; only the identity is both, and holds its label as a reset layer does.
Layer layer_of(const CascadeLayer& cascade_layer, std::size_t k, Spectrum spectrum, Precision precision) {
  if (is_reset_layer(cascade_layer)) return reset_layer(cascade_layer);
  if (!is_shift_layer(cascade_layer))
    throw InputError(
        fmt::format("layer {} of the cascade has bijections that are not shifts of Z_{}", k + 1, cascade_layer.width));
  if (spectrum == Spectrum::kUnitInterval)
    throw InputError(fmt::format("layer {} of the cascade counts modulo {}; eigenvalues in [0, 1] cannot", k + 1,
                                 cascade_layer.width));
  if (cascade_layer.width == 2) return sign_layer(cascade_layer);
  if (spectrum == Spectrum::kSigned)
    throw InputError(fmt::format("layer {} of the cascade counts modulo {}; eigenvalues in [−1, 1] count modulo 2 only",
                                 k + 1, cascade_layer.width));
  return turn_layer(cascade_layer, precision);
}

const char* name_of(Spectrum spectrum) {
  switch (spectrum) {
    case Spectrum::kUnitInterval:
      return "diagonal-unit-interval";
    case Spectrum::kSigned:
      return "diagonal-signed";
    default:
      return "diagonal-unit-circle";
  }
}

}  // namespace

Network diagonal_cascade_network(const Dfa& automaton, const Cascade& prime_cascade, Spectrum spectrum,
                                 Precision precision) {
  if (!(prime_cascade.alphabet == automaton.alphabet()))
    throw InputError("the cascade was made for another alphabet than the automaton's");
  std::string note;
  for (const CascadeLayer& layer : prime_cascade.layers)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", layer.width,
                        is_reset_layer(layer) ? "resets" : layer.component);
  Network network{automaton, {}, prime_cascade.readout, {name_of(spectrum), {}, "Krohn–Rhodes (MATH.md §4)", note}};
  for (std::size_t k = 0; k < prime_cascade.layers.size(); ++k) {
    Layer layer = layer_of(prime_cascade.layers[k], k, spectrum, precision);
    layer.initial_label = prime_cascade.initial[k];
    layer.initial = codeword(layer, layer.initial_label);
    layer.wiring = prime_cascade.layers[k].wiring;
    network.layers.push_back(std::move(layer));
  }
  validate(network);
  return network;
}

}  // namespace krohn
