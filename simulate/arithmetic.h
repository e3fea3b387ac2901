// simulate/arithmetic.h — floating-point arithmetics as types: what one rounding is, in one place.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "constructions/precision.h"

namespace krohn {

/// An arithmetic has a storage type and rounds every product and every sum to it separately (no fused multiply-add; the
/// whole project is compiled with contraction off). fp16 and bf16 round through fp32, which is the same as rounding the
/// exact result once: 24 ≥ 2p + 2 bits for p = 11 and 8.
struct Fp64 {
  using Number = double;
  static constexpr Precision precision = Precision::kFp64;
  static constexpr double unit_roundoff = 0x1p-53;
};
struct Fp32 {
  using Number = float;
  static constexpr Precision precision = Precision::kFp32;
  static constexpr double unit_roundoff = 0x1p-24;
};
struct Fp16 {
  using Number = Eigen::half;
  static constexpr Precision precision = Precision::kFp16;
  static constexpr double unit_roundoff = 0x1p-11;
};
struct Bf16 {
  using Number = Eigen::bfloat16;
  static constexpr Precision precision = Precision::kBf16;
  static constexpr double unit_roundoff = 0x1p-8;
};

/// Calls `body` with the arithmetic of that name: with_arithmetic(p, [](auto a) { using A = decltype(a); … }).
template <class Body>
decltype(auto) with_arithmetic(Precision precision, Body&& body) {
  switch (precision) {
    case Precision::kFp64: return body(Fp64{});
    case Precision::kFp32: return body(Fp32{});
    case Precision::kFp16: return body(Fp16{});
    default: return body(Bf16{});
  }
}

}  // namespace krohn
