// gpu/networks/device_arithmetic.cuh — the arithmetics of simulate/arithmetic/arithmetic.h on numbers held in floats
// and doubles, for the processor and for CUDA devices: every product and every sum is rounded as that page says, and
// none is contracted.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

KROHN_HOST_DEVICE inline float multiply(float a, float b) { return KROHN_EITHER(__fmul_rn(a, b), a * b); }
KROHN_HOST_DEVICE inline double multiply(double a, double b) { return KROHN_EITHER(__dmul_rn(a, b), a * b); }
KROHN_HOST_DEVICE inline float sum_of(float a, float b) { return KROHN_EITHER(__fadd_rn(a, b), a + b); }
KROHN_HOST_DEVICE inline double sum_of(double a, double b) { return KROHN_EITHER(__dadd_rn(a, b), a + b); }

/// a · b + c, rounded once.
KROHN_HOST_DEVICE inline float fused_sum(float a, float b, float c) {
  return KROHN_EITHER(__fmaf_rn(a, b, c), std::fma(a, b, c));
}
KROHN_HOST_DEVICE inline double fused_sum(double a, double b, double c) {
  return KROHN_EITHER(__fma_rn(a, b, c), std::fma(a, b, c));
}

/// 1/√a, to a few units in the last place, which need not be the same everywhere.
KROHN_HOST_DEVICE inline float inverse_root(float a) { return KROHN_EITHER(rsqrtf(a), 1 / std::sqrt(a)); }
KROHN_HOST_DEVICE inline double inverse_root(double a) { return KROHN_EITHER(rsqrt(a), 1 / std::sqrt(a)); }

KROHN_HOST_DEVICE inline std::uint32_t bits_of(float a) {
  return KROHN_EITHER(__float_as_uint(a), std::bit_cast<std::uint32_t>(a));
}
KROHN_HOST_DEVICE inline float float_of(std::uint32_t bits) {
  return KROHN_EITHER(__uint_as_float(bits), std::bit_cast<float>(bits));
}

KROHN_HOST_DEVICE inline bool is_finite(double a) { return (bits_of(a) >> 52 & 0x7ff) != 0x7ff; }

