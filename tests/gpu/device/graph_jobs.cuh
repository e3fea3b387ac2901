// tests/gpu/device/graph_jobs.cuh — the jobs that the tests of graphs replay, on the processor and on a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/gpu/device/team.h"

namespace krohn::graph_jobs {

/// Adds the first number of one list to every number of another.
struct AddFirst {
  const std::uint32_t* from;
  std::uint32_t* to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const { to[item] += from[0]; }
};

/// Every team reverses its four numbers, which needs all of them to have been read.
struct Reverse {
  std::uint32_t* numbers;
  KROHN_HOST_DEVICE std::uint32_t threads() const { return 4; }
  KROHN_HOST_DEVICE std::size_t team_numbers() const { return 4; }
  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    std::uint32_t* const own = numbers + 4 * index;
    team.each(4, [&](std::uint32_t i) { team.numbers[i] = static_cast<float>(own[i]); });
    team.each(4, [&](std::uint32_t i) { own[i] = static_cast<std::uint32_t>(team.numbers[3 - i]); });
  }
};

}  // namespace krohn::graph_jobs
