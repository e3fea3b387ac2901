// simulate/prove/claims/within_time.h — a search that ends with its time and takes nothing with it that others found.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {

/// What `search` finds within a share of the time that is left (groups/time_limit.h); nothing once that is over, which
/// says nothing about the network. Another limit that it meets is the caller's to hear of.
template <class Search>
std::invoke_result_t<Search> within_time(double share, Search&& search) {
  const TimeLimit limit = TimeLimit::part(share);
  try {
    return search();
  } catch (const LimitError&) {
    if (!limit.is_over()) throw;
    return std::nullopt;
  }
}

}  // namespace krohn
