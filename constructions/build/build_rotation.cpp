#include "krohn/constructions/build/builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"

namespace krohn {
namespace {

/// The home of factors of order at most 2: a sign or a plane.
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
  network.provenance.note = fmt::format(
      "not linear: snaps to the nearest of {} every {}, for {}; {}", counted(codeword_count(layer), "codeword"),
      counted(network.snap_every, "letter"), to_string(precision), network.provenance.note);
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

namespace {

using Orders = std::vector<std::uint32_t>;
constexpr std::uint64_t kMaxOrder = 4096;  ///< a longer polygon does not fit into any of the formats' planes

/// Finds the lock of one cyclic group for some shifts.
using Search = std::optional<LockedRotation> (*)(std::uint32_t, const std::vector<std::uint32_t>&, Precision);

std::optional<LockedRotation> search_plane(std::uint32_t m, const std::vector<std::uint32_t>& shifts,
                                           Precision precision) {
  return locked_rotation(m, shifts, precision);
}

/// One block of the matrices: coordinate `factor` of the group, taken modulo the rotation's order.
struct Block {
  std::size_t factor;
  LockedRotation rotation;  ///< of order 2: a sign
};

bool is_sign(const Block& block) { return block.rotation.order == 2; }

/// All partitions of the numbers into products, every number in one of them.
std::vector<Orders> groupings(const Orders& coprime) {
  std::vector<Orders> all{{}};
  for (const std::uint32_t order : coprime) {
    std::vector<Orders> longer;
    for (const Orders& products : all) {
      for (std::size_t i = 0; i < products.size(); ++i) {
        longer.push_back(products);
        longer.back()[i] *= order;
      }
      longer.push_back(products);
      longer.back().push_back(order);
    }
    all = std::move(longer);
  }
  return all;
}

std::size_t state_numbers(const Orders& orders) {
  std::size_t numbers = 0;
  for (const std::uint32_t order : orders) numbers += order == 2 ? 1 : 2;
  return numbers;
}

/// The locks of one cyclic factor of the group.
class FactorLocks {
 public:
  FactorLocks(const AbelianStructure& structure, std::size_t factor, Precision precision, Search search)
      : factor_(factor), precision_(precision), search_(search) {
    for (const auto& element : structure.of_action) shifts_.insert(element[factor]);
  }

  /// The blocks with the fewest numbers of state for which all searches succeed.
  std::vector<Block> blocks(std::uint32_t order) {
    if (order == 1) return {};
    Orders parts;
    for (const auto& [prime, power] : prime_powers(order)) parts.push_back(static_cast<std::uint32_t>(power));
    std::vector<Orders> choices = groupings(parts);
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Orders& a, const Orders& b) { return state_numbers(a) < state_numbers(b); });
    for (const Orders& orders : choices) {
      std::vector<Block> found;
      for (const std::uint32_t part : orders)
        if (const auto& lock = lock_of(part)) found.push_back({factor_, *lock});
      if (found.size() == orders.size()) return found;
    }
    throw InputError(fmt::format("for Z_{} in {} the search finds no plane and no sum of planes that rounding locks",
                                 order, to_string(precision_)));
  }

 private:
  const std::optional<LockedRotation>& lock_of(std::uint32_t order) {
    const auto [known, fresh] = locks_.try_emplace(order);
    if (!fresh) return known->second;
    std::set<std::uint32_t> shifts;
    for (const std::uint64_t shift : shifts_) shifts.insert(static_cast<std::uint32_t>(shift % order));
    if (order == 2)
      known->second = LockedRotation{2, precision_, 0, {{1, 0}, {-1, 0}}, {}};
    else
      known->second = search_(order, {shifts.begin(), shifts.end()}, precision_);
    return known->second;
  }

