// automata/dfa/graph.h — what the Boost Graph Library says about an automaton: what is reachable, by which shortest
// words, and which states are strongly connected. No algorithm here recurses, so long chains are safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The reachable states renumbered 0, 1, … in the order of their length-lexicographically least words; 0 is initial. Of
/// an automaton without a start all states, in their own order.
struct BreadthFirst {
  std::vector<State> table;     ///< over the new numbers, row by row
  std::vector<Output> outputs;  ///< by new number
  std::vector<State> order;     ///< new number ↦ old state
};

/// O(k n) time; one pass builds numbers and table together.
BreadthFirst breadth_first(const Dfa& dfa);

/// The automaton of these tables, which `dfa` gave: its letters, its outputs' names, its states' names, a start if it
/// has one.
Dfa with_table(const Dfa& dfa, BreadthFirst tables);

/// Per state: some word leads to it from the initial state, or the automaton has no start. O(k n).
std::vector<bool> reachable_states(const Dfa& dfa);

/// The length-lexicographically least word from the initial state to every reachable state, as a search tree. O(k n)
/// time, 12 bytes a state.
class ShortestWords {
 public:
  explicit ShortestWords(const Dfa& dfa);

  /// The reachable states in the order of their words.
  std::span<const State> states() const { return order_; }
  /// Nothing when no word leads there. O(length).
  std::optional<Word> to(State state) const;

 private:
  struct Arc {
    State parent;
    Letter letter;
  };
  State initial_;
  std::vector<State> order_;
  std::vector<Arc> tree_;  ///< the parent of a state that is not reachable is no state
};

using Component = std::uint32_t;

/// The strongly connected components of all states, reachable or not, numbered in topological order: every transition
/// stays in its component or goes to a greater one.
struct Components {
  Component count = 0;
  std::vector<Component> of;  ///< state ↦ component

  /// The states of each component, in increasing order. O(n).
  std::vector<std::vector<State>> members() const;
};

/// Tarjan's algorithm, with an explicit stack. O(k n).
Components strongly_connected_components(const Dfa& dfa);

/// The acyclic graph of the components: for each, the greater components that a single transition reaches, sorted and
/// without repetition. O(k n log k).
std::vector<std::vector<Component>> condensation(const Dfa& dfa, const Components& components);

/// For every pair of components, whether some word, possibly empty, leads from the one to the other: a bit per pair.
class ComponentReachability {
 public:
  /// Propagates sets of bits against the topological order: O(c · arcs / 64) time and c²/8 bytes for c components.
  /// Throws LimitError past `max_bytes`.
  explicit ComponentReachability(const std::vector<std::vector<Component>>& condensation,
                                 std::uint64_t max_bytes = std::uint64_t{1} << 30);

  bool reaches(Component from, Component to) const { return (bits_[from * words_ + to / 64] >> (to % 64) & 1) != 0; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Pairs of different states read side by side: how long they can stay apart.

/// Two states that a word, which is not empty, keeps apart for ever: it takes each to itself.
struct StandingPair {
  State p = 0, q = 0;
  Word word;
};

/// The graph of the unordered pairs of different states that `counts` marks; an arc ends where a state is reached that
/// does not count, or where the two meet.
struct PairPaths {
  bool has_pairs = false;
  std::uint64_t longest = 0;  ///< arcs of a longest path, when there is no cycle
  std::optional<StandingPair> cycle;
};

inline constexpr State kMaxPairedStates = 4000;

/// Depth first. O(n² · letters) time, 5n²/2 bytes. Throws LimitError past kMaxPairedStates.
PairPaths pair_paths(const Dfa& dfa, const std::vector<bool>& counts);

/// A shortest word from a state to one that `goal` takes, if there is one. O(n · letters).
std::optional<Word> shortest_word(const Dfa& dfa, State from, const std::function<bool(State)>& goal,
                                  bool may_be_empty = true);
/// A shortest word from one state to another; there must be one.
Word word_between(const Dfa& dfa, State from, State to);

}  // namespace krohn
