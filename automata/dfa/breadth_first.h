// automata/dfa/breadth_first.h — the reachable part of an automaton in breadth-first order, as bare tables.
#pragma once

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

}  // namespace krohn
