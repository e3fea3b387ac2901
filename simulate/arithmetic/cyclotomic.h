// simulate/arithmetic/cyclotomic.h — exact numbers for rotations by fractions of a turn: the cyclotomic field Q(ζ), ζ =
// e^(2πi/N), whose elements are polynomials in ζ with rational coefficients modulo the cyclotomic polynomial Φ_N
// (Washington, Introduction to Cyclotomic Fields, §2). With N a multiple of 4 and of q, cos and sin of p/q of a turn
// are elements: (ζ^k + ζ^−k)/2. Only real elements are ever formed here.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "krohn/constructions/network/matrix.h"
#include "krohn/simulate/arithmetic/interval.h"

namespace krohn {

using Rational = boost::multiprecision::cpp_rational;

/// An element: the coefficients of 1, ζ, ζ², … below the degree of the field, without trailing zeros, so that equal
/// numbers are equal vectors. Zero is empty, a rational number has at most one coefficient.
using ExactNumber = std::vector<Rational>;

/// Exactly this double, which is finite.
ExactNumber exact_number(double value);

/// The narrowest interval of doubles around a rational number.
Interval enclosure(const Rational& number);

class CyclotomicField {
 public:
  /// The rational numbers.
  CyclotomicField() : CyclotomicField(1) {}
  /// Q(ζ) for ζ of this order. Throws LimitError when Φ has a degree above 1,024. O(order²).
  explicit CyclotomicField(std::uint64_t order);

  std::size_t degree() const { return polynomial_.size() - 1; }

  ExactNumber add(const ExactNumber& a, const ExactNumber& b) const;
  ExactNumber subtract(const ExactNumber& a, const ExactNumber& b) const;
  /// O(degree²), and less where coefficients are zero.
  ExactNumber multiply(const ExactNumber& a, const ExactNumber& b) const;

  /// Throws InputError when the field does not hold it: 4 or the denominator does not divide the order. The rational
  /// cosines 0 and ±1 are in every field.
  ExactNumber cosine(const Turn& turn) const;
  ExactNumber sine(const Turn& turn) const;

  /// Doubles around a real element.
  Interval enclosure(const ExactNumber& number) const;

  /// −1, 0 or 1 for a real element: 0 only for zero itself, however near another is to it. Enclosures are made narrower
  /// until they decide; throws LimitError when 2^15 bits do not.
  int sign(const ExactNumber& number) const;

 private:
  ExactNumber reduced(std::vector<Rational> polynomial) const;

  std::uint64_t order_;
  std::vector<std::int64_t> polynomial_;  ///< Φ, the constant coefficient first; monic
  std::vector<Interval> cosines_;         ///< of k/order, below the degree
};

}  // namespace krohn
