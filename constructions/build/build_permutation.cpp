#include "krohn/constructions/build/builders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <string>

#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/representations/orthogonal_representation.h"

namespace krohn {
namespace {

std::string name_of(const std::string& construction, const PermutationOptions& options) {
  return options.keys ? construction + "-reflections" : construction;
}

std::string note_of(const PermutationOptions& options) {
  if (!options.keys) return "0/1 matrices";
  switch (*options.keys) {
    case KeyStyle::kUnit:
      return "unit keys, beta 2";
    case KeyStyle::kUnnormalised:
      return "keys e_i - e_j, beta 1";
    default:
      return "doubled coordinates, beta 2";
  }
}

std::string describe(const BasedAction& action) {
  std::string degrees;
  for (const Point degree : action.degrees) degrees += fmt::format("{}{}", degrees.empty() ? "" : " + ", degree);
  return fmt::format("action on {} points, {}{}", degrees, counted(action.columns, "column"),
                     action.exhaustive ? "" : ", search cut at its limit");
}

void add_transitions(Layer& layer, const std::vector<Permutation>& letters, const PermutationOptions& options) {
  for (const Permutation& letter : letters) layer.transitions.push_back({permutation_matrix(letter, options.keys), {}});
}

/// Every element of the group as the images of all points, with the state it leads to, in breadth-first order.
struct GroupOrbit {
  std::vector<std::vector<Point>> images;
  std::vector<Label> label_of;
};

GroupOrbit group_orbit(const BasedAction& action, const TrackedStates& tracked, std::uint32_t copies) {
  GroupOrbit orbit;
  std::map<std::vector<Point>, std::size_t> seen;
  const auto visit = [&](std::vector<Point> images, Label label) {
    if (!seen.emplace(images, seen.size()).second) return;
    require_listable(seen.size(), std::uint64_t{action.degree()} * copies, 1);
    orbit.images.push_back(std::move(images));
    orbit.label_of.push_back(label);
  };
  const Permutation identity = Permutation::identity(action.degree());
  visit({identity.images().begin(), identity.images().end()}, 0);
  for (std::size_t i = 0; i < orbit.images.size(); ++i)
    for (std::size_t letter = 0; letter < action.letters.size(); ++letter) {
      std::vector<Point> images = orbit.images[i];
      for (Point& image : images) image = action.letters[letter][image];
      visit(std::move(images), tracked.maps[letter][orbit.label_of[i]]);
    }
  return orbit;
}

/// Point i of the start carries the number i + 1, in every copy.
Eigen::MatrixXd numbered(const std::vector<Point>& images, std::uint32_t copies) {
  const auto n = static_cast<Eigen::Index>(images.size());
  Eigen::MatrixXd h(n * copies, 1);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index copy = 0; copy < copies; ++copy)
      h(copy * n + images[static_cast<std::size_t>(i)], 0) = static_cast<double>(i + 1);
  return h;
}

Eigen::MatrixXd based_code(const BasedAction& action, Label label, std::uint32_t copies) {
  const Eigen::Index n = action.degree();
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(n * copies, action.columns);
  for (std::size_t i = 0; i < action.column_of.size(); ++i)
    for (Eigen::Index copy = 0; copy < copies; ++copy) h(copy * n + action.images[label][i], action.column_of[i]) = 1;
  return h;
}

}  // namespace

Network build_permutation(const Dfa& automaton, const PermutationOptions& options) {
  const TrackedStates tracked = tracked_states(automaton);
  const std::vector<Permutation> letters = permutations_of(automaton, tracked);
  Layer layer = unit_layer(tracked.count(), coordinate_copies(options.keys));
  add_transitions(layer, letters, options);
  return single_layer_network(automaton, tracked, std::move(layer),
                              {name_of("permutation", options), {}, "Grazzi Thm. 3", note_of(options)});
}

Network build_permutation_base(const Dfa& automaton, const PermutationOptions& options) {
  return build_permutation_base(automaton, best_based_action(automaton, tracked_states(automaton)), options);
}

Network build_permutation_base(const Dfa& automaton, const BasedAction& action, const PermutationOptions& options) {
  const TrackedStates tracked = tracked_states(automaton);
  if (action.degree() >= tracked.count())
    throw InputError(fmt::format("no sum of quotients of the {} by block systems has a smaller degree{}",
                                 counted(tracked.count(), "state"),
                                 action.exhaustive ? "" : ", within the limit of the search"));
  const std::uint32_t copies = coordinate_copies(options.keys);
  require_listable(tracked.count(), std::uint64_t{action.degree()} * copies, action.columns);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < tracked.count(); ++label) codewords.push_back(based_code(action, label, copies));
  Layer layer = listed_layer(std::move(codewords));
  add_transitions(layer, action.letters, options);
  return single_layer_network(automaton, tracked, std::move(layer),
                              {name_of("permutation-base", options),
                               {},
                               "Grazzi Thm. 3; base of the group",
                               describe(action) + "; " + note_of(options)});
}

