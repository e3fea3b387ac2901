#include "krohn/gpu/networks/device_arithmetic.cuh"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/words/random_letters.h"

using namespace krohn;

namespace {

/// Equal, where every NaN counts as one and −0 is not +0.
bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || bits_of(a) == bits_of(b); }

/// Bit patterns of all exponents, and those around the edges of the formats.
float nth_float(std::uint64_t i) {
  constexpr std::uint32_t kEdges[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fffffff, 0xffffffff,
                                      0x7f7fffff, 0x7f7f7fff, 0x7f7f8000, 0x477fefff, 0x477ff000, 0x47800000,
                                      0x33000000, 0x33000001, 0x38800000, 0x387fffff, 0x387fe000, 0x00000001};
  if (i < std::size(kEdges)) return float_of(kEdges[i]);
  return float_of(static_cast<std::uint32_t>(splitmix_finaliser(i)));
}

template <class A, class D>
void check_operations() {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    // Operands of the storage format; the second one near the first in size, now and then.
    const float a = D::store(nth_float(i)), c = D::store(nth_float(7 * i + 1));
    const float b = D::store(i % 3 == 0 ? float_of(bits_of(a) ^ (bits_of(c) & 0x80ff0000U)) : nth_float(i * i));
    const auto number = [](float x) { return typename A::Number(x); };
    const auto sum = [&](float x) { return A::load(number(x)); };
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    REQUIRE(same(D::product(a, b), static_cast<float>(A::product(number(a), sum(b)))));
    REQUIRE(same(D::add(a, b), static_cast<float>(A::add(sum(a), sum(b)))));
    REQUIRE(same(D::add_product(c, a, b), static_cast<float>(A::add_product(sum(c), number(a), sum(b)))));
    const float accumulated = D::add_product(c, a, b);
    REQUIRE(same(D::store(accumulated), static_cast<float>(A::store(A::add_product(sum(c), number(a), sum(b))))));
  }
}

}  // namespace

TEST_CASE("operations on held numbers round as the formats do") {
  check_operations<Fp32, DeviceFp32>();
  check_operations<Fp16, DeviceFp16>();
  check_operations<Bf16, DeviceBf16>();
  check_operations<AccumulatedInFp32<Fp16>, DeviceFp16InFp32>();
  check_operations<AccumulatedInFp32<Bf16>, DeviceBf16InFp32>();
  check_operations<Fused<Fp32>, DeviceFp32Fused>();
  check_operations<Fused<Fp16>, DeviceFp16Fused>();
  check_operations<Fused<Bf16>, DeviceBf16Fused>();
  check_operations<Tf32, DeviceTf32>();
  CHECK(DeviceFp64::add_product(0.1, 0.2, 0.3) == Fp64::add_product(0.1, 0.2, 0.3));
  CHECK(DeviceFp64Fused::add_product(0.1, 0.2, 0.3) == Fused<Fp64>::add_product(0.1, 0.2, 0.3));
}

TEST_CASE("what is not a number stays so, whatever its bits") {
  for (const std::uint32_t bits : {0x7fffffffU, 0xffffffffU, 0x7f800001U, 0xffc00000U}) {
    CAPTURE(bits);
    CHECK(std::isnan(round_bf16(float_of(bits))));
    CHECK(std::isnan(round_fp16(float_of(bits))));
  }
  CHECK_FALSE(is_finite(std::numeric_limits<double>::infinity()));
  CHECK_FALSE(is_finite(std::numeric_limits<double>::quiet_NaN()));
  CHECK(is_finite(std::numeric_limits<double>::max()));
}
