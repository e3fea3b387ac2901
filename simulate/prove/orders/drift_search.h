// simulate/prove/orders/drift_search.h — failing words beyond the reach of exhaustive search. Maps that round are
// composed of worse and worse ones: in a scan the total of a block is the product of its halves' totals, so that their
// errors add up, and from chunk to chunk the states drift on.
#pragma once

#include <optional>

#include "krohn/simulate/prove/orders/map_sets.h"

namespace krohn {

/// A word of at most kLongestDriftingWord letters that is read wrongly in the order; nothing when none was found, which
/// says nothing. Of the maps that do the same to the automaton, and of the states that stand beside the same state of
/// it, only those are followed that are least or greatest in some entry.
///   scan, doubling      the totals of 2^k letters, k = 0, 1, …, read from the beginning (in `doubling`, after 2^k − 1
///                       letters)
///   chunked:C, scan:N   block after block
/// Not for doubling:N. Throws LimitError.
std::optional<Word> find_by_drift(OrderSystem& system, Letter letters, Order order, SearchBudget& budget);

inline constexpr std::uint64_t kLongestDriftingWord = std::uint64_t{1} << 22;

}  // namespace krohn
