// automata/operations/minimise.h — the minimal automaton: Hopcroft's algorithm, and the canonical numbering of states.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

// A partition of states that is only ever refined, and the two algorithms that refine
// it.

/// The index of a class of states.
using StateClass = std::uint32_t;

/// A partition of {0, …, n−1} into nonempty classes. The members of a class lie side by side in `elements`, so that
/// splitting a class permutes its own stretch and never touches another. 8 bytes a state and 8 a class.
struct Partition {
  struct Stretch {
    State begin = 0, end = 0;
  };
  std::vector<State> elements;       ///< a permutation of the states, class by class
  std::vector<StateClass> class_of;  ///< state ↦ class
  std::vector<Stretch> classes;      ///< class ↦ its stretch of `elements`

  std::span<const State> members(StateClass c) const {
    return {elements.data() + classes[c].begin, classes[c].end - classes[c].begin};
  }
};

/// Two states together exactly when their outputs are equal; members in increasing order. O(n + outputs).
Partition partition_by_output(std::span<const Output> outputs);

/// Refines by rounds of signatures (the classes of a state's targets), hashed to 64 bits, while that pays. Never
/// separates equivalent states. Returns true when a round changed nothing: then the partition is stable unless two
/// hashes collided, which `is_congruence` settles. Spends O(n log n) signatures at most. O(k n log n) time, 20 bytes a
/// member of the largest class beside the partition.
bool refine_by_rounds(std::span<const State> table, std::size_t letters, Partition& partition);

/// True when every letter takes members of one class into one class. O(k n).
bool is_congruence(std::span<const State> table, std::size_t letters, const Partition& partition);

/// Refines to the coarsest congruence below the partition: Hopcroft (1971), with the classes themselves as splitters
/// for all letters together. O(k n log n) time; the inverse table takes 8 bytes a transition while it runs (12 from
/// 2^32 transitions on).
void refine_by_hopcroft(std::span<const State> table, std::size_t letters, Partition& partition);

/// The minimal automaton: unreachable states dropped, states with the same future outputs merged (rounds of signatures
/// as in Moore 1956 while they pay, then Hopcroft 1971 from the partition reached), numbered canonically. Two automata
/// over one alphabet and with the same output names compute the same function exactly when their minimal automata are
/// `==`. A merged state takes the name of its first member in breadth-first order. O(k n log n) time; memory is stated
/// in minimise.cpp.
Dfa minimise(const Dfa& dfa);

/// Reachable states only, renumbered in breadth-first order from the initial state, letters in alphabet order. Two
/// isomorphic automata become identical. State names follow their states. O(k n).
Dfa canonical(const Dfa& dfa);

}  // namespace krohn
