// simulate/models/initialise.h — random parameters, the same on every machine.
#pragma once

#include <cmath>
#include <numbers>
#include <span>

#include "krohn/groups/random.h"
#include "krohn/groups/stated_functions.h"

namespace krohn {

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

}  // namespace krohn
