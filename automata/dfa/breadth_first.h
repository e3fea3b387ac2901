// automata/dfa/breadth_first.h — the reachable part of an automaton in breadth-first order, as bare tables.
#pragma once

#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The reachable states renumbered 0, 1, … in the order of their length-lexicographically least words; 0 is initial.
struct BreadthFirst {
  std::vector<State> table;     ///< over the new numbers, row by row
  std::vector<Output> outputs;  ///< by new number
  std::vector<State> order;     ///< new number ↦ old state
};

/// O(k n) time; one pass builds numbers and table together.
BreadthFirst breadth_first(const Dfa& dfa);

/// The names that belong to `order`, or none when the automaton has none.
std::vector<std::string> names_in_order(const Dfa& dfa, const std::vector<State>& order);

}  // namespace krohn
