// simulate/check/recheck_dyadic.h — numbers m · 2^e, added and multiplied exactly or not at all. For the re-checker
// alone.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "krohn/simulate/check/not_established.h"

namespace krohn {

/// m odd, or 0 · 2^0. Results of more than 62 digits are refused: no format has so many, so they would round.
class RecheckedDyadic {
 public:
  RecheckedDyadic() = default;
  explicit RecheckedDyadic(double number) {
    require(std::isfinite(number), "a number is not finite");
    int exponent = 0;
    const double fraction = std::frexp(number, &exponent);
    *this = made(static_cast<Wide>(std::ldexp(fraction, 53)), exponent - 53);
  }
  static RecheckedDyadic power_of_two(int exponent) { return made(1, exponent); }

  bool is_zero() const { return digits_ == 0; }
  /// The greatest power of two that divides it; not of 0.
  int grain() const { return exponent_; }
  RecheckedDyadic absolute() const { return made(digits_ < 0 ? -Wide{digits_} : Wide{digits_}, exponent_); }

  friend bool operator==(const RecheckedDyadic&, const RecheckedDyadic&) = default;
  friend RecheckedDyadic operator-(const RecheckedDyadic& a) { return made(-Wide{a.digits_}, a.exponent_); }
  friend RecheckedDyadic operator*(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    return made(Wide{a.digits_} * b.digits_, a.exponent_ + b.exponent_);
  }
  friend RecheckedDyadic operator+(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    if (a.is_zero() || b.is_zero()) return a.is_zero() ? b : a;
    if (a.exponent_ > b.exponent_) return b + a;
    const int shift = b.exponent_ - a.exponent_;
    require(shift < 63, "a sum would need too many digits");
    return made(Wide{a.digits_} + (Wide{b.digits_} << shift), a.exponent_);
  }
  friend bool operator<(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    if ((a.digits_ < 0) != (b.digits_ < 0) || a.is_zero() || b.is_zero()) return a.digits_ < b.digits_;
    if (a.top() != b.top()) return (a.top() < b.top()) != (a.digits_ < 0);
    return (a + -b).digits_ < 0;
  }
  friend bool operator<=(const RecheckedDyadic& a, const RecheckedDyadic& b) { return !(b < a); }

 private:
  __extension__ typedef __int128 Wide;

  static RecheckedDyadic made(Wide digits, int exponent) {
    RecheckedDyadic made;
    if (digits == 0) return made;
    for (; digits % 2 == 0; digits /= 2) ++exponent;
    require((digits < 0 ? -digits : digits) < Wide{1} << 62, "a number has too many digits");
    made.digits_ = static_cast<std::int64_t>(digits);
    made.exponent_ = exponent;
    return made;
  }

  /// |a| is at least 2^(top − 1) and below 2^top; not for 0.
  int top() const {
    return exponent_ + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::llabs(digits_))));
  }

  std::int64_t digits_ = 0;
  int exponent_ = 0;
};

}  // namespace krohn
