#include <doctest/doctest.h>

#include <random>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/orders/ordered_search.h"
#include "tests/simulate/certify_options.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/reference_evaluator.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

CertifyOptions in(ArithmeticName arithmetic, const char* order, std::uint64_t max_pairs = 200'000) {
  return in(arithmetic, max_pairs, parse_order(order));
}

/// The network is wrong on the word in the order, and right on all its beginnings.
void check_fails_on(const Network& network, const Word& word, ArithmeticName arithmetic, Order order) {
  const auto evaluator = make_evaluator(network, arithmetic, Form::kStructured, order);
  State state = network.automaton.initial();
  for (std::size_t t = 0; t < word.size(); ++t) {
    state = network.automaton.next(state, word[t]);
    REQUIRE((evaluator->step(word[t]) == state) == (t + 1 < word.size()));
  }
}

/// A counter modulo m whose rotation turns a little too far.
Network inexact_rotation(std::uint32_t m, std::int64_t excess_in_thousandths) {
  Network network = rotation(m, {0, 1});
  network.layers[0].transitions[1].a =
      RotationBlocks{{{false, Turn{1000 + excess_in_thousandths, 1000 * static_cast<std::int64_t>(m)}.normalised()}}};
  return network;
}

}  // namespace

TEST_CASE("S_5 by its swaps: what is exact is proved in every association, in every arithmetic") {
  for (const Swap style : {Swap::kMap, Swap::kUnnormalised, Swap::kDoubled})
    for (const ArithmeticName arithmetic : ArithmeticName::all())
      for (const char* order : {"scan", "doubling", "scan:1000", "chunked"}) {
        CAPTURE(to_string(arithmetic));
        CAPTURE(std::string(order));
        const Network network = symmetric(5, 4, style);
        const Certificate certificate = certify(network, in(arithmetic, order));
        CHECK(certificate.is<Proved>());
        CHECK(certificate.method == "exact in every association");
        CHECK(certificate.order == parse_order(order));
        const bool ut = style != Swap::kMap && certificate.order.kind == Order::Kind::kChunked;
        CHECK(certificate.holds_in_every_association() == !ut);
        if (!ut)
          CHECK(claim_in_words(certificate, network.automaton.alphabet()) ==
                "proved for all lengths, in every association of the letters' stored matrices");
      }
}

TEST_CASE("the UT transform of integer keys is proved for every chunk, in dimensions and chunks of any size") {
  for (const std::uint32_t n : {3U, 6U, 24U})
    for (const char* order : {"chunked:1", "chunked:256", "chunked:1048576"}) {
      const Certificate certificate =
          certify(symmetric(n, 1, Swap::kUnnormalised), in(Precision::kBf16, order, 20'000'000));
      CHECK(certificate.is<Proved>());
      CHECK(certificate.method == "exact in every association");
    }
}

TEST_CASE("cascades with resets, and integers that grow, where words add them up") {
  CHECK(certify(flip_flop_toggle(), in(Precision::kBf16, "scan")).holds_in_every_association());
  CHECK(certify(delayed_toggle(), in(Precision::kFp16, "doubling")).holds_in_every_association());
  std::mt19937_64 random(77);
  for (int i = 0; i < 10; ++i)
    CHECK(certify(one_hot(random_automaton(random, static_cast<State>(1 + random() % 12), 3)),
                  in(Precision::kBf16, "scan"))
              .holds_in_every_association());
  // A matrix of determinant 1 and infinite order on a state that it fixes: exact letter by letter, but the matrices of
  // long words overflow, and then 0 · ∞ is not 0.
  Eigen::MatrixXd shear(2, 2);
  shear << 2, 1, 1, 1;
  Network network = one_layer(counter(1, {0}), Eigen::MatrixXd::Zero(2, 1), {Matrix{DenseMatrix{shear}}},
                              {Eigen::MatrixXd::Zero(2, 1)});
  CHECK(certify(network, in(Precision::kFp16, "sequential")).is<Proved>());
  const Certificate certificate = certify(network, in(Precision::kFp16, "scan"));
  REQUIRE(certificate.is<Refuted>());
  CHECK(certificate.is_shortest());
  check_fails_on(network, *certificate.failing_word(), Precision::kFp16, certificate.order);
}

