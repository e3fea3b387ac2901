#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/simulate/arithmetic/interval.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Rational = boost::multiprecision::cpp_rational;

const double kInfinity = std::numeric_limits<double>::infinity();

/// Finite doubles of all magnitudes, subnormal ones and small integers among them.
double random_double(std::mt19937_64& random) {
  if (random() % 4 == 0) return static_cast<double>(static_cast<std::int64_t>(random() % 65) - 32) / 8;
  for (;;) {
    std::uint64_t bits = random();
    if (random() % 2 == 0) bits = (bits & ~(std::uint64_t{0x7FF} << 52)) | ((1023 - 4 + random() % 8) << 52);
    if (random() % 3 == 0) bits &= ~((std::uint64_t{1} << random() % 52) - 1);
    if (const auto number = std::bit_cast<double>(bits); std::isfinite(number)) return number;
  }
}

bool at_most(double bound, const Rational& exact) {
  return bound == -kInfinity || (bound < kInfinity && Rational(bound) <= exact);
}
bool at_least(double bound, const Rational& exact) {
  return bound == kInfinity || (bound > -kInfinity && Rational(bound) >= exact);
}

bool is_ordinary(double number) { return number == 0 || (std::fabs(number) > 1e-250 && std::fabs(number) < 1e250); }

/// down ≤ exact ≤ up, and no more than two places apart; as near as can be for numbers of ordinary size.
void check_bounds(double down, double up, const Rational& exact, bool is_tight) {
  CAPTURE(down);
  CAPTURE(up);
  REQUIRE(at_most(down, exact));
  REQUIRE(at_least(up, exact));
  REQUIRE(std::nextafter(std::nextafter(down, kInfinity), kInfinity) >= up);
  if (!is_tight || !is_ordinary(down)) return;
  const bool is_double = Rational(down) == exact || Rational(up) == exact;
  REQUIRE(is_double == (down == up));
  if (!is_double) REQUIRE(std::nextafter(down, kInfinity) == up);
}

}  // namespace

TEST_CASE("directed operations bound the exact result, tightly") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 20'000; ++i) {
    const double a = random_double(random), b = random_double(random);
    CAPTURE(a);
    CAPTURE(b);
    const bool tight = is_ordinary(a) && is_ordinary(b);
    check_bounds(add_down(a, b), add_up(a, b), Rational(a) + Rational(b), tight);
    check_bounds(multiply_down(a, b), multiply_up(a, b), Rational(a) * Rational(b), tight);
    if (b != 0) check_bounds(divide_down(a, b), divide_up(a, b), Rational(a) / Rational(b), tight);
    const double low = root_down(std::fabs(a)), high = root_up(std::fabs(a));
    const Rational square = abs(Rational(a));
    REQUIRE(Rational(low) * Rational(low) <= square);
    REQUIRE(Rational(high) * Rational(high) >= square);
    REQUIRE(std::nextafter(std::nextafter(low, kInfinity), kInfinity) >= high);
  }
}

TEST_CASE("intervals hold every result on their members") {
  std::mt19937_64 random(13);
  const auto draw = [&] {
    const double a = random_double(random), b = random() % 3 == 0 ? a : random_double(random);
    return Interval::between(std::min(a, b), std::max(a, b));
  };
  const auto member = [&](Interval x) {
    const double between = x.lower() / 2 + x.upper() / 2;
    return random() % 2 == 0 && x.contains(between) ? between : random() % 2 == 0 ? x.lower() : x.upper();
  };
  const auto check = [](Interval bound, const Rational& exact) {
    REQUIRE(at_most(bound.lower(), exact));
    REQUIRE(at_least(bound.upper(), exact));
  };
  for (int i = 0; i < 10'000; ++i) {
    const Interval x = draw(), y = draw();
    const double a = member(x), b = member(y);
    CAPTURE(a);
    CAPTURE(b);
    check(x + y, Rational(a) + Rational(b));
    check(x - y, Rational(a) - Rational(b));
    check(x * y, Rational(a) * Rational(b));
    if (!y.contains(0)) check(x / y, Rational(a) / Rational(b));
    check(abs(x), abs(Rational(a)));
    check(max(x, y), std::max(Rational(a), Rational(b)));
    check(min(x, y), std::min(Rational(a), Rational(b)));
    CHECK(x.magnitude() >= std::fabs(a));
  }
}

TEST_CASE("exact results stay exact, ends may be infinite, and nonsense is refused") {
  CHECK(Interval(1) * Interval(1) == Interval(1));
  CHECK(sqrt(Interval(49)) == Interval(7));
  CHECK(Interval(3) / Interval(4) == Interval(0.75));
  CHECK(Interval(0.1) + Interval(0.2) == Interval::between(0.30000000000000004 - 0x1p-54, 0.30000000000000004));
  const Interval positive = Interval::between(0, kInfinity);
  CHECK(Interval(0) * positive == Interval(0));
  CHECK(Interval(1) / Interval::between(2, kInfinity) == Interval::between(0, 0.5));
  CHECK((positive + positive).upper() == kInfinity);
  CHECK((Interval(0x1p1023) + Interval(0x1p1023)).lower() == std::numeric_limits<double>::max());
  CHECK(sqrt(Interval::between(-1, 4)) == Interval::between(0, 2));
  CHECK_THROWS_AS(Interval(1) / Interval::between(-1, 1), InputError);
  CHECK_THROWS_AS(Interval{kInfinity}, InputError);
  CHECK_THROWS_AS(Interval{std::nan("")}, InputError);
  CHECK_THROWS_AS(Interval::between(1, 0), InputError);
  CHECK_THROWS_AS(sqrt(Interval(-1)), InputError);
  CHECK_THROWS_AS(add_down(kInfinity, -kInfinity), InputError);
}
