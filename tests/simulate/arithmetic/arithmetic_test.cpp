#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "tests/testing.h"

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

TEST_CASE("bf16 by way of fp32 is rounded as if once below fp32's normal numbers, too: all significands") {
  // docs/reference/certificate-file.md says once; a product or quotient of two bf16 numbers that fp32 itself rounds is
  // at most half of bf16's least number, 2^-133, or further from a tie than fp32 rounds.
  const auto bf16 = [](int significand, int exponent) {
    return Eigen::bfloat16(std::ldexp(static_cast<float>(significand), exponent));
  };
  std::uint64_t products = 0, quotients = 0, wrong = 0;
  for (int exponent = -152; exponent <= -120; ++exponent)
    for (int a = 1; a < 256; ++a)
      for (int b = 1; b < 256; ++b) {
        const Eigen::bfloat16 x = bf16(a, -60), y = bf16(b, exponent + 60);
        const long double product = std::ldexp(static_cast<long double>(a * b), exponent);
        wrong += state_bits<Bf16>(Eigen::bfloat16(x * y)) != state_bits<Bf16>(round_weight<Bf16>(product)) ? 1 : 0;
        ++products;
        const Eigen::bfloat16 z = bf16(b, -60 - exponent);
        const long double quotient = std::ldexp(static_cast<long double>(a) / b, exponent);
        wrong += state_bits<Bf16>(Eigen::bfloat16(x / z)) != state_bits<Bf16>(round_weight<Bf16>(quotient)) ? 1 : 0;
        ++quotients;
      }
  CHECK(products == 33 * 255 * 255);
  CHECK(quotients == products);
  CHECK(wrong == 0);
}

TEST_CASE("−0 and +0 are one state, other numbers keep their bits") {
  CHECK(state_bits<Fp32>(-0.0F) == state_bits<Fp32>(0.0F));
  CHECK(state_bits<Fp64>(-0.0) == 0);
  CHECK(state_bits<Bf16>(Eigen::bfloat16(-0.0F)) == 0);
  CHECK(state_bits<Fp16>(Eigen::half(-1.0F)) != state_bits<Fp16>(Eigen::half(1.0F)));
  CHECK(state_bits<Fp64>(-0x1p-1074) == 0x8000000000000001ULL);
}

namespace {

using Integer = boost::multiprecision::cpp_int;

/// Where a binary floating-point format has its numbers: |x| < 2^(greatest_exponent + 1), multiples of the last place
/// of a significand of `digits` bits, or of 2^(least_exponent + 1 − digits) where that is coarser.
struct BinaryFormat {
  int digits, least_exponent, greatest_exponent;
};

/// IEEE 754's binary64, binary32 and binary16, and bfloat16.
BinaryFormat binary_format(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {53, -1022, 1023};
    case Precision::kFp32:
      return {24, -126, 127};
    case Precision::kFp16:
      return {11, -14, 15};
    default:
      return {8, -126, 127};
  }
}

/// An integer times a power of two: exact sums and products of floating-point numbers, rounded when asked.
class Dyadic {
 public:
  Dyadic() = default;
  /// Exactly the value, which is finite.
  explicit Dyadic(double value) {
    significand_ = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent_), 53));
    exponent_ -= 53;
  }

  friend Dyadic operator*(const Dyadic& a, const Dyadic& b) {
    Dyadic product;
    product.significand_ = a.significand_ * b.significand_;
    product.exponent_ = a.exponent_ + b.exponent_;
    return product;
  }
  friend Dyadic operator+(const Dyadic& a, const Dyadic& b) {
    if (a.significand_ == 0) return b;
    if (b.significand_ == 0) return a;
    if (a.exponent_ < b.exponent_) return b + a;
    Dyadic sum = b;
    sum.significand_ += a.significand_ << (a.exponent_ - b.exponent_);
    return sum;
  }

  /// The nearest number of the format, ties to the one whose last bit is 0, infinity from half a last place beyond the
  /// greatest number on. Zero comes out as +0.
  double rounded(const BinaryFormat& format) const {
    if (significand_ == 0) return 0;
    Integer magnitude = abs(significand_);
    const int greatest_bit = static_cast<int>(msb(magnitude)) + exponent_;
    const int last_place = std::max(greatest_bit, format.least_exponent) - (format.digits - 1);
    if (last_place > exponent_) magnitude = shifted_right(magnitude, static_cast<unsigned>(last_place - exponent_));
    const int exponent = std::max(last_place, exponent_);
    const double sign = significand_ < 0 ? -1 : 1;
    if (magnitude != 0 && static_cast<int>(msb(magnitude)) + exponent > format.greatest_exponent)
      return sign * std::numeric_limits<double>::infinity();
    return sign * std::ldexp(static_cast<double>(magnitude), exponent);  // exact: at most 53 bits are left
  }

 private:
  /// n / 2^bits to the nearest integer, ties to even; n ≥ 0 and bits > 0.
  static Integer shifted_right(const Integer& n, unsigned bits) {
    Integer quotient = n >> bits;
    const Integer rest = n - (quotient << bits), half = Integer(1) << (bits - 1);
    if (rest > half || (rest == half && bit_test(quotient, 0))) ++quotient;
    return quotient;
  }

  Integer significand_ = 0;
  int exponent_ = 0;  ///< the number is significand · 2^exponent
};

