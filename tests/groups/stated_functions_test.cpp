// Stated functions beside 200-bit ones of Boost.Multiprecision, at aimed and at random arguments; their special values;
// and their bits, which are one number on every machine.

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "krohn/groups/base/random.h"
#include "krohn/groups/base/stated_functions.h"
#include "tests/testing.h"

namespace mp = boost::multiprecision;
using namespace krohn;
using Wide = mp::number<mp::cpp_bin_float<200, mp::digit_base_2>>;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// In units in the last place of the true value, at least of the least subnormal number.
double error(double given, const Wide& wanted) {
  if (wanted == 0) return given == 0 ? 0 : kInfinity;
  int exponent = 0;
  mp::frexp(wanted, &exponent);
  return std::abs(mp::ldexp(Wide(given) - wanted, -std::max(exponent - 53, -1074)).convert_to<double>());
}

double between(Random& random, double least, double most) {
  return least + (most - least) * (static_cast<double>(random.next() >> 11) * 0x1p-53);
}

struct Function {
  const char* name;
  std::function<double(double)> stated;
  std::function<Wide(const Wide&)> wide;
  double least, most;  ///< of random arguments
  double limit;        ///< of the error
  std::vector<double> aimed;
};

double power(double x) { return stated::pow(x, 1.2); }
double root(double x) { return stated::pow(x, 1 / 1.2); }

const std::vector<Function>& functions() {
  const double half_log2 = 0.34657359027997264;  // where exponentials change the power of two
  static const std::vector<Function> all{
      {"exp",
       stated::exp,
       [](const Wide& x) { return Wide(mp::exp(x)); },
       -20,
       20,
       0.6,
       {0, 0x1p-1074, -0x1p-60, half_log2, std::nextafter(half_log2, 1), -half_log2, 709.78271289338397, -708.3,
        -745.13, -745.2, 1, -1}},
      {"expm1",
       stated::expm1,
       [](const Wide& x) { return Wide(mp::expm1(x)); },
       -3,
       3,
       0.6,
       {0, 0x1p-1074, -0x1p-60, half_log2, std::nextafter(half_log2, 1), -half_log2, 40, std::nextafter(40, 41), -39.9,
        -40.1, 709.7}},
      {"log",
       stated::log,
       [](const Wide& x) { return Wide(mp::log(x)); },
       0,
       4,
       0.501,
       {1, std::nextafter(1, 0), std::nextafter(1, 2), M_SQRT2, std::nextafter(M_SQRT2, 2), 0x1p-1074, 0x1p-1022, 1e308,
        0x1p-53}},
      {"log1p",
       stated::log1p,
       [](const Wide& x) { return Wide(mp::log1p(x)); },
       -0.999,
       2,
       0.501,
       {0, 0x1p-1074, 0x1p-60, std::nextafter(0x1p-60, 0), -0x1p-53, 0x1p-53, std::nextafter(-1, 0), 1e300,
        M_SQRT2 - 1}},
      {"pow 1.2",
       power,
       [](const Wide& x) { return Wide(mp::pow(x, Wide(1.2))); },
       0,
       10,
       0.501,
       {0x1p-500, 1e200, std::nextafter(1, 0), std::nextafter(1, 2)}},
      {"pow 1/1.2",
       root,
       [](const Wide& x) { return Wide(mp::pow(x, Wide(1 / 1.2))); },
       0,
       10,
       0.501,
       {0x1p-1074, 1e300}},
      {"cos",
       stated::cos,
       [](const Wide& x) { return Wide(mp::cos(x)); },
       -10,
       10,
       0.501,
       {0, 0x1p-600, M_PI_4, std::nextafter(M_PI_4, 1), M_PI_2, M_PI, 3 * M_PI_2, std::nextafter(0x1p20, 0), 0x1p20,
        1e9}},
      {"sin",
       stated::sin,
       [](const Wide& x) { return Wide(mp::sin(x)); },
       -10,
       10,
       0.501,
       {0, 0x1p-1074, 0x1p-600, M_PI_4, M_PI_2, M_PI, 2 * M_PI, std::nextafter(0x1p20, 0), -0x1p20, 1e9}}};
  return all;
}

}  // namespace

TEST_CASE("stated functions are within their units in the last place") {
  Random random(11);
  for (const Function& f : functions()) {
    CAPTURE(f.name);
    double worst = 0;
    const auto look = [&](double x) {
      const double found = error(f.stated(x), f.wide(Wide(x)));
      CAPTURE(x);
      if (!(found <= f.limit)) CHECK(found <= f.limit);
      worst = std::max(worst, found);
    };
    for (const double x : f.aimed) look(x);
    for (int i = 0; i < 1500; ++i) look(between(random, f.least, f.most));
    CHECK(worst > 0.4);  // the measure sees rounding
  }
}

