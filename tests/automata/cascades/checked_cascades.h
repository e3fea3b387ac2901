// tests/automata/cascades/checked_cascades.h — what every cascade promises, whoever made it: its shape, and emulation
// by checks that share no code with the decompositions.
#pragma once

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/emulation.h"
#include "krohn/automata/cascades/holonomy.h"
#include "tests/automata/bestiary.h"
#include "tests/testing.h"

namespace krohn {

inline std::vector<Label> widths(const Cascade& cascade) {
  std::vector<Label> result;
  for (const CascadeLayer& layer : cascade.layers) result.push_back(layer.width);
  return result;
}

/// The alphabet that each layer really needs.
inline std::vector<std::size_t> alphabet_sizes(const Cascade& cascade) {
  std::vector<std::size_t> sizes;
  for (const CascadeLayer& layer : cascade.layers) sizes.push_back(layer.actions.size());
  return sizes;
}

inline void require_shape(const Cascade& cascade, const Dfa& dfa) {
  REQUIRE_FALSE(cascade.layers.empty());
  REQUIRE(cascade.initial.size() == cascade.layers.size());
  REQUIRE(cascade.readout.next.size() == cascade.layers.size());
  REQUIRE(cascade.layers.front().wiring.action_of.size() == dfa.letters());
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    REQUIRE(cascade.initial[k] < layer.width);
    REQUIRE((layer.width >= 2 || cascade.layers.size() == 1));
    REQUIRE(layer.wiring.next.size() ==
            (k + 1 == cascade.layers.size() ? 0 : layer.wiring.action_of.size() * layer.width));
    for (const Transformation& action : layer.actions)
      REQUIRE((action.degree() == layer.width && (action.is_permutation() || action.constant_image())));
    for (const Action action : layer.wiring.action_of) REQUIRE(action < layer.actions.size());
    REQUIRE(std::set<Transformation>(layer.actions.begin(), layer.actions.end()).size() == layer.actions.size());
  }
}

/// The induction over all label tuples, which is a proof.
inline Cascade checked(Cascade cascade, const Dfa& dfa) {
  require_shape(cascade, dfa);
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
  return cascade;
}

inline State reachable(const Dfa& dfa) {
  if (!dfa.has_start()) return dfa.states();
  std::set<State> seen{dfa.initial()};
  for (std::vector<State> open(seen.begin(), seen.end()); !open.empty();) {
    const State q = open.back();
    open.pop_back();
    for (const State target : dfa.row(q))
      if (seen.insert(target).second) open.push_back(target);
  }
  return static_cast<State>(seen.size());
}

/// Every state has labels, and from all that stand for it every letter leads to labels of the right one: over all
/// tuples of labels, however few words reach.
inline void require_every_start(const Cascade& cascade, const Dfa& dfa) {
  const auto decoded = [&](const std::vector<Label>& labels) {
    Context node = 0;
    for (std::size_t k = 0; k < labels.size() && node != kNoContext; ++k)
      node = cascade.readout.next[k][std::size_t{node} * cascade.layers[k].width + labels[k]];
    return node;
  };
  std::set<State> met;
  std::vector<Label> labels(cascade.layers.size(), 0);
  for (std::size_t k = 0; k < labels.size();) {
    if (const Context state = decoded(labels); state != kNoContext) {
      met.insert(state);
      for (Letter letter = 0; letter < dfa.letters(); ++letter) {
        std::vector<Label> after = labels;
        step(cascade, letter, after);
        REQUIRE(decoded(after) == dfa.next(state, letter));
      }
    }
    for (k = 0; k < labels.size() && ++labels[k] == cascade.layers[k].width; ++k) labels[k] = 0;
  }
  REQUIRE(met.size() == dfa.states());
}

/// A chain has a layer less than states, and none is wider than those.
inline Cascade checked_chain(const Dfa& dfa, const ChainOptions& options = {}) {
  const Cascade cascade = checked(chain_decomposition(dfa, options), dfa);
  const State n = reachable(dfa);
  REQUIRE(cascade.layers.size() <= std::max<State>(n - 1, 1));
  for (const CascadeLayer& layer : cascade.layers) REQUIRE((layer.width <= n && layer.width >= (n == 1 ? 1 : 2)));
  return cascade;
}

inline Cascade checked_holonomy(const Dfa& dfa) { return checked(holonomy_decomposition(dfa), dfa); }

inline void require_reachable(const Cascade& cascade, const Dfa& dfa, std::uint64_t most = 1'000'000) {
  const EmulationResult result = explore_emulation(label_machine(cascade), dfa, most);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
}

/// Beside the automaton along a random word.
inline void require_no_mismatch(const Cascade& cascade, const Dfa& dfa, std::mt19937& random, int letters) {
  std::vector<Label> labels(cascade.initial);
  State state = dfa.initial();
  std::uint64_t mismatches = 0;
  for (int i = 0; i < letters; ++i) {
    const auto letter = static_cast<Letter>(random() % dfa.letters());
    step(cascade, letter, labels);
    state = dfa.next(state, letter);
    mismatches += decode(cascade, labels) != state;
  }
  REQUIRE(mismatches == 0);
}

}  // namespace krohn
