#include "krohn/constructions/build/build_orthogonal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/representations/orthogonal_representation.h"

namespace krohn {
Eigen::MatrixXd without_noise(const Eigen::MatrixXd& matrix) {
  return matrix.unaryExpr([](double entry) {
    const double halves = std::round(2 * entry) / 2;
    return std::abs(entry - halves) < 1e-12 ? halves : entry;
  });
}

Network build_orthogonal(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const PermutationGroup group =
      PermutationGroup::from_generators(tracked.count(), permutations_of(automaton, tracked));
  const OrthogonalRepresentation representation = smallest_separating_representation(group, 0);
  require_listable(representation.codewords.size(), representation.dimension(), 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const Eigen::VectorXd& code : representation.codewords) codewords.push_back(without_noise(code));
  Layer layer = listed_layer(std::move(codewords));
  layer.labels = tracked.count();
  layer.decoder.label_of = representation.point_of;
  for (const Eigen::MatrixXd& matrix : representation.generators)
    layer.transitions.push_back({DenseMatrix{without_noise(matrix)}, {}});
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"orthogonal",
                               {},
                               "MATH.md §6",
                               fmt::format("irreducible blocks of dimensions {}, {} codewords",
                                           fmt::join(representation.blocks, " + "), representation.codewords.size())});
}

}  // namespace krohn
