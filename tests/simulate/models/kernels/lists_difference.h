// tests/simulate/models/kernels/lists_difference.h — how far lists of numbers are from each other.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace krohn {

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

}  // namespace krohn