  std::size_t factor_;
  Precision precision_;
  Search search_;
  std::set<std::uint64_t> shifts_;
  std::map<std::uint32_t, std::optional<LockedRotation>> locks_;
};

std::vector<Block> find_blocks(const AbelianStructure& structure, Precision precision, Search search) {
  std::vector<Block> blocks;
  for (std::size_t factor = 0; factor < structure.orders.size(); ++factor) {
    if (structure.orders[factor] > kMaxOrder)
      throw InputError(fmt::format("Z_{} is too large: locked rotations are searched up to order {}",
                                   structure.orders[factor], kMaxOrder));
    FactorLocks locks(structure, factor, precision, search);
    for (Block& block : locks.blocks(static_cast<std::uint32_t>(structure.orders[factor])))
      blocks.push_back(std::move(block));
  }
  if (blocks.empty()) throw InputError("the transition group is trivial: there is nothing to turn");
  return blocks;
}

std::uint32_t coordinate(const AbelianStructure::Element& element, const Block& block) {
  return static_cast<std::uint32_t>(element[block.factor] % block.rotation.order);
}

Eigen::Index dimension_of(const std::vector<Block>& blocks) {
  Eigen::Index dimension = 0;
  for (const Block& block : blocks) dimension += is_sign(block) ? 1 : 2;
  return dimension;
}

/// The codewords of the blocks below one another; what `extra` more rows hold is left to the caller.
Eigen::MatrixXd code(const AbelianStructure::Element& element, const std::vector<Block>& blocks, Eigen::Index extra) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Ones(dimension_of(blocks) + extra, 1);
  Eigen::Index at = 0;
  for (const Block& block : blocks) {
    const Eigen::Vector2d& word = block.rotation.codewords[coordinate(element, block)];
    h(at++, 0) = word.x();
    if (!is_sign(block)) h(at++, 0) = word.y();
  }
  return h;
}

std::vector<Eigen::MatrixXd> matrix_blocks(const AbelianStructure::Element& element, const std::vector<Block>& blocks) {
  std::vector<Eigen::MatrixXd> matrices;
  for (const Block& block : blocks) {
    const std::uint32_t shift = coordinate(element, block);
    if (is_sign(block))
      matrices.push_back(Eigen::MatrixXd::Constant(1, 1, shift == 0 ? 1 : -1));
    else
      matrices.push_back(block.rotation.turns.at(shift));
  }
  return matrices;
}

/// The blocks, then the constant 1; the turning rows add the grid by their last entry and take it away by B.
Transition grid_transition(const AbelianStructure::Element& element, const std::vector<Block>& blocks) {
  const Eigen::Index n = dimension_of(blocks) + 1;
  DenseMatrix a{Eigen::MatrixXd::Zero(n, n)};
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, 1);
  const std::vector<Eigen::MatrixXd> matrices = matrix_blocks(element, blocks);
  Eigen::Index at = 0;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Eigen::Index size = matrices[k].rows();
    a.values.block(at, at, size, size) = matrices[k];
    a.values.block(at, n - 1, size, 1).setConstant(blocks[k].rotation.grid);
    b.block(at, 0, size, 1).setConstant(-blocks[k].rotation.grid);
    at += size;
  }
  a.values(n - 1, n - 1) = 1;
  return {std::move(a), std::move(b)};
}

std::string note_of(const std::vector<Block>& blocks, Precision precision, const char* how) {
  std::vector<std::uint32_t> orders;
  for (const Block& block : blocks) orders.push_back(block.rotation.order);
  return fmt::format("{} in {}: Z_{}", how, to_string(precision), fmt::join(orders, " x Z_"));
}

}  // namespace

Network build_rotation_locked(const Dfa& automaton, Precision precision) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  const std::vector<Block> blocks = find_blocks(structure, precision, search_plane);
  require_listable(tracked.count(), static_cast<std::uint64_t>(dimension_of(blocks)), 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : structure.of_state) codewords.push_back(code(element, blocks, 0));
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : structure.of_action)
    layer.transitions.push_back({BlockDiagonalMatrix{matrix_blocks(element, blocks)}, {}});
  return single_layer_network(
      automaton, tracked, std::move(layer),
      {"rotation-locked", {}, "search, MATH.md §5", note_of(blocks, precision, "locked by rounding")});
}

Network build_rotation_grid(const Dfa& automaton, Precision precision) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  const std::vector<Block> blocks = find_blocks(structure, precision, grid_rotation);
  require_listable(tracked.count(), static_cast<std::uint64_t>(dimension_of(blocks)) + 1, 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : structure.of_state) codewords.push_back(code(element, blocks, 1));
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : structure.of_action) layer.transitions.push_back(grid_transition(element, blocks));
  return single_layer_network(
      automaton, tracked, std::move(layer),
      {"rotation-grid", {}, "search, MATH.md §5", note_of(blocks, precision, "rounded to whole numbers")});
}

}  // namespace krohn
