// The checker's cosines beside those of the networks: two ways through the integers that share no line.

#include "krohn/simulate/check/recheck_cosine.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "krohn/constructions/network/matrix.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/check/recheck_arithmetic.h"

using namespace krohn;

TEST_CASE("weights of rotations are the checker's in every format") {
  for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16})
    with_format(precision, [&](auto format) {
      using Format = decltype(format);
      const DeterministicArithmetic in(to_string(precision));
      const auto agree = [&](const Turn& turn) {
        CAPTURE(turn.numerator);
        CAPTURE(turn.denominator);
        const double cosine = to_double(round_weight<Format>(turn.cosine()));
        const double sine = to_double(round_weight<Format>(turn.sine()));
        const Turn t = turn.normalised();
        if (in.cosine(t.numerator, t.denominator) != cosine) CHECK(in.cosine(t.numerator, t.denominator) == cosine);
        if (in.sine(t.numerator, t.denominator) != sine) CHECK(in.sine(t.numerator, t.denominator) == sine);
      };
      for (std::int64_t q = 1; q <= 60; ++q)
        for (std::int64_t p = 0; p < q; ++p) agree({p, q});
      // Sines below the least numbers of fp16, some of them near to half of the least; and the least turn.
      for (std::int64_t q = std::int64_t{1} << 12; q <= std::int64_t{1} << 56; q *= 2)
        for (const std::int64_t p : {1, 3, 5, 11}) agree({p, q + 1 <= std::int64_t{1} << 56 ? q + 1 : q});
    });
}

TEST_CASE("an enclosure is made narrower until one number is nearest") {
  // cos(2π/q) = 1 − 2π²/q² is near to 1, and to the number below it, half-way between them at q = 2π 2^27 …; one
  // number on each side of that.
  const double edge = 2 * M_PI * 0x1p26 * std::sqrt(2.0);
  for (const double factor : {0.999999, 1.000001}) {
    const auto q = static_cast<std::int64_t>(edge * factor);
    const double given = nearest_cosine(1, q, 53, -1022);
    CHECK(given == (factor < 1 ? 1 - 0x1p-53 : 1));
  }
  CHECK(nearest_cosine(0, 1, 53, -1022) == 1);
  CHECK(nearest_cosine(1, 2, 53, -1022) == -1);
  CHECK(nearest_cosine(1, 3, 53, -1022) == -0.5);
  CHECK(nearest_cosine(5, 6, 53, -1022) == 0.5);
  CHECK(nearest_cosine(3, 4, 53, -1022) == 0);
  CHECK(nearest_cosine(-7, 6, 53, -1022) == 0.5);
}
