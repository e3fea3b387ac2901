#include "krohn/automata/dfa/graph.h"

#include <fmt/format.h>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>

#include "krohn/automata/dfa/dfa_graph.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr State kNoState = UINT32_MAX;

/// A property map from states into a vector.
template <class Value>
auto by_state(std::vector<Value>& values) {
  return boost::make_iterator_property_map(values.begin(), boost::typed_identity_property_map<State>());
}

/// Tells `discovered` of every state and `found` of every arc of the search tree, in breadth-first order.
template <class Discovered, class Found>
struct TreeVisitor : boost::default_bfs_visitor {
  TreeVisitor(Discovered discovered, Found found) : on_discovered(discovered), on_found(found) {}
  void discover_vertex(State state, const Dfa&) { on_discovered(state); }
  void tree_edge(const DfaArc& transition, const Dfa&) { on_found(transition); }
  Discovered on_discovered;
  Found on_found;
};

template <class Discovered, class Found>
void search_breadth_first(const Dfa& dfa, Discovered discovered, Found found) {
  std::vector<boost::default_color_type> colours(dfa.states());
  boost::breadth_first_search(
      dfa, dfa.initial(),
      boost::visitor(TreeVisitor<Discovered, Found>(discovered, found)).color_map(by_state(colours)));
}

}  // namespace

std::vector<bool> reachable_states(const Dfa& dfa) {
  std::vector<bool> reachable(dfa.states(), !dfa.has_start());
  if (!dfa.has_start()) return reachable;
  search_breadth_first(
      dfa, [&](State state) { reachable[state] = true; }, [](const DfaArc&) {});
  return reachable;
}

ShortestWords::ShortestWords(const Dfa& dfa) : initial_(dfa.initial()), tree_(dfa.states(), {kNoState, 0}) {
  search_breadth_first(
      dfa, [&](State state) { order_.push_back(state); },
      [&](const DfaArc& arc) {
        tree_[arc.target] = {arc.source, arc.letter};
      });
}

std::optional<Word> ShortestWords::to(State state) const {
  Word word;
  for (; state != initial_; state = tree_[state].parent) {
    if (tree_[state].parent == kNoState) return std::nullopt;
    word.push_back(tree_[state].letter);
  }
  std::reverse(word.begin(), word.end());
  return word;
}

std::vector<std::vector<State>> Components::members() const {
  std::vector<std::vector<State>> result(count);
  for (State state = 0; state < of.size(); ++state) result[of[state]].push_back(state);
  return result;
}

Components strongly_connected_components(const Dfa& dfa) {
  Components components;
  components.of.resize(dfa.states());
  components.count = static_cast<Component>(boost::strong_components(dfa, by_state(components.of)));
  // The library numbers components as it completes them: targets first.
  for (Component& component : components.of) component = components.count - 1 - component;
  return components;
}

std::vector<std::vector<Component>> condensation(const Dfa& dfa, const Components& components) {
  std::vector<std::vector<Component>> arcs(components.count);
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state))
      if (components.of[target] != components.of[state]) arcs[components.of[state]].push_back(components.of[target]);
  for (std::vector<Component>& targets : arcs) {
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  }
  return arcs;
}

ComponentReachability::ComponentReachability(const std::vector<std::vector<Component>>& condensation,
                                             std::uint64_t max_bytes)
    : words_((condensation.size() + 63) / 64) {
  const std::size_t count = condensation.size();
  if (count > max_bytes / 8 / std::max<std::size_t>(words_, 1))
    throw LimitError(fmt::format("the reachability of {} needs {}; the limit is {}", counted(count, "component"),
                                 counted(count * words_ * 8, "byte"), max_bytes));
  bits_.assign(count * words_, 0);
  for (std::size_t from = count; from-- > 0;) {
    bits_[from * words_ + from / 64] |= std::uint64_t{1} << (from % 64);
    for (const Component to : condensation[from])
      for (std::size_t word = 0; word < words_; ++word) bits_[from * words_ + word] |= bits_[to * words_ + word];
  }
}

}  // namespace krohn
