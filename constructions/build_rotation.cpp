#include "constructions/build_rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "constructions/abelian_structure.h"
#include "constructions/exactness.h"
#include "constructions/listed_layer.h"
#include "constructions/rotation_drift.h"
#include "groups/error.h"

namespace krohn {
namespace {

/// Whether factors of order at most 2 take a sign or a plane.
enum class Halves { kSigns, kPlanes };

RotationBlocks rotation(const AbelianStructure::Element& element, const AbelianStructure& structure, Halves halves) {
  RotationBlocks matrix;
  for (std::size_t i = 0; i < element.size(); ++i) {
    const auto order = static_cast<std::int64_t>(structure.orders[i]);
    const Turn turn = Turn{static_cast<std::int64_t>(element[i]), order}.normalised();
    matrix.blocks.push_back({halves == Halves::kSigns && order <= 2, turn});
  }
  return matrix;
}

/// (cos, sin) of every plane and the sign of every 1×1 block: the first columns of the blocks.
Eigen::MatrixXd code(const RotationBlocks& rotation) {
  Eigen::MatrixXd h(dimension(rotation), 1);
  Eigen::Index at = 0;
  for (const auto& block : rotation.blocks) {
    h(at++, 0) = static_cast<double>(block.turn.cosine());
    if (!block.is_sign) h(at++, 0) = static_cast<double>(block.turn.sine());
  }
  return h;
}

Network build(const Dfa& automaton, const TrackedStates& tracked, const AbelianStructure& structure, Halves halves,
              Provenance provenance) {
  const std::uint32_t n = dimension(rotation(structure.of_state[0], structure, halves));
  require_listable(tracked.count(), n, 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : structure.of_state) codewords.push_back(code(rotation(element, structure, halves)));
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : structure.of_action)
    layer.transitions.push_back({rotation(element, structure, halves), {}});
  return single_layer_network(automaton, tracked, std::move(layer), std::move(provenance));
}

}  // namespace

Network build_rotation(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  return build(automaton, tracked, structure, Halves::kSigns,
               {"rotation", {}, "Grazzi Thm. 3", "transition group " + to_string(structure)});
}

Network build_rotation_snapped(const Dfa& automaton, Precision precision) {
  Network network = build_rotation(automaton);
  const Layer& layer = network.layers[0];
  const auto& blocks = std::get<RotationBlocks>(layer.transitions[0].a).blocks;
  const auto planes = std::count_if(blocks.begin(), blocks.end(), [](const auto& block) { return !block.is_sign; });
  if (planes == 0) throw InputError("all factors are signs, which do not drift: there is nothing to snap");
  network.snap_every =
      letters_before_drift(static_cast<std::uint32_t>(planes), least_codeword_distance(layer) / 2, precision);
  // Codewords are doubles, and so are the bounds of the proof, with errors like those of the network's own letters.
  if (precision == Precision::kFp64) network.snap_every /= 4;
  if (network.snap_every == 0)
    throw InputError(fmt::format("in {} one letter may already drift past half the distance {:.3g} of two codewords",
                                 to_string(precision), least_codeword_distance(layer)));
  network.provenance.construction = "rotation-snapped";
  network.provenance.theorem = "Grazzi Thm. 3; MATH.md §5";
  network.provenance.note =
      fmt::format("not linear: snaps to the nearest of {} codewords every {} letters, for {}; {}",
                  codeword_count(layer), network.snap_every, to_string(precision), network.provenance.note);
  return network;
}

Network build_rotation_primary(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = primary_structure(abelian_structure(automaton, tracked));
  return build(automaton, tracked, structure, Halves::kSigns,
               {"rotation-primary", {}, "Grazzi Thm. 3", "transition group " + to_string(structure)});
}

Network build_r2(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  return build(automaton, tracked, structure, Halves::kPlanes,
               {"r2", {}, "Ebrahimi App. A.2", "transition group " + to_string(structure)});
}

}  // namespace krohn
