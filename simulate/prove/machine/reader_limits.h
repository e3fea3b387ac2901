// simulate/prove/machine/reader_limits.h — how hard a machine that reads letters is questioned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace krohn {

struct ReaderLimits {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_steps = UINT64_MAX;              ///< letters read by the search of pairs
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::uint64_t long_letters = 0;                    ///< read in search of long failing words; 0: none are searched
  std::uint64_t seed = 1;                            ///< of random words among them
  double max_seconds = 0;                            ///< of each of the two searches; 0: no limit
  std::function<void(std::uint64_t)> progress;       ///< letters read so far; may throw Interrupted
};

/// Says after every so many letters whether the time is over.
class SearchClock {
 public:
  explicit SearchClock(double max_seconds) : max_seconds_(max_seconds) {}
  bool is_over() {
    if (max_seconds_ > 0 && ++asked_ % 64 == 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
      over_ = over_ || spent.count() > max_seconds_;
    }
    return over_;
  }

 private:
  double max_seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t asked_ = 0;
  bool over_ = false;
};

}  // namespace krohn
