// simulate/arithmetic.h — floating-point arithmetics as types: what one rounding is, in one place.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "constructions/precision.h"

namespace krohn {

/// An arithmetic has a storage type and rounds every product and every sum to it separately (no fused multiply-add; the
/// whole project is compiled with contraction off). fp16 and bf16 round through fp32, which is the same as rounding the
/// exact result once: 24 ≥ 2p + 2 bits for p = 11 and 8, and where a bf16 product is too small for fp32 it is below
/// half of bf16's least number.
struct Fp64 {
  using Number = double;
  using Bits = std::uint64_t;
  static constexpr Precision precision = Precision::kFp64;
  static constexpr double unit_roundoff = 0x1p-53;
  static constexpr int digits = 53, least_exponent = -1022, greatest_exponent = 1023;
};
struct Fp32 {
  using Number = float;
  using Bits = std::uint32_t;
  static constexpr Precision precision = Precision::kFp32;
  static constexpr double unit_roundoff = 0x1p-24;
  static constexpr int digits = 24, least_exponent = -126, greatest_exponent = 127;
};
struct Fp16 {
  using Number = Eigen::half;
  using Bits = std::uint16_t;
  static constexpr Precision precision = Precision::kFp16;
  static constexpr double unit_roundoff = 0x1p-11;
  static constexpr int digits = 11, least_exponent = -14, greatest_exponent = 15;
};
struct Bf16 {
  using Number = Eigen::bfloat16;
  using Bits = std::uint16_t;
  static constexpr Precision precision = Precision::kBf16;
  static constexpr double unit_roundoff = 0x1p-8;
  static constexpr int digits = 8, least_exponent = -126, greatest_exponent = 127;
};

/// Calls `body` with the arithmetic of that name: with_arithmetic(p, [](auto a) { using A = decltype(a); … }).
template <class Body>
decltype(auto) with_arithmetic(Precision precision, Body&& body) {
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

/// A weight as the format holds it. The conversions after nearest_value are exact.
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
