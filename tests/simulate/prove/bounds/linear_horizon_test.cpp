// Linear horizons: claimed by one program, established by another in rational arithmetic, and never past a failing
// word.

#include "krohn/simulate/prove/bounds/linear_horizon.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/build_permutation.h"
#include "krohn/constructions/build/build_rotation.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"

using namespace krohn;

namespace {

Network rotation_by_all(int m) {
  LanguageOptions letters;
  letters.generators = "all";
  return build_rotation(named_language("Z" + std::to_string(m), letters));
}

Certificate claimed(const LinearHorizon& horizon, ArithmeticName arithmetic) {
  Certificate certificate;
  certificate.claim = ProvedUpTo{horizon.length};
  certificate.arithmetic = arithmetic;
  certificate.method = "linear horizon";
  certificate.proof = horizon;
  return certificate;
}

}  // namespace

TEST_CASE("horizons of rotations lie below the shortest failing word, and are established") {
  struct Fact {
    ArithmeticName arithmetic;
    int m;
    std::uint64_t least, failing;  ///< 0: not known
  };
  for (const Fact& fact : {Fact{Precision::kBf16, 5, 20, 249},
                           {Precision::kBf16, 10, 10, 128},
                           {Precision::kBf16, 60, 2, 19},
                           {Precision::kFp16, 60, 20, 141},
                           {ArithmeticName::fused(Precision::kBf16), 5, 20, 0},
                           {Precision::kFp32, 60, 200'000, 0},
                           {Precision::kFp64, 7, 1'000'000'000'000, 0}}) {
    CAPTURE(to_string(fact.arithmetic));
    CAPTURE(fact.m);
    const Network network = rotation_by_all(fact.m);
    const auto horizon = linear_horizon(network, fact.arithmetic, Form::kStructured);
    REQUIRE(horizon.has_value());
    CHECK(horizon->length >= fact.least);
    if (fact.failing > 0) CHECK(horizon->length < fact.failing);
    CertifyOptions options;
    options.arithmetic = fact.arithmetic;
    options.long_letters = 0;  // the length of the search is asked for
    options.max_pairs = 1000;
    CHECK(horizon->length <= std::max<std::uint64_t>(certify(network, options).length(), fact.failing));
    Certificate certificate = claimed(*horizon, fact.arithmetic);
    CHECK(recheck(certificate, network).established);
    const std::string text = format_certificate(certificate, network);
    CHECK(parse_certificate(text, "text", network).proof == certificate.proof);

    // Forged: a greater length, a length that the proof does not have, another arithmetic, a wrong table.
    LinearHorizon greater = *horizon;
    // Bounds of double's own rounding, computed in double, leave a margin that rational arithmetic does not need.
    greater.length = fact.arithmetic == ArithmeticName(Precision::kFp64) ? 10 * greater.length
                                                                         : greater.length + greater.length / 50 + 2;
    CHECK_FALSE(recheck(claimed(greater, fact.arithmetic), network).established);
    certificate.claim = ProvedUpTo{certificate.length() + 1};
    CHECK_FALSE(recheck(certificate, network).established);
    CHECK_FALSE(recheck(claimed(*horizon, ArithmeticName::accumulated_in_fp32(Precision::kBf16)), network).established);
    for (std::size_t move = 0; move < horizon->table.moves.size(); ++move) {
      LinearHorizon swapped = *horizon;
      std::swap(swapped.table.next[move][0], swapped.table.next[move][1]);
      CHECK_FALSE(recheck(claimed(swapped, fact.arithmetic), network).established);
    }
    LinearHorizon twice = *horizon;
    twice.table.moves.push_back(twice.table.moves[0]);
    twice.table.next.push_back(twice.table.next[0]);
    CHECK_FALSE(recheck(claimed(twice, fact.arithmetic), network).established);
    LinearHorizon other_start = *horizon;
    std::swap(other_start.table.codewords[0], other_start.table.codewords[1]);
    CHECK_FALSE(recheck(claimed(other_start, fact.arithmetic), network).established);
  }
}

TEST_CASE("a lower precision's horizon is not established by a higher one's certificate") {
  const Network network = rotation_by_all(60);
  const auto horizon = linear_horizon(network, Precision::kFp32, Form::kStructured);
  REQUIRE(horizon.has_value());
  CHECK_FALSE(recheck(claimed(*horizon, Precision::kFp16), network).established);
  CHECK_FALSE(recheck(claimed(*horizon, Precision::kBf16), network).established);
  CHECK(recheck(claimed(*horizon, Precision::kFp64), network).established);
}

TEST_CASE("wrong weights shorten the horizon to what exhaustive search allows") {
  // One letter's angle is off by a fiftieth of a turn's step; the other letters are right.
  Network network = rotation_by_all(5);
  for (const double off : {0.01, 0.05, 0.2}) {
    CAPTURE(off);
    Eigen::MatrixXd a(2, 2);
    const double angle = 2 * 3.14159265358979323846 * (1 + off) / 5;
    a << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    network.layers[0].transitions[1].a = DenseMatrix{a};
    CertifyOptions options;
    options.arithmetic = Precision::kFp32;
    const Certificate searched = certify_reachable_set(network, options);
    REQUIRE(searched.is<Refuted>());
    const auto horizon = linear_horizon(network, Precision::kFp32, Form::kStructured);
    if (!horizon) continue;
    CHECK(horizon->length < searched.failing_word()->size());
    CHECK(recheck(claimed(*horizon, Precision::kFp32), network).established);
  }
}

TEST_CASE("reflections by normalised keys, the paper's, hold up to a horizon below their shortest failing word") {
  struct Fact {
    const char* language;
    ArithmeticName arithmetic;
    std::uint64_t least;
  };
  LanguageOptions swaps;
  swaps.generators = "transpositions";
  for (const Fact& fact : {Fact{"S3", Precision::kBf16, 2},
                           {"S3", Precision::kFp16, 20},
                           {"S5", Precision::kFp32, 100'000},
                           {"S4", ArithmeticName::fused(Precision::kFp32), 100'000},
                           {"S4", Precision::kFp64, 10'000'000'000'000}}) {
    CAPTURE(fact.language);
    CAPTURE(to_string(fact.arithmetic));
    const Network network = build_permutation_base(named_language(fact.language, swaps), {.keys = KeyStyle::kUnit});
    const auto horizon = linear_horizon(network, fact.arithmetic, Form::kStructured);
    REQUIRE(horizon.has_value());
    CHECK(horizon->length >= fact.least);
    CertifyOptions options;
    options.arithmetic = fact.arithmetic;
    options.max_pairs = 3000;
    const Certificate searched = certify_reachable_set(network, options);
    CHECK((!searched.is<Refuted>() || horizon->length < searched.failing_word()->size()));
    const Certificate certificate = claimed(*horizon, fact.arithmetic);
    CHECK(recheck(certificate, network).established);
    CHECK(parse_certificate(format_certificate(certificate, network), "text", network).proof == certificate.proof);

    LinearHorizon greater = *horizon;
    greater.length *= 10;
    CHECK_FALSE(recheck(claimed(greater, fact.arithmetic), network).established);
    for (std::size_t move = 0; move < horizon->table.moves.size(); ++move) {
      LinearHorizon swapped = *horizon;
      std::swap(swapped.table.next[move][0], swapped.table.next[move][1]);
      CHECK_FALSE(recheck(claimed(swapped, fact.arithmetic), network).established);
    }
    Network weaker = network;  // which half-projects where it should reflect
    for (Transition& transition : weaker.layers[0].transitions)
      if (auto* product = std::get_if<ReflectionProduct>(&transition.a))
        for (Reflection& factor : product->factors) factor.beta /= 2;
    CHECK_FALSE(recheck(claimed(*horizon, fact.arithmetic), weaker).established);
  }
}

TEST_CASE("what is neither a sum of products nor reflections, or rounds to several formats, has no linear horizon") {
  CHECK_FALSE(linear_horizon(rotation_by_all(5), ArithmeticName::tf32(), Form::kStructured).has_value());
  CHECK(linear_horizon(rotation_by_all(5), Precision::kFp32, Form::kDense).has_value());
}
