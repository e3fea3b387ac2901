#include "krohn/automata/dfa/graph.h"

#include <fmt/format.h>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>

#include "krohn/automata/dfa/dfa_graph.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

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

class Walk {
 public:
  Walk(const Dfa& dfa, const std::vector<bool>& counts)
      : dfa_(dfa), counts_(counts), n_(dfa.states()), colour_(size(), kNew), height_(size(), 0) {}

  PairPaths paths() {
    PairPaths result;
    for (State q = 1; q < n_; ++q)
      for (State p = 0; p < q; ++p) {
        if (!counts_[p] || !counts_[q]) continue;
        result.has_pairs = true;
        const std::size_t pair = number(p, q);
        if (colour_[pair] == kNew && !visit(p, q, result)) return result;
        result.longest = std::max<std::uint64_t>(result.longest, height_[pair]);
      }
    return result;
  }

 private:
  enum Colour : std::uint8_t { kNew, kOpen, kDone };
  struct Step {
    State p, q;
    Letter next = 0;  ///< the letter to try next
  };

  std::size_t size() const { return std::size_t{n_} * (n_ - 1) / 2; }
  static std::size_t number(State p, State q) {
    if (p > q) std::swap(p, q);
    return std::size_t{q} * (q - 1) / 2 + p;
  }

  /// False once a cycle was found.
  bool visit(State p, State q, PairPaths& result) {
    std::vector<Step> path{{p, q}};
    colour_[number(p, q)] = kOpen;
    while (!path.empty()) {
      Step& step = path.back();
      const std::size_t pair = number(step.p, step.q);
      if (step.next == dfa_.letters()) {
        TimeLimit::check();
        colour_[pair] = kDone;
        path.pop_back();
        if (!path.empty()) {
          std::uint32_t& above = height_[number(path.back().p, path.back().q)];
          above = std::max(above, height_[pair] + 1);
        }
        continue;
      }
      const Letter letter = step.next++;
      const State a = dfa_.next(step.p, letter), b = dfa_.next(step.q, letter);
      if (a == b || !counts_[a] || !counts_[b]) continue;
      const std::size_t to = number(a, b);
      if (colour_[to] == kDone) {
        height_[pair] = std::max(height_[pair], height_[to] + 1);
      } else if (colour_[to] == kOpen) {
        result.cycle = cycle(path, to);
        return false;
      } else {
        colour_[to] = kOpen;
        path.push_back({a, b});
      }
    }
    return true;
  }

  StandingPair cycle(const std::vector<Step>& path, std::size_t to) const {
    const auto from =
        std::find_if(path.begin(), path.end(), [&](const Step& step) { return number(step.p, step.q) == to; });
    StandingPair standing{from->p, from->q, {}};
    for (auto step = from; step != path.end(); ++step) standing.word.push_back(step->next - 1);
    if (dfa_.run(standing.word, standing.p) != standing.p) {  // the two change places
      const Word once = standing.word;
      standing.word.insert(standing.word.end(), once.begin(), once.end());
    }
    return standing;
  }

  const Dfa& dfa_;
  const std::vector<bool>& counts_;
  State n_;
  std::vector<Colour> colour_;
  std::vector<std::uint32_t> height_;
};

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

PairPaths pair_paths(const Dfa& dfa, const std::vector<bool>& counts) {
  if (dfa.states() > kMaxPairedStates)
    throw LimitError(
        fmt::format("{}; pairs of states are compared up to {}", counted(dfa.states(), "state"), kMaxPairedStates));
  return Walk(dfa, counts).paths();
}

std::optional<Word> shortest_word(const Dfa& dfa, State from, const std::function<bool(State)>& goal,
                                  bool may_be_empty) {
  if (may_be_empty && goal(from)) return Word{};
  std::vector<State> queue{from}, parent(dfa.states(), dfa.states());
  std::vector<Letter> letter_of(dfa.states());
  parent[from] = from;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State next = dfa.next(queue[i], letter);
      if (parent[next] != dfa.states() && next != from) continue;
      if (goal(next)) {
        Word word{letter};
        for (State state = queue[i]; state != from; state = parent[state]) word.push_back(letter_of[state]);
        std::reverse(word.begin(), word.end());
        return word;
      }
      if (next == from) continue;
      parent[next] = queue[i];
      letter_of[next] = letter;
      queue.push_back(next);
    }
  return std::nullopt;
}

Word word_between(const Dfa& dfa, State from, State to) {
  return shortest_word(dfa, from, [to](State state) { return state == to; }).value();
}

}  // namespace krohn
