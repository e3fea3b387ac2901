#include "krohn/constructions/build/build_two_layer_reflections.h"

#include <fmt/format.h>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

namespace krohn {
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

}  // namespace krohn
