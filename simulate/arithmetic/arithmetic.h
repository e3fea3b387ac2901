// simulate/arithmetic/arithmetic.h — floating-point arithmetics as types: what one rounding is, in one place.
//
// An arithmetic A has a storage format A::Number, in which weights and the numbers between letters are kept, and an
// accumulator A::Sum, in which one letter is computed. All rounding is to nearest, ties to even, with subnormal
// numbers and overflow to infinity as IEEE 754 has them. The operations, and how often each rounds:
//
//                                   load      product a·b               add            add_product acc + a·b   store
//   fp64, fp32, fp16, bf16          exact     once                      once           twice: a·b, then the sum  exact
//   fp64+fma, …, bf16+fma           exact     once                      once           once                      exact
//   fp16/fp32, bf16/fp32            exact     once, to fp32             once, to fp32  twice, to fp32     once, to 16
//   bits tf32                            exact     a and b to 11 significant bits each, then as fp32 exact
//
// simulate/arithmetic/apply.h says which of these a product of a matrix and a vector is made of.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"

namespace krohn {

/// The operations of a format that rounds every product and every sum to itself (the whole project is compiled with
/// contraction off). fp16 and bf16 round through fp32, which is the same as rounding the exact result once: 24 ≥ 2p + 2
/// bits for p = 11 and 8, and where a bf16 product is too small for fp32 it is below half of bf16's least number.
template <class Format>
struct SeparateRounding {
  using Number = Format;
  using Sum = Format;
  static Sum load(Number number) { return number; }
  static Sum product(Number a, Sum b) { return a * b; }
  static Sum add(Sum a, Sum b) { return a + b; }
  static Sum add_product(Sum accumulator, Number a, Sum b) {
    const Sum rounded = a * b;
    return accumulator + rounded;
  }
  static Number store(Sum sum) { return sum; }
};

/// `Format` is the storage format alone, for what depends on nothing else; `unit_roundoff` is that of the storage
/// format, `sum_roundoff` that of the accumulator.
struct Fp64 : SeparateRounding<double> {
  using Format = Fp64;
  using Bits = std::uint64_t;
  static constexpr ArithmeticName name = Precision::kFp64;
  static constexpr double unit_roundoff = 0x1p-53, sum_roundoff = unit_roundoff;
  static constexpr int digits = 53, least_exponent = -1022, greatest_exponent = 1023;
};
struct Fp32 : SeparateRounding<float> {
  using Format = Fp32;
  using Bits = std::uint32_t;
  static constexpr ArithmeticName name = Precision::kFp32;
  static constexpr double unit_roundoff = 0x1p-24, sum_roundoff = unit_roundoff;
  static constexpr int digits = 24, least_exponent = -126, greatest_exponent = 127;
};
struct Fp16 : SeparateRounding<Eigen::half> {
  using Format = Fp16;
  using Bits = std::uint16_t;
  static constexpr ArithmeticName name = Precision::kFp16;
  static constexpr double unit_roundoff = 0x1p-11, sum_roundoff = unit_roundoff;
  static constexpr int digits = 11, least_exponent = -14, greatest_exponent = 15;
};
struct Bf16 : SeparateRounding<Eigen::bfloat16> {
  using Format = Bf16;
  using Bits = std::uint16_t;
  static constexpr ArithmeticName name = Precision::kBf16;
  static constexpr double unit_roundoff = 0x1p-8, sum_roundoff = unit_roundoff;
  static constexpr int digits = 8, least_exponent = -126, greatest_exponent = 127;
};

/// a + b rounded to odd: exact, or else the neighbour in double whose last bit is 1. A value rounded to odd can be
/// rounded once more, to a format with at least two bits less, as if the exact value had been (Boldo & Melquiond 2008).
/// The error of the sum comes from Knuth's two-sum; no operation may overflow.
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a, a_part = sum - b_part;
  const double error = (a - a_part) + (b - b_part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || bits % 2 == 1 || !std::isfinite(sum)) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// A double as a float, rounded to odd.
inline float to_odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;  // towards zero; from infinity too
  return std::bit_cast<float>(bits | 1U);
}

/// The format, with acc + a·b rounded once. In fp16 and bf16 the product is exact in double, but its sum with acc need
/// not be, and rounding that to nearest first would be wrong near ties: it is rounded to odd.
template <class Separate>
struct Fused : Separate {
  using Number = typename Separate::Number;
  using Sum = typename Separate::Sum;
  static constexpr ArithmeticName name = ArithmeticName::fused(Separate::name.storage());
  static Sum add_product(Sum accumulator, Number a, Sum b) {
    if constexpr (std::is_floating_point_v<Sum>)
      return std::fma(a, b, accumulator);
    else
      return Sum(
          to_odd_float(add_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(accumulator))));
  }
};

