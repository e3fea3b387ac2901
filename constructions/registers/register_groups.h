// constructions/registers/register_groups.h — blocks of registers whose contents move as a group's elements do, but for
// arrows at which reading stops (MATH.md §4, "Registers").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/constructions/registers/register_blocks.h"

namespace krohn {

/// Letters as permutations of at most five points such that words whose permutations multiply to the identity are
/// idempotents of the automaton; of such groups the smallest on the fewest points, by its left regular representation,
/// with the identity first. Nothing where none was found in so many steps, or with at most 256 arrows.
std::optional<RegisterArrows> group_of_idempotents(const TrackedStates& tracked, std::uint64_t most_work);

/// Which element of a group a word is, or whether one arrow is met before another when it is read from its end.
struct GroupBlock {
  bool tells_element = false;
  std::size_t one = 0, other = 0;  ///< arrows, by action · order + element; behind all of them: none
};

/// As many as the group has elements.
RegisterBlock registers_of(const GroupBlock& stops, const RegisterArrows& group);

/// When a word, read from its end, meets each arrow first: later than all of them those that it never meets, and none.
struct FirstMet {
  std::vector<std::size_t> when;
  int element = 0;

  FirstMet(const RegisterArrows& group, const std::vector<Action>& word);
};

}  // namespace krohn
