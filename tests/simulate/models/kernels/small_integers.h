// tests/simulate/models/kernels/small_integers.h — random numbers of which sums and products are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/groups/base/random.h"

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

}  // namespace krohn
