// groups/base/random.h — a small random number generator whose numbers are the same on every machine and compiler.
#pragma once

#include <cassert>
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
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  /// Uniform in [0, bound), without bias (Lemire, ACM TOMACS 2019). assert(bound > 0).
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0);
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      __extension__ const auto product = static_cast<unsigned __int128>(next()) * bound;
      if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
    }
  }

  /// Fisher–Yates: every order is equally likely.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace krohn
