// tests/simulate/models/kernels/lists.h — lists of numbers for the tests of kernels: random ones of which sums and
// products are exact, how far two are apart, and slopes by them.
#pragma once

#include <cstddef>

#include "krohn/groups/base/random.h"
#include "tests/testing.h"

namespace krohn {

/// From −spread to spread.
template <class Real>
std::vector<Real> integers(std::size_t count, int spread, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> numbers(count);
  for (Real& number : numbers)
    number = static_cast<Real>(static_cast<int>(random.below(2 * static_cast<unsigned>(spread) + 1)) - spread);
  return numbers;
}

/// Multiples of scale / 64 from −scale to scale.
template <class Real>
std::vector<Real> drawn(std::size_t count, std::uint64_t seed, double scale = 1) {
  std::vector<Real> numbers = integers<Real>(count, 64, seed);
  for (Real& number : numbers) number *= static_cast<Real>(scale / 64);
  return numbers;
}

/// The greatest difference of two numbers at one place, beside the greatest number of its list, or 1. The first
/// `lists` are compared.
inline double difference(const std::vector<std::vector<double>>& left, const std::vector<std::vector<double>>& right,
                         std::size_t lists) {
  double worst = 0;
  for (std::size_t i = 0; i < lists; ++i) {
    REQUIRE(left[i].size() == right[i].size());
    double greatest = 1;
    for (const double number : right[i]) greatest = std::max(greatest, std::abs(number));
    for (std::size_t j = 0; j < left[i].size(); ++j)
      if (const double own = std::abs(left[i][j] - right[i][j]) / greatest; !(own <= worst))
        worst = std::isnan(own) ? INFINITY : own;
  }
  return worst;
}
inline double difference(const std::vector<std::vector<double>>& left, const std::vector<std::vector<double>>& right) {
  REQUIRE(left.size() == right.size());
  return difference(left, right, left.size());
}

/// Slopes of by · of() by every number of the list, which `of` looks at: central differences.
template <class Of>
std::vector<double> slopes(std::vector<double>& list, const std::vector<double>& by, const Of& of) {
  const auto loss = [&] {
    const std::vector<double> seen = of();
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) sum += seen[i] * by[i];
    return sum;
  };
  std::vector<double> result;
  for (double& number : list) {
    constexpr double kStep = 1e-5;
    const double here = number;
    number = here + kStep;
    const double above = loss();
    number = here - kStep;
    const double below = loss();
    number = here;
    result.push_back((above - below) / (2 * kStep));
  }
  return result;
}
/// By every number of every list.
template <class Of>
std::vector<std::vector<double>> slopes(std::vector<std::vector<double>> lists, const std::vector<double>& by,
                                        const Of& of) {
  std::vector<std::vector<double>> result;
  for (std::vector<double>& list : lists) result.push_back(slopes(list, by, [&] { return of(lists); }));
  return result;
}

}  // namespace krohn