TEST_CASE("angles of any size, as their published values") {
  CHECK(stated::sin(1e22) == -0.8522008497671888);  // Ng 1992
  CHECK(stated::cos(0x1.6ac5b262ca1ffp+849) ==
        -4.68716592425462761112e-19);  // the worst case for doubles (Muller 2016)
  CHECK(stated::sin(-1e22) == 0.8522008497671888);
}

TEST_CASE("atan2 in every octant, on the axes, and close to them") {
  Random random(12);
  for (int i = 0; i < 1500; ++i) {
    double y = between(random, -1, 1), x = between(random, -1, 1);
    if (i % 3 == 0) y = std::ldexp(y, -static_cast<int>(random.below(90)));
    if (i % 3 == 1) x = std::ldexp(x, -static_cast<int>(random.below(90)));
    CAPTURE(y);
    CAPTURE(x);
    CHECK(error(stated::atan2(y, x), mp::atan2(Wide(y), Wide(x))) <= 0.501);
  }
  CHECK(stated::atan2(0, 1) == 0);
  CHECK(stated::atan2(0, 0) == 0);
  CHECK(stated::atan2(0, -1) == M_PI);
  CHECK(stated::atan2(1, 0) == M_PI_2);
  CHECK(stated::atan2(-1, 0) == -M_PI_2);
  CHECK(stated::atan2(1, 1) == M_PI_4);
  CHECK(stated::atan2(-1, -1) == -3 * M_PI_4);
}

TEST_CASE("tanh is within 3 units in the last place, odd, and 1 where it rounds to that") {
  Random random(17);
  const auto look = [](double x) {
    CAPTURE(x);
    const double found = error(stated::tanh(x), mp::tanh(Wide(x)));
    if (!(found <= 3)) CHECK(found <= 3);
    if (stated::tanh(-x) != -stated::tanh(x)) CHECK(stated::tanh(-x) == -stated::tanh(x));
  };
  for (const double x :
       {0x1p-1074, 0x1p-600, 0x1p-30, 0x1p-27, 0.1, 0.25, 0.5, 1.0, 9.0, 18.0, 19.0, 19.06, 19.07, 25.0})
    look(x);
  for (int i = 0; i < 1500; ++i) look(between(random, -20, 20));
  for (int i = 0; i < 500; ++i) look(between(random, -0.01, 0.01));
  CHECK(stated::tanh(kInfinity) == 1);
  CHECK(stated::tanh(-1e300) == -1);
  CHECK(std::signbit(stated::tanh(-0.0)));
  CHECK(std::isnan(stated::tanh(std::nan(""))));
}

TEST_CASE("special values are IEEE 754's") {
  const double nan = std::nan("");
  CHECK(stated::exp(710) == kInfinity);
  CHECK(stated::exp(kInfinity) == kInfinity);
  CHECK(stated::exp(-746) == 0);
  CHECK(stated::exp(-kInfinity) == 0);
  CHECK(stated::expm1(-kInfinity) == -1);
  CHECK(stated::expm1(kInfinity) == kInfinity);
  CHECK(std::signbit(stated::expm1(-0.0)));
  CHECK(stated::log(0) == -kInfinity);
  CHECK(stated::log(1) == 0);
  CHECK(stated::log(kInfinity) == kInfinity);
  CHECK(std::isnan(stated::log(-1)));
  CHECK(stated::log1p(-1) == -kInfinity);
  CHECK(std::isnan(stated::log1p(-1.5)));
  CHECK(stated::pow(0, 1.2) == 0);
  CHECK(stated::pow(0, -1) == kInfinity);
  CHECK(stated::pow(0, 0) == 1);
  CHECK(stated::pow(kInfinity, 0.5) == kInfinity);
  CHECK(stated::pow(kInfinity, -0.5) == 0);
  CHECK(stated::pow(2, kInfinity) == kInfinity);
  CHECK(stated::pow(0.5, kInfinity) == 0);
  CHECK(stated::pow(2, 1024) == kInfinity);
  CHECK(stated::pow(2, 1023) == 0x1p1023);
  CHECK(stated::pow(2, -1074) == 0x1p-1074);
  CHECK(stated::pow(3, 1) == 3);
  CHECK(std::isnan(stated::pow(-1, 2)));
  CHECK(std::isnan(stated::cos(kInfinity)));
  CHECK(std::signbit(stated::sin(-0.0)));
  for (double (*f)(double) : {stated::exp, stated::expm1, stated::log, stated::log1p, stated::cos, stated::sin})
    CHECK(std::isnan(f(nan)));
}

TEST_CASE("the bits are the same on every machine") {
  std::uint64_t mixed = 0;
  Random random(13);
  for (const Function& f : functions())
    for (int i = 0; i < 20'000; ++i)
      mixed = (mixed ^ std::bit_cast<std::uint64_t>(f.stated(between(random, f.least, f.most)))) * 0x9e3779b97f4a7c15;
  CHECK(mixed == 17017138145111183540U);
}
