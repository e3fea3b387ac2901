#include "krohn/constructions/build/build_rotation.h"

#include <fmt/format.h>

#include <set>

#include "krohn/constructions/exactness/exactness.h"
#include "krohn/constructions/exactness/rotation_drift.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

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

/// One plane or sign for each harmonic.
RotationBlocks harmonic_rotation(const AbelianStructure::Element& element, const AbelianStructure& structure,
                                 std::span<const AbelianStructure::Element> harmonics) {
  const std::uint64_t exponent = structure.orders.back();  // a multiple of all orders
  RotationBlocks matrix;
  for (const auto& harmonic : harmonics) {
    std::uint64_t numerator = 0;
    bool is_sign = true;
    for (std::size_t i = 0; i < element.size(); ++i) {
      const std::uint64_t order = structure.orders[i];
      numerator = (numerator + harmonic[i] % order * element[i] % order * (exponent / order)) % exponent;
      is_sign = is_sign && 2 * harmonic[i] % order == 0;
    }
    const Turn turn{static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(exponent)};
    matrix.blocks.push_back({is_sign, turn.normalised()});
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

/// The network whose rotation of a group element is `matrix_of(element)`.
template <class MatrixOf>
Network build_with(const Dfa& automaton, const TrackedStates& tracked, const AbelianStructure& structure,
                   const MatrixOf& matrix_of, Provenance provenance) {
  require_listable(tracked.count(), dimension(matrix_of(structure.of_state[0])), 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : structure.of_state) codewords.push_back(code(matrix_of(element)));
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : structure.of_action) layer.transitions.push_back({matrix_of(element), {}});
  return single_layer_network(automaton, tracked, std::move(layer), std::move(provenance));
}

Network build(const Dfa& automaton, const TrackedStates& tracked, const AbelianStructure& structure, Halves halves,
              Provenance provenance) {
  const auto matrix_of = [&](const AbelianStructure::Element& element) { return rotation(element, structure, halves); };
  return build_with(automaton, tracked, structure, matrix_of, std::move(provenance));
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
  // A sign takes one coordinate and a plane two; without letters there is no matrix to count them in.
  const AbelianStructure structure = abelian_structure(automaton, tracked_states(automaton));
  const std::size_t planes = layer.dimension - structure.orders.size();
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

Network build_harmonics(const Dfa& automaton, std::span<const AbelianStructure::Element> harmonics) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  const auto matrix_of = [&](const AbelianStructure::Element& element) {
    return harmonic_rotation(element, structure, harmonics);
  };
  std::set<std::vector<std::int64_t>> seen;
  for (const auto& element : structure.of_state) {
    std::vector<std::int64_t> numerators;
    for (const auto& block : matrix_of(element).blocks)
      numerators.push_back(block.turn.numerator * static_cast<std::int64_t>(structure.orders.back()) /
                           block.turn.denominator);
    if (!seen.insert(std::move(numerators)).second)
      throw InputError(fmt::format("these {} harmonics do not tell the elements of {} apart; take more of them",
                                   harmonics.size(), to_string(structure)));
  }
  std::vector<std::string> names;
  for (const auto& harmonic : harmonics) names.push_back(fmt::format("({})", fmt::join(harmonic, ", ")));
  return build_with(automaton, tracked, structure, matrix_of,
                    {"harmonics",
                     {},
                     "Ebrahimi App. C.2",
                     fmt::format("transition group {}, harmonics {}", to_string(structure), fmt::join(names, " "))});
}

Network build_r2(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  return build(automaton, tracked, structure, Halves::kPlanes,
               {"r2", {}, "Ebrahimi App. A.2", "transition group " + to_string(structure)});
}

}  // namespace krohn