/// The definitions of simulate/arithmetic/arithmetic.h, by exact dyadic numbers: the oracle of one arithmetic.
struct Promised {
  ArithmeticName name;
  BinaryFormat sum =
      binary_format(name.kind() == ArithmeticName::Kind::kAccumulatedInFp32 ? Precision::kFp32 : name.storage());

  Dyadic operand(double value) const {
    return Dyadic(name.kind() == ArithmeticName::Kind::kTf32 ? Dyadic(value).rounded({11, -126, 127}) : value);
  }
  double product(double a, double b) const { return (operand(a) * operand(b)).rounded(sum); }
  double add_product(double accumulator, double a, double b) const {
    if (name.kind() == ArithmeticName::Kind::kFused) return (Dyadic(a) * Dyadic(b) + Dyadic(accumulator)).rounded(sum);
    const double rounded = product(a, b);
    return std::isfinite(rounded) ? (Dyadic(rounded) + Dyadic(accumulator)).rounded(sum) : rounded;
  }
};

/// Random bit patterns of a format: all magnitudes, subnormal numbers as often as others, few significant bits half of
/// the time, so that ties and cancellation are met.
template <class Number>
class Patterns {
 public:
  explicit Patterns(std::uint64_t seed) : random_(seed) {}
  Number next() {
    for (;;) {
      using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t,
                                      std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint16_t>>;
      auto bits = static_cast<Bits>(random_());
      if (random_() % 2 == 0) bits = static_cast<Bits>(bits & ~((Bits{1} << random_() % (6 * sizeof(Number))) - 1));
      const auto number = std::bit_cast<Number>(bits);
      if (std::isfinite(to_double(number))) return number;
    }
  }
  std::uint64_t choose(std::uint64_t below) { return random_() % below; }

 private:
  std::mt19937_64 random_;
};

/// A third number that makes acc + a·b hard: anything, or near −a·b, or near a tie beside a·b.
template <class A>
typename A::Sum accumulator_for(Patterns<typename A::Number>& patterns, typename A::Number a, typename A::Number b) {
  const double product = to_double(a) * to_double(b);
  const auto scaled = static_cast<long double>(product) *
                      std::ldexp(1.0L, static_cast<int>(patterns.choose(120)) - 60) *
                      (patterns.choose(2) == 0 ? 1 : -1);
  using Format = std::conditional_t<std::is_same_v<typename A::Sum, float>, Fp32, A>;
  const auto near = round_weight<Format>(patterns.choose(3) == 0 ? static_cast<long double>(-product) : scaled);
  if (patterns.choose(3) != 0 && std::isfinite(to_double(near))) return near;
  return A::load(patterns.next());
}

template <class A>
void check_promises(int count) {
  const Promised promised{A::name};
  Patterns<typename A::Number> patterns(41);
  for (int i = 0; i < count; ++i) {
    const typename A::Number a = patterns.next(), b = patterns.next();
    const typename A::Sum accumulator = accumulator_for<A>(patterns, a, b);
    const double x = to_double(a), y = to_double(b), z = to_double(accumulator);
    CAPTURE(i);
    CAPTURE(x);
    CAPTURE(y);
    CAPTURE(z);
    REQUIRE(to_double(A::load(a)) == x);
    REQUIRE(to_double(A::product(a, A::load(b))) == promised.product(x, y));
    REQUIRE(to_double(A::add(accumulator, A::load(b))) == (Dyadic(z) + Dyadic(y)).rounded(promised.sum));
    REQUIRE(to_double(A::add_product(accumulator, a, A::load(b))) == promised.add_product(z, x, y));
    REQUIRE(to_double(A::store(accumulator)) == Dyadic(z).rounded(binary_format(A::name.storage())));
  }
}

}  // namespace

