// groups/base/primes.h — primes below 2^32, and arithmetic modulo one.
#pragma once

#include <cstdint>

namespace krohn {

/// By trial division, O(√n).
constexpr bool is_prime(std::uint64_t n) {
  for (std::uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

/// xⁿ modulo p < 2^32.
constexpr std::uint64_t power_modulo(std::uint64_t x, std::uint64_t n, std::uint64_t p) {
  std::uint64_t result = 1;
  for (x %= p; n > 0; n >>= 1, x = x * x % p)
    if (n & 1) result = result * x % p;
  return result;
}

/// For x that the prime p < 2^32 does not divide.
constexpr std::uint64_t inverse_modulo(std::uint64_t x, std::uint64_t p) { return power_modulo(x, p - 2, p); }

}  // namespace krohn