Network build_permutation_vector(const Dfa& automaton, const PermutationOptions& options) {
  return build_permutation_vector(automaton, best_based_action(automaton, tracked_states(automaton)), options);
}

Network build_permutation_vector(const Dfa& automaton, const BasedAction& action, const PermutationOptions& options) {
  const TrackedStates tracked = tracked_states(automaton);
  const std::uint32_t copies = coordinate_copies(options.keys);
  GroupOrbit orbit = group_orbit(action, tracked, copies);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& images : orbit.images) codewords.push_back(numbered(images, copies));
  Layer layer = listed_layer(std::move(codewords));
  layer.labels = tracked.count();
  layer.decoder.label_of = std::move(orbit.label_of);
  add_transitions(layer, action.letters, options);
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"permutation-vector",
                               {},
                               "Grazzi Thm. 3, H_0 = (1, ..., n)",
                               fmt::format("degree {}, {}; {}", action.degree(),
                                           counted(codeword_count(layer), "codeword"), note_of(options))});
}

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

namespace {

constexpr std::uint32_t kEven = 0, kOdd = 1;

/// Letter i, position parity p (after the letter) ↦ context and action of the plane.
Context plane_context(Action action, std::uint32_t parity) { return 2 * action + parity; }

Layer parity_layer(const TrackedStates& tracked) {
  Layer layer = listed_layer({Eigen::MatrixXd::Constant(1, 1, 1), Eigen::MatrixXd::Constant(1, 1, -1)});
  Reflection flip;
  flip.entries = {{0, 1}};
  layer.transitions.push_back({ReflectionProduct{1, {flip}}, {}});
  for (const Action action : tracked.action_of) {
    layer.wiring.action_of.push_back(0);
    layer.wiring.next.push_back(plane_context(action, kOdd));   // from even
    layer.wiring.next.push_back(plane_context(action, kEven));  // from odd
  }
  return layer;
}

/// H(θ) = I − 2kkᵀ fixes the angle θ/2, so its key is at θ/2 + ¼ turn. θ is given in units of π/m.
Reflection mirror(std::int64_t theta, std::int64_t m) {
  Reflection reflection;
  reflection.angle = Turn{theta + m, 4 * m}.normalised();
  return reflection;
}

/// The unit vector at `steps` · π/m.
Eigen::MatrixXd at_angle(std::int64_t steps, std::int64_t m) {
  const Turn turn{steps, 2 * m};
  Eigen::MatrixXd h(2, 1);
  h << static_cast<double>(turn.cosine()), static_cast<double>(turn.sine());
  return h;
}

Layer plane_layer(const AbelianStructure& structure) {
  const auto m = static_cast<std::int64_t>(structure.orders[0]);
  std::vector<Eigen::MatrixXd> codewords;
  std::vector<Label> label_of;
  std::vector<std::uint32_t> book;
  for (const std::uint32_t parity : {kEven, kOdd})
    for (Label label = 0; label < structure.of_state.size(); ++label) {
      const auto y = static_cast<std::int64_t>(structure.of_state[label][0]);
      codewords.push_back(at_angle(parity == kEven ? 2 * y : 1 - 2 * y, m));
      label_of.push_back(label);
      book.push_back(parity);
    }
  Layer layer = listed_layer(std::move(codewords));
  layer.labels = static_cast<Label>(structure.of_state.size());
  layer.decoder.label_of = std::move(label_of);
  layer.decoder.book = std::move(book);
  for (Action action = 0; action < structure.of_action.size(); ++action) {
    const auto i = static_cast<std::int64_t>(structure.of_action[action][0]);
    for (const std::uint32_t parity : {kEven, kOdd}) {
      const Reflection reflection = mirror(parity == kEven ? 2 * i + 1 : 1 - 2 * i, m);
      layer.transitions.push_back({ReflectionProduct{2, {reflection}}, {}});
      layer.wiring.action_of.push_back(plane_context(action, parity));
      layer.book_of_context.push_back(parity);
    }
  }
  return layer;
}

}  // namespace

Network build_two_layer_reflections(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure structure = abelian_structure(automaton, tracked);
  if (structure.orders.size() != 1)
    throw InputError(fmt::format("the transition group is {}, which is not cyclic", to_string(structure)));
  Readout readout{{{0, 0}, std::vector<Context>(tracked.states.begin(), tracked.states.end())}};
  Network network{automaton,
                  {parity_layer(tracked), plane_layer(structure)},
                  std::move(readout),
                  {"two-layer-reflections", {}, "Grazzi Thm. 6", "transition group " + to_string(structure)}};
  validate(network);
  return network;
}

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
  return single_layer_network(
      automaton, tracked, std::move(layer),
      {"orthogonal",
       {},
       "MATH.md §6",
       fmt::format("irreducible blocks of dimensions {}, {}", fmt::join(representation.blocks, " + "),
                   counted(representation.codewords.size(), "codeword"))});
}

}  // namespace krohn
