#include "simulate/arithmetic.h"

#include <doctest/doctest.h>

#include <random>

using namespace krohn;

namespace {

/// Finite values of all magnitudes, many of them halfway between two numbers of a short format.
std::vector<long double> hard_values() {
  std::mt19937_64 random(11);
  std::vector<long double> values{0.0L,     -0.0L,    1.0L,     65504.0L,   65519.99L,
                                  65520.0L, 0x1p-24L, 0x1p-25L, 0x1.8p-25L, 3e38L};
  for (int i = 0; i < 20'000; ++i) {
    const int bits = 1 + static_cast<int>(random() % 30);
    const auto odd = static_cast<long double>(2 * (random() >> (64 - bits)) + 1);
    const int exponent = static_cast<int>(random() % 320) - 160 - bits;
    values.push_back((random() % 2 == 0 ? 1 : -1) * std::ldexp(odd, exponent));
  }
  return values;
}

}  // namespace

TEST_CASE("a weight is rounded once, as the format's own conversion does") {
  for (const long double value : hard_values()) {
    CAPTURE(value);
    const auto as_float = static_cast<float>(value);
    CHECK(round_weight<Fp64>(value) == static_cast<double>(value));
    CHECK(round_weight<Fp32>(value) == as_float);
    if (static_cast<long double>(as_float) != value) continue;  // otherwise the conversions below would round twice
    CHECK(std::bit_cast<std::uint16_t>(round_weight<Fp16>(value)) ==
          std::bit_cast<std::uint16_t>(Eigen::half(as_float)));
    CHECK(std::bit_cast<std::uint16_t>(round_weight<Bf16>(value)) ==
          std::bit_cast<std::uint16_t>(Eigen::bfloat16(as_float)));
  }
}

TEST_CASE("rounding by way of fp32 would be wrong, and is not done") {
  // Just above the midpoint of 1 and the next half; fp32 drops the excess and the tie then goes down to even.
  const long double value = 1.0L + 0x1p-11L + 0x1p-40L;
  CHECK(to_double(Eigen::half(static_cast<float>(value))) == 1.0);
  CHECK(to_double(round_weight<Fp16>(value)) == 1.0 + 0x1p-10);
  CHECK(to_double(round_weight<Bf16>(1.0L + 0x1p-8L + 0x1p-40L)) == 1.0 + 0x1p-7);
}

TEST_CASE_TEMPLATE("products and sums of short numbers are rounded as if once", Arithmetic, Fp32, Fp16, Bf16) {
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto a = std::bit_cast<Number>(static_cast<Bits>(random()));
    const auto b = std::bit_cast<Number>(static_cast<Bits>(random()));
    const long double x = to_double(a), y = to_double(b);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    CAPTURE(x);
    CAPTURE(y);
    // x·y and (for these formats' common exponents) x + y are exact in long double, or lie where rounding is innocuous.
    REQUIRE(state_bits<Arithmetic>(Number(a * b)) == state_bits<Arithmetic>(round_weight<Arithmetic>(x * y)));
    REQUIRE(state_bits<Arithmetic>(Number(a + b)) == state_bits<Arithmetic>(round_weight<Arithmetic>(x + y)));
  }
}

TEST_CASE("−0 and +0 are one state, other numbers keep their bits") {
  CHECK(state_bits<Fp32>(-0.0F) == state_bits<Fp32>(0.0F));
  CHECK(state_bits<Fp64>(-0.0) == 0);
  CHECK(state_bits<Bf16>(Eigen::bfloat16(-0.0F)) == 0);
  CHECK(state_bits<Fp16>(Eigen::half(-1.0F)) != state_bits<Fp16>(Eigen::half(1.0F)));
  CHECK(state_bits<Fp64>(-0x1p-1074) == 0x8000000000000001ULL);
}
