#include "krohn/constructions/build/diagonal_cascade.h"

#include <fmt/format.h>

#include "krohn/constructions/build/simple_layers.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::uint32_t kBlockDimension = 3;

/// A layer of shifts modulo its width.
Layer shift_layer(const CascadeLayer& layer, std::size_t k, Label initial, EigenvalueSet spectrum,
                  Precision precision) {
  if (spectrum == EigenvalueSet::kUnitInterval || (spectrum == EigenvalueSet::kPosition && k > 0))
    throw InputError(
        fmt::format("layer {} of the cascade counts modulo {}; eigenvalues in [0, 1] cannot", k + 1, layer.width));
  if (layer.width == 2) return sign_layer(layer, initial);
  if (spectrum == EigenvalueSet::kSigned)
    throw InputError(fmt::format("layer {} of the cascade counts modulo {}; eigenvalues in [−1, 1] count modulo 2 only",
                                 k + 1, layer.width));
  const bool exact = spectrum == EigenvalueSet::kPosition || spectrum == EigenvalueSet::kCyclic;
  return exact ? cyclic_layer(layer, initial) : turn_layer(layer, initial, precision);
}

/// A layer of two labels whose actions are the identity and the swap shifts; one whose actions are the identity and
/// constants resets; only the identity is both, and holds its label as a reset layer does.
Layer layer_of(const CascadeLayer& layer, std::size_t k, Label initial, EigenvalueSet spectrum, Precision precision) {
  if (is_reset_layer(layer)) return reset_layer(layer, initial);
  if (is_shift_layer(layer)) return shift_layer(layer, k, initial, spectrum, precision);
  if (spectrum == EigenvalueSet::kBlocks) return orthogonal_layer(layer, initial, kBlockDimension);
  throw InputError(
      fmt::format("layer {} of the cascade has bijections that are not shifts of Z_{}", k + 1, layer.width));
}

const char* name_of(EigenvalueSet spectrum) {
  switch (spectrum) {
    case EigenvalueSet::kUnitInterval:
      return "diagonal-unit-interval";
    case EigenvalueSet::kPosition:
      return "diagonal-position";
    case EigenvalueSet::kSigned:
      return "diagonal-signed";
    case EigenvalueSet::kUnitCircle:
      return "diagonal-unit-circle";
    case EigenvalueSet::kCyclic:
      return "cascade-primes";
    default:
      return "orthogonal-blocks";
  }
}

std::string note_of(const Cascade& cascade) {
  std::string note;
  for (const CascadeLayer& layer : cascade.layers)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", layer.width,
                        is_reset_layer(layer) ? "resets" : layer.component);
  return note;
}

}  // namespace

Network diagonal_cascade_network(const Dfa& automaton, const Cascade& cascade, EigenvalueSet spectrum,
                                 Precision precision) {
  if (!(cascade.alphabet == automaton.alphabet()))
    throw InputError("the cascade was made for another alphabet than the automaton's");
  Network network{
      automaton, {}, cascade.readout, {name_of(spectrum), {}, "Krohn–Rhodes (MATH.md §4)", note_of(cascade)}};
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    Layer layer = layer_of(cascade.layers[k], k, cascade.initial[k], spectrum, precision);
    layer.wiring = cascade.layers[k].wiring;
    network.layers.push_back(std::move(layer));
  }
  validate(network);
  return network;
}

}  // namespace krohn