/// A float rounded to bf16, held in a float. What is not a number stays so: on devices its bits are all ones.
KROHN_HOST_DEVICE inline float round_bf16(float a) {
  const std::uint32_t bits = bits_of(a);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return a;
  return float_of((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000U);
}

/// A float rounded to fp16, held in a float. Subnormal numbers of fp16 round at 2^−24, as a sum with a number whose
/// last place is that; the others at the bit 13 places up. From 65520 on the nearest is infinity.
KROHN_HOST_DEVICE inline float round_fp16(float a) {
  constexpr float kSubnormal = 0.75F;  // 2^23 quanta of 2^−24, and half as many again
  const std::uint32_t bits = bits_of(a), sign = bits & 0x80000000U, magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return a;
  if (magnitude < 0x38800000U)
    return float_of(bits_of(sum_of(sum_of(float_of(magnitude), kSubnormal), -kSubnormal)) | sign);
  const std::uint32_t rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~std::uint32_t{0x1fff};
  return float_of((rounded >= 0x47800000U ? 0x7f800000U : rounded) | sign);
}

/// A float rounded to 11 significant bits, as to_tf32 of simulate/arithmetic/arithmetic.h does.
KROHN_HOST_DEVICE inline float round_tf32(float a) {
  const std::uint32_t bits = bits_of(a);
  if ((bits & 0x7f800000U) == 0x7f800000U) return a;
  return float_of((bits + 0xfff + (bits >> 13 & 1)) & ~std::uint32_t{0x1fff});
}

/// add_to_odd of simulate/arithmetic/arithmetic.h: a + b, or else the neighbour whose last bit is 1.
KROHN_HOST_DEVICE inline double sum_to_odd(double a, double b) {
  const double sum = sum_of(a, b);
  const double b_part = sum_of(sum, -a), a_part = sum_of(sum, -b_part);
  const double error = sum_of(sum_of(a, -a_part), sum_of(b, -b_part));
  const std::uint64_t bits = bits_of(sum);
  if (error == 0 || bits % 2 == 1 || !is_finite(sum)) return sum;
  return double_of((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// to_odd_float of simulate/arithmetic/arithmetic.h.
KROHN_HOST_DEVICE inline float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  std::uint32_t bits = bits_of(nearest);
  const bool is_larger = (bits_of(back) & ~(std::uint64_t{1} << 63)) > (bits_of(value) & ~(std::uint64_t{1} << 63));
  if (is_larger) --bits;  // towards zero; from infinity too
  return float_of(bits | 1U);
}

/// Which 16-bit format a number is rounded to.
enum class ShortFormat : std::uint8_t { kNone, kFp16, kBf16 };

template <ShortFormat kFormat, class Number>
KROHN_HOST_DEVICE Number rounded_to(Number a) {
  if constexpr (kFormat == ShortFormat::kFp16) return round_fp16(a);
  if constexpr (kFormat == ShortFormat::kBf16) return round_bf16(a);
  return a;
}

/// Operations are rounded to kOperations, and once more to kStored where a number is kept between letters.
template <class NumberType, ShortFormat kOperations, ShortFormat kStored>
struct DeviceArithmetic {
  using Number = NumberType;
  using Sum = NumberType;
  static constexpr bool kRoundsStored = kOperations != kStored;
  static constexpr bool kShortensFactors = false;  ///< a product with ±1 may round
  static constexpr bool kIsShort = kStored != ShortFormat::kNone;

  KROHN_HOST_DEVICE static Number load(Number a) { return a; }
  KROHN_HOST_DEVICE static Number product(Number a, Number b) { return rounded_to<kOperations>(multiply(a, b)); }
  KROHN_HOST_DEVICE static Number add(Number a, Number b) { return rounded_to<kOperations>(sum_of(a, b)); }
  KROHN_HOST_DEVICE static Number add_product(Number accumulator, Number a, Number b) {
    return add(accumulator, product(a, b));
  }
  KROHN_HOST_DEVICE static Number store(Number a) { return rounded_to<kStored>(a); }
};

using DeviceFp64 = DeviceArithmetic<double, ShortFormat::kNone, ShortFormat::kNone>;
using DeviceFp32 = DeviceArithmetic<float, ShortFormat::kNone, ShortFormat::kNone>;
using DeviceFp16 = DeviceArithmetic<float, ShortFormat::kFp16, ShortFormat::kFp16>;
using DeviceBf16 = DeviceArithmetic<float, ShortFormat::kBf16, ShortFormat::kBf16>;
using DeviceFp16InFp32 = DeviceArithmetic<float, ShortFormat::kNone, ShortFormat::kFp16>;
using DeviceBf16InFp32 = DeviceArithmetic<float, ShortFormat::kNone, ShortFormat::kBf16>;

/// acc + a · b is rounded once. In the 16-bit formats the product is exact in double, and its sum is rounded to odd
/// first.
template <class NumberType, ShortFormat kFormat>
struct DeviceFused : DeviceArithmetic<NumberType, kFormat, kFormat> {
  using Number = NumberType;

  KROHN_HOST_DEVICE static Number add_product(Number accumulator, Number a, Number b) {
    if constexpr (kFormat == ShortFormat::kNone)
      return fused_sum(a, b, accumulator);
    else
      return rounded_to<kFormat>(round_to_odd(
          sum_to_odd(multiply(static_cast<double>(a), static_cast<double>(b)), static_cast<double>(accumulator))));
  }
};

using DeviceFp64Fused = DeviceFused<double, ShortFormat::kNone>;
using DeviceFp32Fused = DeviceFused<float, ShortFormat::kNone>;
using DeviceFp16Fused = DeviceFused<float, ShortFormat::kFp16>;
using DeviceBf16Fused = DeviceFused<float, ShortFormat::kBf16>;

/// fp32, but both factors of a product are cut to 11 significant bits.
struct DeviceTf32 : DeviceFp32 {
  static constexpr bool kShortensFactors = true;

  KROHN_HOST_DEVICE static float product(float a, float b) { return multiply(round_tf32(a), round_tf32(b)); }
  KROHN_HOST_DEVICE static float add_product(float accumulator, float a, float b) {
    return sum_of(accumulator, product(a, b));
  }
};

/// The arithmetics that kernels are compiled for.
#define KROHN_FOR_EVERY_DEVICE_ARITHMETIC(instantiate)                                            \
  instantiate(DeviceFp64) instantiate(DeviceFp32) instantiate(DeviceFp16) instantiate(DeviceBf16) \
      instantiate(DeviceFp16InFp32) instantiate(DeviceBf16InFp32) instantiate(DeviceFp64Fused)    \
          instantiate(DeviceFp32Fused) instantiate(DeviceFp16Fused) instantiate(DeviceBf16Fused)  \
              instantiate(DeviceTf32)

}  // namespace krohn
