#include "krohn/constructions/build/build_signed_permutation.h"

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/network/listed_layer.h"

namespace krohn {
namespace {

/// Multiplication by x in R[x]/(x^size ∓ 1); order is size or 2·size.
struct ShiftBlock {
  std::uint64_t order, size;
  Point first;
};

struct Position {
  Point point;
  std::int8_t sign;
};

/// x^exponent, for exponents below twice the order.
Position power(const ShiftBlock& block, std::uint64_t exponent) {
  const std::uint64_t reduced = exponent % block.order;
  const bool wrapped = reduced >= block.size;
  return {block.first + static_cast<Point>(wrapped ? reduced - block.size : reduced),
          static_cast<std::int8_t>(wrapped ? -1 : 1)};
}

std::vector<ShiftBlock> blocks_of(const AbelianStructure& primary) {
  std::vector<ShiftBlock> blocks;
  Point first = 0;
  for (const std::uint64_t order : primary.orders) {
    const std::uint64_t size = order % 2 == 0 ? order / 2 : order;
    blocks.push_back({order, size, first});
    first += static_cast<Point>(size);
  }
  return blocks;
}

SignedPermutationMatrix shift(const std::vector<ShiftBlock>& blocks, const AbelianStructure::Element& element) {
  std::vector<Point> images;
  SignedPermutationMatrix matrix;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::uint64_t j = 0; j < blocks[i].size; ++j) {
      const Position image = power(blocks[i], j + element[i]);
      images.push_back(image.point);
      matrix.sign.push_back(image.sign);
    }
  matrix.map = Permutation::from_images(std::move(images));
  return matrix;
}

}  // namespace

Network build_signed_permutation(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure primary = primary_structure(abelian_structure(automaton, tracked));
  const std::vector<ShiftBlock> blocks = blocks_of(primary);
  const auto dimension = static_cast<Eigen::Index>(blocks.back().first + blocks.back().size);
  require_listable(tracked.count(), static_cast<std::uint64_t>(dimension), 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : primary.of_state) {
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(dimension, 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Position position = power(blocks[i], element[i]);
      h(position.point, 0) = position.sign;
    }
    codewords.push_back(std::move(h));
  }
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : primary.of_action) layer.transitions.push_back({shift(blocks, element), {}});
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"signed-permutation",
                               {},
                               "negacyclic shift; Chinese remainder theorem",
                               "transition group " + to_string(primary)});
}

}  // namespace krohn
