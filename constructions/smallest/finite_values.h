// constructions/smallest/finite_values.h — how many numbers one layer of any kind needs whose numbers take finitely
// many values, whatever reads them (docs/build.md, "Finitely many values").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

/// A word, so many times.
struct PowerOfWord {
  std::vector<Letter> word;
  std::uint64_t exponent = 1;
};

/// Idempotents of the transition monoid, each below the one before, and what the group of the last one needs.
struct FiniteValuesBound {
  std::uint64_t numbers = 0;  ///< steps of the chain and the dimension of the group
  std::vector<PowerOfWord> chain;
  std::vector<std::vector<Letter>> group;  ///< words that permute the image of the last idempotent, and generate it
  std::string group_name;
  std::uint64_t group_dimension = 0;  ///< 0 … 4: see `least_orthogonal_dimension`
};

/// The least d ≤ 3 such that the group is a quotient of a finite group of real d×d matrices, or 4: below 4 the same as
/// the least dimension of a faithful real representation, for the finite subgroups of O(3) and their quotients are
/// cyclic, dihedral, A_4, S_4, A_5, and these times Z_2. Where the group is too large for its characters, something
/// that is certainly not greater.
std::uint64_t least_orthogonal_dimension(const PermutationGroup& group, const Integer& order);

/// The best that chains and groups say, by Green's relations. Every state must be reachable; letters are the
/// structure's generators. The chain is left out where the egg-boxes are too large. Throws LimitError.
FiniteValuesBound finite_values_bound(const Dfa& automaton, const GreenStructure& green);

// Checks the witness of a bound by running its words; shares no code
// with what found it.

/// The words are idempotents, each properly below the one before; the group words permute the image of the last and
/// generate a group that needs the dimension claimed, by counting its elements; and the steps add up. False also when
/// the bound has no chain, or a group of more than 20,000 elements whose claim its squares do not show.
bool holds(const Dfa& automaton, const FiniteValuesBound& bound);

/// The least d ≤ 3 such that the group, given by all its elements, is a quotient of a finite group of real d×d
/// matrices; 4 when there is none. By the classification of those groups, and by counting.
std::uint64_t orthogonal_dimension_by_counting(const std::vector<std::vector<std::uint32_t>>& elements);

}  // namespace krohn
