// groups/base/random.h — a small random number generator whose numbers are the same on every machine and compiler.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "krohn/groups/base/stated_functions.h"

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

// Real numbers by chance, with the same bits on every machine: what models begin with.

/// Uniform in [0, 1).
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// Uniform in ±spread.
template <class Real>
void fill_uniform(std::span<Real> numbers, double spread, Random& random) {
  for (Real& number : numbers) number = static_cast<Real>(spread * (2 * uniform(random) - 1));
}

/// Standard normal, times `deviation`. Box and Muller (1958).
template <class Real>
void fill_normal(std::span<Real> numbers, Random& random, double deviation = 1) {
  for (Real& number : numbers) {
    const double radius = std::sqrt(-2 * stated::log(1 - uniform(random)));
    number = static_cast<Real>(deviation * radius * stated::cos(2 * std::numbers::pi * uniform(random)));
  }
}

/// The softplus of it is log-uniform in [10⁻³, 10⁻¹], as Mamba's steps begin.
inline double first_step(Random& random) {
  return stated::log(stated::expm1(stated::exp(stated::log(1e-3) + uniform(random) * stated::log(1e2))));
}

}  // namespace krohn
