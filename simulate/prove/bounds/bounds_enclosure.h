// simulate/prove/bounds/bounds_enclosure.h — arithmetics on enclosures instead of numbers: what
// simulate/arithmetic/apply.h computes with when the question is how far one rounded step can be from the exact one,
// over a whole ball of states (MATH.md §5).
//
// `Exact` keeps no rounding: apply<Exact> encloses A x over real numbers. `Enclosed<A>` follows the arithmetic A: an
// Enclosure holds every value that A can compute for some state of the ball, and a bound of its distance from what real
// arithmetic gives for the same state. One rounding adds at most half of the distance of two neighbouring numbers of
// the format, which is at most u·|v| and as small as u·|v|/2 (Rump's unit in the first place).
#pragma once

#include <cmath>
#include <cstdint>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/interval.h"

namespace krohn {

struct Exact {
  using Number = Interval;
  using Sum = Interval;
  static Sum load(const Number& number) { return number; }
  static Sum product(const Number& a, const Sum& b) { return a * b; }
  static Sum add(const Sum& a, const Sum& b) { return a + b; }
  static Sum add_product(const Sum& accumulator, const Number& a, const Sum& b) { return accumulator + a * b; }
  static Number store(const Sum& sum) { return sum; }
};

/// A format in which results are rounded to nearest.
struct RoundedFormat {
  int digits, least_exponent, greatest_exponent;

  template <class Format>
  static constexpr RoundedFormat of() {
    return {Format::digits, Format::least_exponent, Format::greatest_exponent};
  }

  /// The most that rounding moves a real number of at most that magnitude; infinite where it may overflow.
  double error_up_to(double magnitude) const;
  /// The same where the exact value has few enough digits, so that only underflow rounds.
  double underflow_error() const;
};

/// [lower, upper] holds all that can be computed; `error` ≥ |computed − exact|, infinite after an overflow. The ends
/// are rounded outward by a relative 2^−52, which is quicker than the nearest doubles and as good here.
struct Enclosure {
  double lower = 0, upper = 0, error = 0;

  Enclosure() = default;
  constexpr explicit Enclosure(double point) : lower(point), upper(point) {}
  constexpr Enclosure(double low, double high, double bound) : lower(low), upper(high), error(bound) {}
  Enclosure operator-() const { return {-upper, -lower, error}; }
};

Enclosure round_to(const RoundedFormat& format, const Enclosure& exact);
Enclosure round_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b);
Enclosure round_sum(const RoundedFormat& format, const Enclosure& a, const Enclosure& b);
/// accumulator + a·b, rounded once.
Enclosure round_fused(const RoundedFormat& format, const Enclosure& accumulator, const Enclosure& a,
                      const Enclosure& b);

template <class A>
struct Enclosed {
  using Number = Enclosure;
  using Sum = Enclosure;
  static constexpr RoundedFormat storage = RoundedFormat::of<typename A::Format>();
  static constexpr RoundedFormat sums =
      A::name.kind() == ArithmeticName::Kind::kAccumulatedInFp32 ? RoundedFormat::of<Fp32>() : storage;
  /// Operands of tf32's products: the exponents of fp32 with 11 digits.
  static constexpr RoundedFormat operands = {11, Fp32::least_exponent, Fp32::greatest_exponent};

  static Sum load(const Number& number) { return number; }
  static Sum product(const Number& a, const Sum& b) { return round_product(sums, operand(a), operand(b)); }
  static Sum add(const Sum& a, const Sum& b) { return round_sum(sums, a, b); }
  static Sum add_product(const Sum& accumulator, const Number& a, const Sum& b) {
    if constexpr (A::name.kind() == ArithmeticName::Kind::kFused) return round_fused(sums, accumulator, a, b);
    return add(accumulator, product(a, b));
  }
  static Number store(const Sum& sum) {
    if constexpr (sums.digits == storage.digits)
      return sum;
    else
      return round_to(storage, sum);
  }

 private:
  static Enclosure operand(const Enclosure& value) {
    if constexpr (A::name.kind() == ArithmeticName::Kind::kTf32)
      return round_to(operands, value);
    else
      return value;
  }
};

}  // namespace krohn
