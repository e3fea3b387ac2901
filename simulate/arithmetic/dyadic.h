// simulate/arithmetic/dyadic.h — exact sums and products of floating-point numbers, rounded when asked: what the
// reference evaluator and the tests compare every rounded operation with. A dyadic number is an integer times a power
// of two.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Where a binary floating-point format has its numbers: |x| < 2^(greatest_exponent + 1), multiples of the last place
/// of a significand of `digits` bits, or of 2^(least_exponent + 1 − digits) where that is coarser.
struct BinaryFormat {
  int digits = 53, least_exponent = -1022, greatest_exponent = 1023;
};

/// IEEE 754's binary64, binary32 and binary16, and bfloat16.
BinaryFormat binary_format(Precision precision);

class Dyadic {
 public:
  Dyadic() = default;
  /// Exactly `value`. Throws InputError when it is not finite.
  explicit Dyadic(long double value);

  friend Dyadic operator*(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator+(const Dyadic& a, const Dyadic& b);
  Dyadic operator-() const;

  /// The nearest number of the format, ties to the one whose last bit is 0, infinity from half a last place beyond the
  /// greatest number on. Zero comes out as +0.
  double rounded(const BinaryFormat& format) const;

 private:
  boost::multiprecision::cpp_int significand_ = 0;
  int exponent_ = 0;  ///< the number is significand · 2^exponent
};

}  // namespace krohn
