#include "krohn/constructions/network/cosine_of_turn.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

namespace krohn {
namespace {

using boost::multiprecision::cpp_int;

/// π · 2^bits, less at most 1: Machin's 16 arctan 1/5 − 4 arctan 1/239.
cpp_int scaled_pi(unsigned bits) {
  constexpr unsigned kSpare = 16;  // some 2^8 terms are cut off
  const auto arctangent_of_inverse = [&](unsigned n) {
    cpp_int sum = 0, power = (cpp_int(1) << (bits + kSpare)) / n;
    for (unsigned k = 1; power != 0; k += 2, power /= n * n) sum += (k % 4 == 1 ? 1 : -1) * cpp_int(power / k);
    return sum;
  };
  const cpp_int spare = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239);
  return (spare - (1U << (kSpare - 1))) >> kSpare;
}

/// The cosine or the sine of 2π·e/(8q) in units of 2^-bits, e ≤ q, with an error below kError units: Taylor's series, a
/// unit lost at most where a product is cut off and another where it is divided, in fewer than 2^8 terms, and little
/// more than one where the angle is. The terms fall at least by a half each, so what is not summed is below a unit.
constexpr unsigned kError = 1 << 10;

cpp_int on_octant(bool is_sine, std::int64_t e, std::int64_t q, unsigned bits) {
  constexpr unsigned kUsual = 192;
  static const cpp_int usual_pi = scaled_pi(kUsual);
  const cpp_int angle = (bits == kUsual ? usual_pi : scaled_pi(bits)) * e / (4 * cpp_int(q));
  const cpp_int square = (angle * angle) >> bits;
  cpp_int term = is_sine ? angle : cpp_int(1) << bits, sum = term;
  for (unsigned n = is_sine ? 1 : 0, sign = 1; term != 0; n += 2, sign = 1 - sign) {
    term = ((term * square) >> bits) / ((n + 1) * (n + 2));
    if (sign == 1)
      sum -= term;
    else
      sum += term;
  }
  return sum;
}

/// The positive irrational number, rounded to odd: with more bits until the error does not reach the 64th.
long double to_odd(bool is_sine, std::int64_t e, std::int64_t q) {
  for (unsigned bits = 192;; bits *= 2) {
    const cpp_int value = on_octant(is_sine, e, q, bits);
    if (value <= kError) continue;
    const unsigned cut = msb(value) + 1 > 64 ? msb(value) + 1 - 64 : 0;
    const cpp_int significand = value >> cut;
    if (cut == 0 || (value - kError) >> cut != significand || (value + kError) >> cut != significand) continue;
    const auto odd = static_cast<std::uint64_t>(significand) | 1U;
    return std::ldexp(static_cast<long double>(odd), static_cast<int>(cut) - static_cast<int>(bits));
  }
}

}  // namespace

long double cosine_of_turn(std::int64_t p, std::int64_t q) {
  assert(p >= 0 && p < q && q <= std::int64_t{1} << 58);
  const std::int64_t divisor = std::gcd(p, q);
  p /= divisor, q /= divisor;
  if (2 * p > q) p = q - p;
  if (p == 0) return 1;
  if (q == 2 * p) return -1;
  if (q == 4 * p) return 0;
  if (q == 6 * p) return 0.5L;
  if (q == 3 * p) return -0.5L;
  const bool negative = 4 * p > q;
  // From here the angle is 2π · eighths / (8q), less than a quarter turn, and no cosine is rational (Niven).
  const std::int64_t eighths = negative ? 4 * q - 8 * p : 8 * p;
  const long double value = eighths > q ? to_odd(true, 2 * q - eighths, q) : to_odd(false, eighths, q);
  return negative ? -value : value;
}

}  // namespace krohn
