#include "krohn/simulate/prove/bounds/bounds_enclosure.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace krohn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Enclosure kOverflowed{-kInfinity, kInfinity, kInfinity};

/// The result of one operation of double arithmetic, moved past the exact one: it is off by at most 2^−53 of itself, or
/// by half of the least double.
double up(double nearest) { return nearest + std::fabs(nearest) * 0x1p-52 + std::numeric_limits<double>::denorm_min(); }
double down(double nearest) { return -up(-nearest); }

double magnitude(const Enclosure& x) { return std::max(std::fabs(x.lower), std::fabs(x.upper)); }
bool is_point(const Enclosure& x) { return x.lower == x.upper; }
bool is_zero(const Enclosure& x) { return x.lower == 0 && x.upper == 0; }
bool overflowed(const Enclosure& x) { return !(x.error < kInfinity); }

/// 2^exponent, or the least double above it.
double power_of_two(int exponent) {
  if (exponent >= -1022) return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  return std::max(std::ldexp(1.0, exponent), std::numeric_limits<double>::denorm_min());
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::fabs(std::frexp(value, &exponent)) == 0.5;
}

/// The real values in [lower, upper], widened by one rounding, which adds to the error that they already have.
Enclosure rounded(double lower, double upper, double error, double rounding) {
  if (!(rounding < kInfinity) || !(error < kInfinity)) return kOverflowed;
  return {down(lower - rounding), up(upper + rounding), up(error + rounding)};
}

struct Range {
  double lower, upper;
  double magnitude() const { return std::max(std::fabs(lower), std::fabs(upper)); }
};

Range product_of(const Enclosure& a, const Enclosure& b) {
  const double ends[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
  const auto [least, greatest] = std::minmax_element(std::begin(ends), std::end(ends));
  return {down(*least), up(*greatest)};
}

/// |âb̂ − ab| ≤ |â|·|b̂ − b| + |b|·|â − a|, and |b| ≤ |b̂| + |b̂ − b|.
double product_error(const Enclosure& a, const Enclosure& b) {
  if (a.error == 0 && b.error == 0) return 0;
  return up(up(magnitude(a) * b.error) + up(up(magnitude(b) + b.error) * a.error));
}

/// The rounding of a product; by a power of two, only of the places that fall off below.
double rounding_of_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b, const Range& product) {
  const double rounding = format.error_up_to(product.magnitude());
  if (!(rounding < kInfinity)) return rounding;
  for (const Enclosure* factor : {&a, &b})
    if (is_point(*factor) && is_power_of_two(factor->lower))
      return std::fabs(factor->lower) >= 1 ? 0 : std::min(rounding, format.underflow_error());
  return rounding;
}

}  // namespace

double RoundedFormat::underflow_error() const { return power_of_two(least_exponent - digits); }

double RoundedFormat::error_up_to(double magnitude) const {
  if (magnitude == 0) return 0;
  if (!(magnitude < power_of_two(greatest_exponent))) return kInfinity;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  // |value| < 2^exponent. Up to a power of two, that number's own neighbours above do not matter.
  int exponent = static_cast<int>(bits >> 52) - 1022;
  if ((bits << 12) == 0) --exponent;
  return power_of_two(std::max(exponent, least_exponent + 1) - digits - 1);
}

Enclosure round_to(const RoundedFormat& format, const Enclosure& exact) {
  if (overflowed(exact) || is_zero(exact)) return exact;
  return rounded(exact.lower, exact.upper, exact.error, format.error_up_to(magnitude(exact)));
}

Enclosure round_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b) {
  if (overflowed(a) || overflowed(b)) return kOverflowed;
  if (is_zero(a) || is_zero(b)) return {0, 0, product_error(a, b)};
  const Range product = product_of(a, b);
  return rounded(product.lower, product.upper, product_error(a, b), rounding_of_product(format, a, b, product));
}

Enclosure round_sum(const RoundedFormat& format, const Enclosure& a, const Enclosure& b) {
  if (overflowed(a) || overflowed(b)) return kOverflowed;
  const double error = up(a.error + b.error);
  if (is_zero(a)) return {b.lower, b.upper, error};
  if (is_zero(b)) return {a.lower, a.upper, error};
  const Range sum{down(a.lower + b.lower), up(a.upper + b.upper)};
  return rounded(sum.lower, sum.upper, error, format.error_up_to(sum.magnitude()));
}

Enclosure round_fused(const RoundedFormat& format, const Enclosure& accumulator, const Enclosure& a,
                      const Enclosure& b) {
  if (overflowed(accumulator) || overflowed(a) || overflowed(b)) return kOverflowed;
  const double error = up(accumulator.error + product_error(a, b));
  if (is_zero(a) || is_zero(b)) return {accumulator.lower, accumulator.upper, error};
  const Range product = product_of(a, b);
  const Range sum{down(accumulator.lower + product.lower), up(accumulator.upper + product.upper)};
  return rounded(sum.lower, sum.upper, error, format.error_up_to(sum.magnitude()));
}

}  // namespace krohn
