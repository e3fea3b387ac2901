// groups/base/distributions.h — real numbers by chance, with the same bits on every machine: what models begin with.
#pragma once

#include <cmath>
#include <numbers>
#include <span>

#include "krohn/groups/base/random.h"
#include "krohn/groups/base/stated_functions.h"

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

/// The softplus of it is log-uniform in [10⁻³, 10⁻¹], as Mamba's steps begin.
inline double first_step(Random& random) {
  return stated::log(stated::expm1(stated::exp(stated::log(1e-3) + uniform(random) * stated::log(1e2))));
}

}  // namespace krohn
