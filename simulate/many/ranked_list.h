// simulate/many/ranked_list.h — a list worked through by the ranks of a job: rank 0 hands items out as ranks become
// free, and is given their lines.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/shards/item_workers.h"

namespace krohn {

/// What rank 0 does with a list.
struct ListDuty {
  std::span<const std::uint64_t> items;
  unsigned threads = 0;  ///< of this rank; 0: the processors that it has for itself
  LineOf line_of;
  /// Is given every line, from any rank, in the order in which they come, in the thread that called.
  std::function<void(std::uint64_t item, const std::string& line)> keep;
  /// Is told now and then how many lines there are; may throw Interrupted.
  std::function<void(std::uint64_t lines)> tell;
};

/// On rank 0, while all others are in `help_with_list`. A rank has as many items at a time as keep its threads busy for
/// a fraction of what is left: one for each thread where items are few, so that none waits behind a long one. When
/// anything throws, on any rank, items that are under way are finished and kept, no others are begun, and then it is
/// thrown here (failure_of). Sent: 8 bytes an item and its line.
void work_on_list(Ranks& ranks, const ListDuty& duty);

/// On every other rank, until rank 0 has all lines. `line_of` gives every item the line that it has on rank 0. `check`
/// is called now and then and may throw Interrupted. An interrupt on rank 0 is one here, too (groups/interruption.h).
void help_with_list(Ranks& ranks, unsigned threads, const LineOf& line_of, const std::function<void()>& check);

}  // namespace krohn
