// simulate/arithmetic/stated_exp.h — e^x of a float by stated operations, for the processor and for CUDA devices, so
// that models with gates have the same bits on both. The algorithm, its cubic and its table are those of Arm's
// optimized routines, which are glibc's expf since 2.27; with fused products, as here, for every one of the 2^32 floats
// it gives what glibc gives on processors that have them (without, glibc's differs for two floats).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "krohn/simulate/words/host_device.h"

namespace krohn {

// The bits of a double and back.

KROHN_HOST_DEVICE inline std::uint64_t bits_of(double a) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(a));
#else
  return std::bit_cast<std::uint64_t>(a);
#endif
}

KROHN_HOST_DEVICE inline double double_of(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

namespace stated_exp_bits {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace stated_exp_bits

/// 2^(i/32), whose exponent's bits are less by i/32 of one: adding k · 2^47 gives 2^(k/32) for every k ≡ i modulo 32.
KROHN_HOST_DEVICE inline std::uint64_t exp_table(std::uint32_t i) {
  static constexpr std::uint64_t kTable[32] = {
      0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51, 0x3fef72b83c7d517b,
      0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1, 0x3fef06fe0a31b715, 0x3feef1a7373aa9cb,
      0x3feedea64c123422, 0x3feece086061892d, 0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429,
      0x3feea47eb03a5585, 0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
      0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d, 0x3feee89f995ad3ad,
      0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069, 0x3fef5818dcfba487, 0x3fef7c97337b9b5f,
      0x3fefa4afa2a490da, 0x3fefd0765b6e4540};
  return kTable[i];
}

/// Within 0.502 units in the last place of e^x; infinite beyond 128 ln 2, zero below −150 ln 2. Products and sums are
/// in double, each rounded by itself.
KROHN_HOST_DEVICE inline float stated_exp(double x) {
  constexpr double kPerOctave = 32, kShift = 0x1.8p+52;  // kShift + k holds the nearest integer to k in its last bits
  constexpr double kInverse = 0x1.71547652b82fep+0 * kPerOctave;
  constexpr double kCubic = 0x1.c6af84b912394p-5 / kPerOctave / kPerOctave / kPerOctave,
                   kSquare = 0x1.ebfce50fac4f3p-3 / kPerOctave / kPerOctave,
                   kLinear = 0x1.62e42ff0c52d6p-1 / kPerOctave;
  if (!(x == x)) return static_cast<float>(x + x);
  if (x > 0x1.62e42ep6) return stated_exp_bits::kInfinity;
  if (x < -0x1.9fe368p6) return 0;
  const double shifted = std::fma(kInverse, x, kShift);
  const std::uint64_t k = bits_of(shifted);
  const double r = std::fma(kInverse, x, -(shifted - kShift));  // e^x = 2^(k/32) · 2^(r/32)
  const double power = double_of(exp_table(static_cast<std::uint32_t>(k % 32)) + (k << 47));
  const double high = std::fma(kCubic, r, kSquare), low = std::fma(kLinear, r, 1.0);
  return static_cast<float>(std::fma(high, r * r, low) * power);
}

}  // namespace krohn
