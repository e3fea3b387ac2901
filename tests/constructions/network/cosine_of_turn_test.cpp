#include "krohn/constructions/network/cosine_of_turn.h"

#include <doctest/doctest.h>

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>

#include "krohn/constructions/network/matrix.h"

namespace mp = boost::multiprecision;
using namespace krohn;
using Wide = mp::number<mp::cpp_bin_float<400, mp::digit_base_2>>;

namespace {

/// Cut off after 64 bits with the last bit 1: what rounding to odd makes of a number that has more.
Wide to_odd(const Wide& value) {
  int exponent = 0;
  const Wide significand = mp::floor(mp::ldexp(mp::frexp(mp::abs(value), &exponent), 64));
  mp::cpp_int bits(significand);
  bits |= 1;
  const Wide size = mp::ldexp(Wide(bits), exponent - 64);
  return value < 0 ? Wide(-size) : size;
}

Wide true_cosine(std::int64_t p, std::int64_t q) {
  return mp::cos(2 * boost::math::constants::pi<Wide>() * Wide(p) / Wide(q));
}

}  // namespace

TEST_CASE("cosines of turns are rounded to odd, all of those with denominators up to 90") {
  for (std::int64_t q = 1; q <= 90; ++q)
    for (std::int64_t p = 0; p < q; ++p) {
      CAPTURE(p);
      CAPTURE(q);
      const long double given = cosine_of_turn(p, q);
      const bool is_rational = 12 * p % q == 0 && (4 * p % q == 0 || 6 * p % q == 0);
      if (is_rational) {
        CHECK(2 * given == std::round(2 * static_cast<double>(given)));
        CHECK(mp::abs(Wide(given) - true_cosine(p, q)) < 1e-90);
      } else {
        CHECK(Wide(given) == to_odd(true_cosine(p, q)));
      }
    }
}

TEST_CASE("cosines of turns by the least angle that there is, beside every eighth of a turn") {
  for (const std::int64_t q : {std::int64_t{1} << 58, (std::int64_t{1} << 58) - 3, (std::int64_t{1} << 56) - 5})
    for (int eighth = 0; eighth < 8; ++eighth)
      for (std::int64_t by = -2; by <= 2; ++by) {
        const std::int64_t p = (q / 8 * eighth + by + q) % q;
        if (4 * p % q == 0) continue;
        CAPTURE(p);
        CAPTURE(q);
        CHECK(Wide(cosine_of_turn(p, q)) == to_odd(true_cosine(p, q)));
      }
}

TEST_CASE(
    "a weight in double is the nearest to the exact cosine or sine, also where long double's nearest leads astray") {
  int astray = 0;
  for (std::int64_t q = 5; q <= 400; ++q)
    for (std::int64_t p = 1; 4 * p < q; ++p) {
      const Wide exact = true_cosine(p, q);
      const double given = static_cast<double>(Turn{p, q}.cosine());
      CAPTURE(p);
      CAPTURE(q);
      if (given != exact.convert_to<double>()) CHECK(given == exact.convert_to<double>());
      astray += static_cast<double>(exact.convert_to<long double>()) != given;
    }
  CHECK(astray > 0);  // rounding twice, to nearest both times, is another function
  CHECK(Turn{(std::int64_t{1} << 56) - 1, std::int64_t{1} << 56}.sine() < 0);
  CHECK(static_cast<double>(Turn{1, std::int64_t{1} << 56}.sine()) == 2 * M_PI * 0x1p-56);
}
