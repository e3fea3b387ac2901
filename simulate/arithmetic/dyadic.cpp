#include "krohn/simulate/arithmetic/dyadic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Integer = boost::multiprecision::cpp_int;

/// n / 2^bits to the nearest integer, ties to even; n ≥ 0 and bits > 0.
Integer shifted_right(const Integer& n, unsigned bits) {
  Integer quotient = n >> bits;
  const Integer rest = n - (quotient << bits), half = Integer(1) << (bits - 1);
  if (rest > half || (rest == half && bit_test(quotient, 0))) ++quotient;
  return quotient;
}

}  // namespace

BinaryFormat binary_format(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {53, -1022, 1023};
    case Precision::kFp32:
      return {24, -126, 127};
    case Precision::kFp16:
      return {11, -14, 15};
    default:
      return {8, -126, 127};
  }
}

Dyadic::Dyadic(long double value) {
  if (!std::isfinite(value)) throw InputError("only finite numbers are dyadic");
  const long double fraction = std::frexp(value, &exponent_);
  significand_ = Integer(static_cast<std::int64_t>(std::ldexp(fraction, 32)));
  const long double rest = std::ldexp(fraction, 32) - std::trunc(std::ldexp(fraction, 32));
  significand_ = (significand_ << 32) + static_cast<std::int64_t>(std::ldexp(rest, 32));
  exponent_ -= 64;
}

Dyadic operator*(const Dyadic& a, const Dyadic& b) {
  Dyadic product;
  product.significand_ = a.significand_ * b.significand_;
  product.exponent_ = a.exponent_ + b.exponent_;
  return product;
}

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  if (a.significand_ == 0) return b;
  if (b.significand_ == 0) return a;
  if (a.exponent_ < b.exponent_) return b + a;
  Dyadic sum = b;
  sum.significand_ += a.significand_ << (a.exponent_ - b.exponent_);
  return sum;
}

Dyadic Dyadic::operator-() const {
  Dyadic negated = *this;
  negated.significand_ = -significand_;
  return negated;
}

double Dyadic::rounded(const BinaryFormat& format) const {
  if (significand_ == 0) return 0;
  Integer magnitude = abs(significand_);
  const int greatest_bit = static_cast<int>(msb(magnitude)) + exponent_;
  const int last_place = std::max(greatest_bit, format.least_exponent) - (format.digits - 1);
  if (last_place > exponent_) magnitude = shifted_right(magnitude, static_cast<unsigned>(last_place - exponent_));
  const int exponent = std::max(last_place, exponent_);
  if (magnitude != 0 && static_cast<int>(msb(magnitude)) + exponent > format.greatest_exponent)
    return significand_ < 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const double value = std::ldexp(static_cast<double>(magnitude), exponent);  // exact: at most 53 bits are left
  return significand_ < 0 ? -value : value;
}

}  // namespace krohn