TEST_CASE(
    "rotations drift in scans and chunks, whatever they do letter by letter, and each order has its own verdict") {
  struct Fact {
    ArithmeticName arithmetic;
    std::uint32_t m;
    const char* order;
    std::uint64_t failing;
  };
  // Letter by letter the counters modulo 3 and 12 are proved in bf16 (certify_test).
  for (const auto& [arithmetic, m, order, failing] : {Fact{Precision::kBf16, 3, "scan", 1024},
                                                      {Precision::kBf16, 12, "scan", 256},
                                                      {Precision::kBf16, 60, "scan", 32},
                                                      {Precision::kBf16, 60, "doubling", 31},
                                                      {Precision::kBf16, 10, "chunked:64", 192},
                                                      {Precision::kBf16, 3, "chunked:64", 21'184},
                                                      {Precision::kFp16, 60, "scan", 256}}) {
    CAPTURE(to_string(arithmetic));
    CAPTURE(m);
    CAPTURE(std::string(order));
    const Network network = rotation(m, all_residues(m));
    const Certificate certificate = certify(network, in(arithmetic, order, 400'000));
    REQUIRE(certificate.is<Refuted>());
    CHECK_FALSE(certificate.is_shortest());
    REQUIRE(certificate.failing_word()->size() == failing);
    const auto reading =
        reference_reading(network, arithmetic, Form::kStructured, certificate.order, *certificate.failing_word());
    CHECK(reading.answers.back() != network.automaton.run(*certificate.failing_word()));
  }
  const Certificate exact = certify(rotation(4, {0, 1}), in(Precision::kBf16, "scan"));
  CHECK(exact.holds_in_every_association());
  const Certificate open = certify(rotation(10, all_residues(10)), in(Precision::kFp64, "chunked:4"));
  CHECK(open.is<ProvedUpTo>());
  CHECK(open.length() >= 4);
  CHECK(open.limit == "200000 products of maps and states");
}

TEST_CASE("a matrix that is exact as it is stored says nothing of its factors, which round") {
  Eigen::MatrixXd even(2, 1), odd(2, 1);
  even << 67, 66;
  odd << 66, 67;
  for (const Swap style : {Swap::kUnit, Swap::kMap}) {
    const Network network = one_layer(counter(2, {1}), even, {swap_matrix(2, 0, 1, style)}, {even, odd});
    const Certificate scan = certify(network, in(Precision::kBf16, "scan"));
    CHECK(scan.holds_in_every_association());
    CHECK(claim_in_words(scan, network.automaton.alphabet()) ==
          "proved for all lengths, in every association of the letters' stored matrices");
    CHECK(scan.evidence.find("once the letters' matrices are stored nothing rounds") != std::string::npos);
    for (const char* order : {"sequential", "chunked:64"}) {
      const Certificate by_factors = certify(network, in(Precision::kBf16, order));
      CHECK(by_factors.is<Refuted>() == (style == Swap::kUnit));
    }
  }
}

TEST_CASE("maps that round and still close are proved, in every association") {
  // Entries of ¾ are rounded when they are multiplied again and again, down to 0; the labels never notice.
  Eigen::MatrixXd shrinking(2, 2);
  shrinking << 1, 0, 0, 0.75;
  Network network = one_layer(counter(1, {0}), unit(2, 0), {Matrix{DenseMatrix{shrinking}}}, {unit(2, 0)});
  for (const char* order : {"scan", "doubling", "chunked:8"}) {
    const Certificate certificate = certify(network, in(Precision::kFp16, order));
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed maps");
    CHECK(certificate.holds_in_every_association());
  }
}

TEST_CASE("the search is the trial of all words") {
  for (const char* order : {"scan", "scan:3", "scan:6", "doubling", "doubling:5", "chunked:1", "chunked:4"})
    for (const std::uint32_t m : {3U, 7U, 9U})
      for (const std::int64_t excess : {0, 60, 90, 150}) {
        CAPTURE(std::string(order));
        CAPTURE(m);
        CAPTURE(excess);
        const Network network = inexact_rotation(m, excess);
        const Certificate certificate = certify(network, in(Precision::kBf16, order));
        constexpr std::size_t kMax = 9;
        const std::size_t right = right_up_to(network, Precision::kBf16, parse_order(order), kMax);
        if (certificate.is<Refuted>() && certificate.failing_word()->size() <= kMax) {
          CHECK(certificate.failing_word()->size() == right + 1);
        } else {
          CHECK(right == kMax);
          if (certificate.is<ProvedUpTo>()) CHECK(certificate.length() >= kMax);
        }
      }
}

TEST_CASE("chunks of reflections that round are searched word by word") {
  const Network unit_keys = symmetric(3, 1, Swap::kUnit);
  const Certificate proved = certify(unit_keys, in(Precision::kBf16, "chunked:2"));
  CHECK(proved.is<Proved>());
  CHECK_FALSE(proved.holds_in_every_association());
  const Certificate limited = certify(unit_keys, in(Precision::kBf16, "chunked:64", 20'000));
  CHECK(limited.is<ProvedUpTo>());
  CHECK(limited.length() == 8);  // 3 + 9 + … + 3^8 words and not 3^9 more
  CHECK(limited.limit == "20000 products of maps and states");
  // An eigenvalue of −1/2: the difference of the two coordinates vanishes.
  Network contracting = symmetric(2, 1, Swap::kUnnormalised);
  for (Transition& transition : contracting.layers[0].transitions)
    std::get<ReflectionProduct>(transition.a).factors[0].beta = 0.75;
  const Certificate refuted = certify(contracting, in(Precision::kBf16, "chunked:3"));
  REQUIRE(refuted.is<Refuted>());
  CHECK(refuted.failing_word()->size() == right_up_to(contracting, Precision::kBf16, parse_order("chunked:3"), 12) + 1);
  check_fails_on(contracting, *refuted.failing_word(), Precision::kBf16, parse_order("chunked:3"));
}

TEST_CASE("what the search does not take is said") {
  const Certificate certificate = certify(two_reflections(5), in(Precision::kBf16, "scan"));
  CHECK(certificate.is<Sampled>());
  CHECK(certificate.limit.find("one layer") != std::string::npos);
  CHECK_THROWS_AS(certify_order(rotation(3, {1}), in(Precision::kFp32, "sequential")), InputError);
  Network snapping = rotation(3, {1});
  snapping.snap_every = 4;
  CHECK_THROWS_AS(certify(snapping, in(Precision::kFp32, "scan")), InputError);
  Network wrong = rotation(3, {1});
  wrong.readout.next[0] = {1, 2, 0};
  CHECK(*certify(wrong, in(Precision::kBf16, "scan")).failing_word() == Word{});
}
