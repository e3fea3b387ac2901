// constructions/smallest/finite_values_check.h — checks the witness of a bound by running its words; shares no code
// with what found it.
#pragma once

#include "krohn/constructions/smallest/finite_values.h"

namespace krohn {

/// The words are idempotents, each properly below the one before; the group words permute the image of the last and
/// generate a group that needs the dimension claimed, by counting its elements; and the steps add up. False also when
/// the bound has no chain, or a group of more than 20,000 elements whose claim its squares do not show.
bool holds(const Dfa& automaton, const FiniteValuesBound& bound);

/// The least d ≤ 3 such that the group, given by all its elements, is a quotient of a finite group of real d×d
/// matrices; 4 when there is none. By the classification of those groups, and by counting.
std::uint64_t orthogonal_dimension_by_counting(const std::vector<std::vector<std::uint32_t>>& elements);

}  // namespace krohn
