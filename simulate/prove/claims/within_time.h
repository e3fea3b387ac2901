// simulate/prove/claims/within_time.h — a search that ends with its time and takes nothing with it that others found.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// What `search` finds within the time of each search; nothing once that is over (groups/time_limit.h), which says
/// nothing about the network. Another limit that it meets is the caller's to hear of.
template <class Search>
std::invoke_result_t<Search> within_time(const CertifyOptions& options, Search&& search) {
  const TimeLimit limit(options.max_seconds, fmt::format("--time {}", options.max_seconds));
  try {
    return search();
  } catch (const LimitError&) {
    if (!limit.is_over()) throw;
    return std::nullopt;
  }
}

}  // namespace krohn
