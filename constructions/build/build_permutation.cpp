#include "krohn/constructions/build/build_permutation.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/build/build_one_hot.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

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
  return fmt::format("action on {} points, {} column{}{}", degrees, action.columns, action.columns == 1 ? "" : "s",
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
    throw InputError(fmt::format("no sum of quotients of the {} states by block systems has a smaller degree{}",
                                 tracked.count(), action.exhaustive ? "" : ", within the limit of the search"));
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
  return single_layer_network(
      automaton, tracked, std::move(layer),
      {"permutation-vector",
       {},
       "Grazzi Thm. 3, H_0 = (1, ..., n)",
       fmt::format("degree {}, {} codewords; {}", action.degree(), codeword_count(layer), note_of(options))});
}

}  // namespace krohn
