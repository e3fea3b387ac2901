// Memory beside the input, for n reachable states and k letters: the result's table grows in place of a working copy
// (4kn bytes); partition and scratch take at most 44n bytes. Only when rounds of signatures do not settle the partition
// does the inverse table add 8kn bytes.
#include "krohn/automata/operations/minimise.h"

#include <algorithm>
#include <limits>

#include "krohn/automata/dfa/breadth_first.h"
#include "krohn/automata/operations/partition.h"

namespace krohn {
namespace {

Partition coarsest_congruence(const BreadthFirst& automaton, std::size_t letters) {
  Partition partition = partition_by_output(automaton.outputs);
  const bool settled = refine_by_rounds(automaton.table, letters, partition);
  if (!settled || !is_congruence(automaton.table, letters, partition))
    refine_by_hopcroft(automaton.table, letters, partition);
  return partition;
}

/// Merges every class into its first member, in place. Classes numbered by their first members in breadth-first order
/// are in breadth-first order of the quotient, for the least word of a class is the least word of its first member.
void merge_classes(BreadthFirst& automaton, std::size_t letters, Partition partition) {
  constexpr State kUnseen = std::numeric_limits<State>::max();
  std::vector<State> number(partition.classes.size(), kUnseen);
  State merged = 0;
  for (State state = 0; state < automaton.order.size(); ++state) {
    State& class_number = number[partition.class_of[state]];
    if (class_number == kUnseen) {
      class_number = merged;
      const State* const row = automaton.table.data() + std::size_t{state} * letters;
      std::copy(row, row + letters, automaton.table.data() + std::size_t{merged} * letters);
      automaton.outputs[merged] = automaton.outputs[state];
      automaton.order[merged] = automaton.order[state];
      ++merged;
    }
    partition.class_of[state] = class_number;
  }
  automaton.table.resize(merged * letters);
  automaton.outputs.resize(merged);
  automaton.order.resize(merged);
  for (State& target : automaton.table) target = partition.class_of[target];
}

}  // namespace

Dfa minimise(const Dfa& dfa) {
  const std::size_t letters = dfa.letters();
  BreadthFirst automaton = breadth_first(dfa);
  {
    Partition partition = coarsest_congruence(automaton, letters);
    if (partition.classes.size() < automaton.order.size()) merge_classes(automaton, letters, std::move(partition));
  }
  return with_table(dfa, std::move(automaton));
}

}  // namespace krohn
