// groups/base/random.h — a small random number generator whose numbers are the same on every machine and compiler.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace krohn {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a Weyl sequence through a 64-bit mixer. Named random automata are
/// defined by it, so its numbers must never change; the standard library's distributions differ between vendors.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 uniform bits.
  std::uint64_t next();
  /// Uniform in [0, bound), without bias (Lemire, ACM TOMACS 2019). assert(bound > 0).
  std::uint64_t below(std::uint64_t bound);

  /// Fisher–Yates: every order is equally likely.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace krohn
