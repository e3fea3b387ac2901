// groups/base/primes.h — primes, the prime powers of a number, and arithmetic modulo a prime below 2^32.
#pragma once

#include <cstdint>
#include <vector>

namespace krohn {

/// By trial division, O(√n).
constexpr bool is_prime(std::uint64_t n) {
  for (std::uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

struct PrimePower {
  std::uint64_t prime, power;  ///< p and p^a, a ≥ 1
};

/// The prime powers whose product is n ≥ 1, by increasing primes. By trial division, O(√n).
inline std::vector<PrimePower> prime_powers(std::uint64_t n) {
  std::vector<PrimePower> powers;
  for (std::uint64_t p = 2; p * p <= n; ++p) {
    std::uint64_t power = 1;
    for (; n % p == 0; n /= p) power *= p;
    if (power > 1) powers.push_back({p, power});
  }
  if (n > 1) powers.push_back({n, n});
  return powers;
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
