// simulate/prove/machine/reader_limits.h — how hard a machine that reads letters is questioned. The time is that of
// groups/time_limit.h.
#pragma once

#include <cstdint>
#include <functional>

namespace krohn {

struct ReaderLimits {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_steps = UINT64_MAX;              ///< letters read by the search of pairs
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::uint64_t long_letters = 0;                    ///< read in search of long failing words; 0: none are searched
  std::uint64_t seed = 1;                            ///< of random words among them
  std::function<void(std::uint64_t)> progress;       ///< pairs so far; may throw Interrupted
  /// Letters so far, and of how many, in search of long failing words; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> long_progress = {};
};

}  // namespace krohn
