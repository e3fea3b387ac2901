// constructions/actions/abelian_structure.h — an abelian transition group as a direct sum of cyclic groups, with the
// coordinates of every state and letter (fundamental theorem of finitely generated abelian groups; Smith normal form).
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/actions/tracked_states.h"

namespace krohn {

/// Z_{orders[0]} ⊕ Z_{orders[1]} ⊕ …  A transitive abelian group is regular, so states and group elements correspond:
/// state i is q0 moved by `of_state[i]`, and an action adds `of_action[a]` to it. The trivial group is Z_1.
struct AbelianStructure {
  using Element = std::vector<std::uint64_t>;  ///< one coordinate per factor, 0 ≤ coordinate < order
  std::vector<std::uint64_t> orders;
  std::vector<Element> of_state;
  std::vector<Element> of_action;
};

/// Invariant factors: each order divides the next, as few factors as possible. Throws InputError naming a letter that
/// is no bijection, or two letters that do not commute. O(k n log n).
AbelianStructure abelian_structure(const Dfa& automaton, const TrackedStates& tracked);

/// The same group as a sum of cyclic groups of prime-power order, by the Chinese remainder theorem, factor by factor.
AbelianStructure primary_structure(const AbelianStructure& structure);

/// "Z_2 x Z_4".
std::string to_string(const AbelianStructure& structure);

}  // namespace krohn
