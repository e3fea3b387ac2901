// automata/monoid/group_witness.h — words that show what a group of an automaton is not.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

/// A word over the loops whose action has an order that is no power of two: the group is no 2-group. Searched among
/// the first few thousand products, and among random ones; nothing when there is none there.
std::optional<Word> odd_word(std::span<const GreenStructure::Loop> loops);

/// Words u and v over the loops such that u, v and uv have orders above 1 that are coprime in pairs: their group is not
/// solvable, and every group that is not has such elements (Thompson 1968). Searched as above.
std::optional<std::pair<Word, Word>> coprime_words(std::span<const GreenStructure::Loop> loops);

}  // namespace krohn