TEST_CASE("every operation of every arithmetic rounds as promised") {
  for (const ArithmeticName name : ArithmeticName::all()) {
    CAPTURE(to_string(name));
    with_arithmetic(name, [&](auto type) {
      CHECK(decltype(type)::name == name);
      check_promises<decltype(type)>(20'000);
    });
  }
}

TEST_CASE("a fused bf16 operation by way of a sum rounded in double would be wrong, and is not done") {
  // a·b lies halfway between two bf16 numbers and acc is far below double's last place of it, but decides.
  const auto a = Eigen::bfloat16(1.0F + 0x1p-4F), b = Eigen::bfloat16(1.0F + 0x1p-4F);
  REQUIRE(to_double(a) * to_double(b) == 1.125 + 0x1p-8);
  const auto tiny = round_weight<Bf16>(0x1p-100L);
  CHECK(to_double(Eigen::bfloat16(static_cast<float>(to_double(a) * to_double(b) + to_double(tiny)))) == 1.125);
  CHECK(to_double(Fused<Bf16>::add_product(tiny, a, b)) == 1.125 + 0x1p-7);
  CHECK(to_double(Fused<Bf16>::add_product(-tiny, a, b)) == 1.125);
}

TEST_CASE("tf32 operands keep 11 significant bits, ties to even") {
  CHECK(to_tf32(1.0F + 0x1p-11F) == 1.0F);
  CHECK(to_tf32(1.0F + 0x1p-11F + 0x1p-23F) == 1.0F + 0x1p-10F);
  CHECK(to_tf32(1.0F + 0x1.8p-10F) == 1.0F + 0x1p-9F);
  CHECK(to_tf32(-0x1p-149F) == 0);
  CHECK(std::isinf(to_tf32(std::numeric_limits<float>::max())));
}

TEST_CASE("arithmetics have names") {
  CHECK(ArithmeticName::all().size() == 11);
  for (const ArithmeticName name : ArithmeticName::all()) CHECK(ArithmeticName::parse(to_string(name)) == name);
  CHECK(to_string(ArithmeticName::fused(Precision::kBf16)) == "bf16+fma");
  CHECK(to_string(ArithmeticName::accumulated_in_fp32(Precision::kFp16)) == "fp16/fp32");
  CHECK(to_string(ArithmeticName::tf32()) == "tf32");
  CHECK(ArithmeticName(Precision::kFp32) == ArithmeticName::parse("fp32"));
  CHECK(ArithmeticName::parse("exact").is_exact());
  CHECK_THROWS_AS(ArithmeticName::parse("fp8"), InputError);
  CHECK_THROWS_AS(ArithmeticName::accumulated_in_fp32(Precision::kFp64), InputError);
  CHECK_THROWS_AS(with_arithmetic(ArithmeticName::exact(), [](auto) {}), InputError);
}

TEST_CASE("the stated exponential is within 0.502 units in the last place, everywhere") {
  // Every 4999th bit pattern, and those around the edges.
  const auto check = [](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    const float found = stated_exp(x);
    if (std::isnan(x)) return std::isnan(found);
    const long double exact = std::exp(static_cast<long double>(x));
    if (exact > 0x1.ffffffp+127L) return std::isinf(found) && found > 0;
    const int quantum = exact < 0x1p-126L ? -149 : std::ilogb(exact) - 23;
    return std::fabs(static_cast<long double>(found) - exact) <= std::ldexp(0.502L, quantum);
  };
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4999) {
    CAPTURE(bits);
    REQUIRE(check(static_cast<std::uint32_t>(bits)));
  }
  for (const float edge : {0.0F, 88.722838F, 88.722839F, -87.33655F, -103.97F, -103.98F, -104.0F, INFINITY, -INFINITY})
    for (const float x : {edge, std::nextafter(edge, 0.0F), std::nextafter(edge, 200.0F), -edge}) {
      CAPTURE(x);
      CHECK(check(std::bit_cast<std::uint32_t>(x)));
    }
}

#ifdef __GLIBC__
TEST_CASE("the stated exponential is glibc's expf") {
  std::uint64_t different = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 61) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    different +=
        !std::isnan(x) && std::bit_cast<std::uint32_t>(stated_exp(x)) != std::bit_cast<std::uint32_t>(std::exp(x));
  }
  CHECK(different == 0);
}
#endif
