// constructions/registers/find_registers.h — the search for blocks of registers whose contents tell the state.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "krohn/constructions/registers/register_blocks.h"

namespace krohn {

/// Blocks whose contents tell the state behind every word, some from `known`, some new, none of them to spare. Nothing
/// if the search was given up, which would never end where there are none, or if states and contents would be more than
/// `most_states`. Every language whose idempotents do not cross has such blocks (MATH.md §4), maybe of too many
/// registers to be found. First small blocks by counterexamples: two words that are not told apart ask for blocks that
/// tell them, and a cover of all pairs of words so far, chosen from all blocks so far, is then tried on every word.
/// Then blocks of a group. Some seconds at most for automata of some hundred states; the same blocks every time.
std::optional<std::vector<RegisterBlock>> find_registers(const TrackedStates& tracked, std::vector<RegisterBlock> known,
                                                         std::size_t most_states);

}  // namespace krohn
