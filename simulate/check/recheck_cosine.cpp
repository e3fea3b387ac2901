#include "krohn/simulate/check/recheck_cosine.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

namespace krohn {
namespace {

using Integer = boost::multiprecision::cpp_int;

/// A positive real number between two multiples of 2^-bits.
struct Bounds {
  Integer low, high;
};

Integer over(const Integer& a, const Integer& b) { return (a + b - 1) / b; }  // rounded up

/// 48 arctan 1/18 + 32 arctan 1/57 − 20 arctan 1/239 (Gauss).
Bounds pi(unsigned bits) {
  Integer sum = 0, lost = 0;
  const auto add = [&](int factor, unsigned n) {
    Integer power = (Integer(1) << bits) / n;
    for (int k = 1; power != 0; k += 2, factor = -factor, power /= n * n) {
      sum += factor * Integer(power / k);
      lost += 3 * std::abs(factor);  // one by each of the two divisions, and what is left of those before
    }
    lost += std::abs(factor);  // the terms that are not summed
  };
  add(48, 18), add(32, 57), add(-20, 239);
  return {sum - lost, sum + lost};
}

/// cos(2π·p/q) for 0 < p/q < ¼: the terms of the series, each between its bounds, until they vanish.
Bounds cosine(const Integer& p, const Integer& q, unsigned bits) {
  const Bounds half_turn = pi(bits);
  const Bounds x{half_turn.low * 2 * p / q, over(half_turn.high * 2 * p, q)};
  const Integer one = Integer(1) << bits;
  const Bounds square{x.low * x.low / one, over(x.high * x.high, one)};
  Bounds term{one, one}, sum = term;
  for (unsigned n = 2; term.high > 1; n += 2) {
    term = {term.low * square.low / (one * (n * (n - 1))), over(term.high * square.high, one * (n * (n - 1)))};
    if (n % 4 == 2)
      sum = {sum.low - term.high, sum.high - term.low};
    else
      sum = {sum.low + term.low, sum.high + term.high};
  }
  return {sum.low - term.high, sum.high + term.high};  // the rest alternates and falls
}

/// Nearest to value · 2^-bits, whichever of two that are equally near: the true value is never between two.
double nearest(const Integer& value, unsigned bits, int digits, int least_exponent) {
  const int exponent = static_cast<int>(msb(value)) - static_cast<int>(bits);
  const int quantum = std::max(exponent, least_exponent) + 1 - digits;
  const auto cut = static_cast<unsigned>(static_cast<int>(bits) + quantum);
  const Integer rounded = (value + (Integer(1) << (cut - 1))) >> cut;
  return std::ldexp(rounded.convert_to<double>(), quantum);
}

}  // namespace

double nearest_cosine(std::int64_t p, std::int64_t q, int digits, int least_exponent) {
  Integer numerator = Integer(p) % q, denominator = q;
  if (numerator < 0) numerator += denominator;
  if (2 * numerator > denominator) numerator = denominator - numerator;
  const bool is_negative = 4 * numerator > denominator;
  if (is_negative) numerator = denominator - 2 * numerator, denominator *= 2;
  const double sign = is_negative ? -1 : 1;
  if (numerator == 0) return sign;
  if (4 * numerator == denominator) return 0;
  if (6 * numerator == denominator) return sign / 2;
  for (unsigned bits = 256;; bits *= 2) {
    const Bounds value = cosine(numerator, denominator, bits);
    if (value.low <= 0) continue;
    const double low = nearest(value.low, bits, digits, least_exponent);
    if (low == nearest(value.high, bits, digits, least_exponent)) return sign * low;
  }
}

}  // namespace krohn
