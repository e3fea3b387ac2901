#include "krohn/constructions/build/build_diagonal.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

std::vector<double> signs(const AbelianStructure::Element& element) {
  std::vector<double> values;
  for (const std::uint64_t coordinate : element) values.push_back(coordinate == 0 ? 1 : -1);
  return values;
}

Eigen::MatrixXd column(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Network build(const Dfa& automaton, const TrackedStates& tracked, const AbelianStructure& structure,
              Provenance provenance) {
  require_listable(tracked.count(), structure.orders.size(), 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : structure.of_state) codewords.push_back(column(signs(element)));
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : structure.of_action) layer.transitions.push_back({DiagonalMatrix{signs(element)}, {}});
  return single_layer_network(automaton, tracked, std::move(layer), std::move(provenance));
}

}  // namespace

Network build_parity_scalar(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  if (structure.orders != std::vector<std::uint64_t>{2})
    throw InputError(fmt::format("the transition group is {}, not Z_2", to_string(structure)));
  return build(automaton, tracked, structure, {"parity-scalar", {}, "Grazzi Thm. 3", {}});
}

Network build_real_diagonal(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  if (std::any_of(structure.orders.begin(), structure.orders.end(), [](std::uint64_t order) { return order > 2; }))
    throw InputError(fmt::format("the transition group is {}, not Z_2^k", to_string(structure)));
  return build(automaton, tracked, structure,
               {"real-diagonal", {}, "Ebrahimi §2", "transition group " + to_string(structure)});
}

}  // namespace krohn