/// Storage in fp16 or bf16, accumulation in fp32, as tensor cores do: the product of two stored numbers is exact.
template <class Short>
struct AccumulatedInFp32 : Short {
  using Number = typename Short::Number;
  using Sum = float;
  static constexpr ArithmeticName name = ArithmeticName::accumulated_in_fp32(Short::name.storage());
  static constexpr double sum_roundoff = Fp32::unit_roundoff;
  static Sum load(Number number) { return static_cast<float>(number); }
  static Sum product(Number a, Sum b) { return static_cast<float>(a) * b; }
  static Sum add(Sum a, Sum b) { return a + b; }
  static Sum add_product(Sum accumulator, Number a, Sum b) { return Fp32::add_product(accumulator, load(a), b); }
  static Number store(Sum sum) { return Number(sum); }
};

/// A float rounded to 11 significant bits (10 in the last place below the least normal number, as the format's exponent
/// is that of fp32).
inline float to_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return value;
  bits += 0xFFFU + ((bits >> 13) & 1U);  // half of the 13 bits that go, less one where the last kept bit is even
  return std::bit_cast<float>(bits & ~0x1FFFU);
}

struct Tf32 : Fp32 {
  static constexpr ArithmeticName name = ArithmeticName::tf32();
  static constexpr double product_roundoff = 0x1p-11;  ///< of each operand of a product
  static Sum product(Number a, Sum b) { return to_tf32(a) * to_tf32(b); }
  static Sum add_product(Sum accumulator, Number a, Sum b) {
    return Fp32::add_product(accumulator, to_tf32(a), to_tf32(b));
  }
};

/// Calls `body` with the format of that name: with_format(p, [](auto a) { using A = decltype(a); … }).
template <class Body>
decltype(auto) with_format(Precision precision, Body&& body) {
  switch (precision) {
    case Precision::kFp64:
      return body(Fp64{});
    case Precision::kFp32:
      return body(Fp32{});
    case Precision::kFp16:
      return body(Fp16{});
    default:
      return body(Bf16{});
  }
}

/// Calls `body` with the arithmetic of that name, one of ArithmeticName::all(). Throws InputError for `exact`, which
/// has no format, and integers, which are an object (simulate/arithmetic/rounded_operations.h). Every arithmetic is one
/// more instantiation of the body: prefer with_format where only weights are rounded.
template <class Body>
decltype(auto) with_arithmetic(ArithmeticName name, Body&& body) {
  switch (name.kind()) {
    case ArithmeticName::Kind::kSeparate:
      return with_format(name.storage(), body);
    case ArithmeticName::Kind::kFused:
      return with_format(name.storage(),
                         [&](auto format) -> decltype(auto) { return body(Fused<decltype(format)>{}); });
    case ArithmeticName::Kind::kAccumulatedInFp32:
      return name.storage() == Precision::kFp16 ? body(AccumulatedInFp32<Fp16>{}) : body(AccumulatedInFp32<Bf16>{});
    case ArithmeticName::Kind::kTf32:
      return body(Tf32{});
    default:
      throw InputError(name.is_exact()
                           ? "exact arithmetic does not round; this needs one of the floating-point arithmetics"
                           : "integers are read letter after letter: leave out other orders, or take a floating-point "
                             "arithmetic");
  }
}

// The arithmetics of with_format, and the others of with_arithmetic, for templates that one file instantiates.
#define KROHN_FORMATS(instantiate) instantiate(Fp64) instantiate(Fp32) instantiate(Fp16) instantiate(Bf16)
#define KROHN_OTHER_ARITHMETICS(instantiate)                                                          \
  instantiate(Fused<Fp64>) instantiate(Fused<Fp32>) instantiate(Fused<Fp16>) instantiate(Fused<Bf16>) \
      instantiate(AccumulatedInFp32<Fp16>) instantiate(AccumulatedInFp32<Bf16>) instantiate(Tf32)

/// The value of the format nearest to `value`, ties to the even one, in one rounding; subnormal numbers and overflow to
/// infinity as IEEE 754 has them. The result is the format's number, still held in a long double.
template <class Arithmetic>
long double nearest_value(long double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| lies in [2^(exponent − 1), 2^exponent)
  const int quantum = std::max(exponent, Arithmetic::least_exponent + 1) - Arithmetic::digits;
  const long double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  if (std::fabs(rounded) < std::ldexp(1.0L, Arithmetic::greatest_exponent + 1)) return rounded;
  return std::copysign(std::numeric_limits<long double>::infinity(), value);
}

/// A weight as the storage format holds it. The conversions after nearest_value are exact.
template <class Arithmetic>
typename Arithmetic::Number round_weight(long double value) {
  using Number = typename Arithmetic::Number;
  const long double nearest = nearest_value<Arithmetic>(value);
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<Number>(nearest);
  else
    return Number(static_cast<float>(nearest));
}

/// The bit pattern, with −0 counted as +0 (MATH.md §5): numbers that compare equal have one pattern.
template <class Arithmetic>
typename Arithmetic::Bits state_bits(typename Arithmetic::Number number) {
  using Bits = typename Arithmetic::Bits;
  const auto bits = std::bit_cast<Bits>(number);
  return static_cast<Bits>(bits << 1) == 0 ? Bits{0} : bits;
}

/// Exact.
template <class Number>
double to_double(Number number) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<double>(number);
  else
    return static_cast<double>(static_cast<float>(number));
}

}  // namespace krohn
