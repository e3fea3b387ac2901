#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/orders/ordered_search.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

CertifyOptions in(ArithmeticName arithmetic, const char* order, std::uint64_t max_pairs = 200'000) {
  return in(arithmetic, max_pairs, parse_order(order));
}

/// Refuted, on a word on which the network is wrong in the order, and right on all its beginnings.
void check_refuted(const Network& network, const Certificate& certificate) {
  REQUIRE(certificate.is<Refuted>());
  const auto evaluator = make_evaluator(network, certificate.arithmetic, Form::kStructured, certificate.order);
  check_fails_on(*evaluator, network.automaton, *certificate.failing_word());
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
                "proved for words of every length, in every association of the letters' stored matrices");
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
  check_refuted(network, certificate);
  CHECK(certificate.is_shortest());
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
          "proved for words of every length, in every association of the letters' stored matrices");
    CHECK(test::contains(scan.evidence, "once the letters' matrices are stored nothing rounds"));
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
        const Network network = turning_too_far(m, excess);
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
  check_refuted(contracting, refuted);
  CHECK(refuted.failing_word()->size() == right_up_to(contracting, Precision::kBf16, parse_order("chunked:3"), 12) + 1);
}

TEST_CASE("what the search does not take is said") {
  const Certificate certificate = certify(two_reflections(5), in(Precision::kBf16, "scan"));
  CHECK(certificate.is<Sampled>());
  CHECK(test::contains(certificate.limit, "one layer"));
  CHECK_THROWS_AS(certify_order(rotation(3, {1}), in(Precision::kFp32, "sequential")), InputError);
  Network snapping = rotation(3, {1});
  snapping.snap_every = 4;
  CHECK_THROWS_AS(certify(snapping, in(Precision::kFp32, "scan")), InputError);
  Network wrong = rotation(3, {1});
  wrong.readout.next[0] = {1, 2, 0};
  CHECK(*certify(wrong, in(Precision::kBf16, "scan")).failing_word() == Word{});
}

// The inequalities of the proofs that nothing rounds (MATH.md §5, "Orders"), each with networks one unit within it,
// which are proved, and past it, which are not; and every verdict of every family against the trial of all words by the
// reference. With g the grain of all numbers, p the format's digits, e its least and E its greatest exponent:
//
//   moves      Σ|h| over a column of a state or of what a word adds to 0 ≤ 2^p g           `column sums`
//              with additions, every result < 2^p g: at 2^p g a sum may have been rounded  `results`
//   any        g ≥ 2^max(e, −160);  |number| < 2^E                                         `grains`, `greatest`
//   products   min(row sum · most, most · column sum) of two matrices ≤ 2^p g              `products`
//              the same of a matrix and a state or an addition, + the addition, ≤ 2^p g    `products with additions`
//   UT         β Σ|v| · |x| and 2 |x| ≤ 2^p g; in the proof's own fp64, 3 |x| ≤ 2^53        `reflections`
//   the sums themselves are rounded upward: in fp64, 2^53 − 2 + 1 + 1 and 2^53 + 1 + 1     `column sums`
//   closed maps: what words reach is decoded, H_0 among it                                 `back at H_0`

namespace {

Eigen::MatrixXd column(std::vector<double> numbers) {
  return Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

Eigen::MatrixXd row(double first, double second) {
  Eigen::MatrixXd numbers(1, 2);
  numbers << first, second;
  return numbers;
}

/// Row by row.
Matrix dense(std::vector<double> rows) {
  const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(rows.size()))));
  return DenseMatrix{Eigen::Map<Eigen::MatrixXd>(rows.data(), n, n).transpose()};
}

/// Column j goes to ± row images[j] − 1, as the sign says; 0 is not there. Where two go to one row, only +.
Matrix moves(std::vector<int> images) {
  std::vector<Point> to;
  std::vector<std::int8_t> sign;
  for (const int image : images) {
    to.push_back(static_cast<Point>(std::abs(image) - 1));
    sign.push_back(image < 0 ? -1 : 1);
  }
  if (std::count(sign.begin(), sign.end(), 1) == static_cast<std::ptrdiff_t>(sign.size()))
    return MapMatrix{Transformation::from_images(to)};
  return SignedPermutationMatrix{Permutation::from_images(to), sign};
}

constexpr std::size_t kMaxStates = 40;

/// The hardest network to refute letter by letter: whatever numbers the arithmetic reaches are codewords, and its
/// automaton does what the arithmetic does. Nothing when it reaches more than a few states.
std::optional<Network> as_computed(const Eigen::MatrixXd& initial, const std::vector<Transition>& letters,
                                   ArithmeticName arithmetic) {
  std::vector<Matrix> actions;
  for (const Transition& letter : letters) actions.push_back(letter.a);
  const auto count = static_cast<Letter>(letters.size());
  const auto with = [&](std::vector<State> table, std::vector<Eigen::MatrixXd> codewords) {
    Network network = one_layer(automaton(count, std::move(table)), initial, actions, std::move(codewords));
    for (Letter letter = 0; letter < count; ++letter) network.layers[0].transitions[letter].b = letters[letter].b;
    return network;
  };
  const Network probe = with(std::vector<State>(count, 0), {initial});
  const auto evaluator = reference_evaluator(probe, arithmetic);
  std::vector<Eigen::MatrixXd> codewords{initial};
  std::vector<Word> words{{}};
  std::vector<State> table;
  for (std::size_t q = 0; q < words.size(); ++q)
    for (Letter letter = 0; letter < count; ++letter) {
      evaluator->reset();
      Word word = words[q];
      word.push_back(letter);
      for (const Letter read : word) evaluator->step(read);
      const std::vector<double> numbers = evaluator->numbers();
      Eigen::MatrixXd reached = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), initial.rows(), initial.cols());
      reached.array() += 0.0;  // −0 is 0
      if (!reached.allFinite() || codewords.size() > kMaxStates) return std::nullopt;
      const auto found = std::find(codewords.begin(), codewords.end(), reached);
      table.push_back(static_cast<State>(found - codewords.begin()));
      if (found != codewords.end()) continue;
      codewords.push_back(reached);
      words.push_back(word);
    }
  return with(std::move(table), std::move(codewords));
}

/// True if the network is proved to round nothing, in every one of the orders; no verdict of any may be wrong.
bool rounds_nothing(const Network& network, ArithmeticName arithmetic,
                    const std::vector<const char*>& orders = {"scan", "doubling", "chunked:2", "chunked:5"}) {
  constexpr std::size_t kMax = 7;
  std::size_t proofs = 0;
  for (const char* name : orders) {
    CAPTURE(std::string(name));
    const CertifyOptions options = in(arithmetic, 20'000, parse_order(name));
    const Certificate certificate = certify(network, options);
    const std::size_t right = right_up_to(network, arithmetic, options.order, kMax);
    if (certificate.is<Proved>()) CHECK(right == kMax);
    if (certificate.is<ProvedUpTo>()) CHECK(right >= std::min<std::uint64_t>(certificate.length(), kMax));
    if (certificate.is<Refuted>()) {
      CHECK((right == kMax || certificate.failing_word()->size() == right + 1));
      CHECK((right < kMax || certificate.failing_word()->size() > kMax));
    }
    proofs += certificate.is<Proved>() && certificate.method == "exact in every association";
  }
  CHECK((proofs == 0 || proofs == orders.size()));
  return proofs == orders.size();
}

/// A family that is proved up to `last` and not from `first` on, in one arithmetic.
template <class Family>
void check_edge(ArithmeticName arithmetic, double last, double first, Family&& family) {
  CAPTURE(to_string(arithmetic));
  for (const double parameter : {last, first}) {
    CAPTURE(parameter);
    const std::optional<Network> network = family(parameter, arithmetic);
    REQUIRE(network.has_value());
    CHECK(rounds_nothing(*network, arithmetic) == (parameter == last));
  }
}

struct Format {
  ArithmeticName arithmetic;
  double limit;  ///< 2^p
  double unit;   ///< between numbers just above it
};

std::vector<Format> formats() {
  std::vector<Format> all;
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    const Precision storage = arithmetic.storage();
    const int digits = storage == Precision::kFp64   ? 53
                       : storage == Precision::kFp32 ? 24
                       : storage == Precision::kFp16 ? 11
                                                     : 8;
    all.push_back({arithmetic, std::ldexp(1, digits), 2});
  }
  return all;
}

}  // namespace

TEST_CASE("column sums: moves are proved while the sum of a column's numbers is a number of the format") {
  for (const auto& [arithmetic, limit, unit] : formats()) {
    // Both rows come to the first; or their difference does, which is small while the sum of absolute values is not.
    const auto sum = [&](double first, ArithmeticName a) {
      return as_computed(column({first, 1}), {{moves({1, 1}), {}}, {moves({2, 1}), {}}}, a);
    };
    check_edge(arithmetic, limit - 1, limit, sum);
    const auto difference = [&](double second, ArithmeticName a) {
      return as_computed(column({limit / 2 + 1, second}), {{dense({1, -1, 0, 0}), {}}}, a);
    };
    // (In tf32 a dense matrix cuts what it multiplies, letter by letter.)
    if (arithmetic != ArithmeticName::tf32()) check_edge(arithmetic, limit / 2 - 1, limit / 2, difference);
  }
  // One column that 2^53 + 1 + 1 = 2^53 would let pass.
  const auto spread = [&](double first, ArithmeticName a) {
    return as_computed(column({first, 1, 1}),
                       {{dense({1, 0, 0, 0, 1, -1, 0, 0, 0}), {}}, {dense({1, 1, 1, 0, 0, 0, 0, 0, 0}), {}}}, a);
  };
  check_edge(Precision::kFp64, 0x1p53 - 2, 0x1p53, spread);
}

TEST_CASE("results: with additions, below the last exact integer and not at it") {
  for (const auto& [arithmetic, limit, unit] : formats()) {
    // The 1 in a column of its own keeps the grain at 1 and out of the sums.
    const auto mirror = [&](double b, ArithmeticName a) {
      return as_computed(row(0, 1), {{moves({-1}), row(b, 2)}, {moves({1}), row(0, 0)}}, a);
    };
    check_edge(arithmetic, limit - 1, limit, mirror);
    check_edge(arithmetic, limit - 1, limit + unit, mirror);
    // A counter that saturates: letter by letter H + 1 = H, but two ones are a two.
    const auto saturated = as_computed(column({limit}), {{moves({1}), column({1})}}, arithmetic);
    REQUIRE(saturated.has_value());
    CHECK(saturated->automaton.states() == 1);
    CHECK_FALSE(rounds_nothing(*saturated, arithmetic, {"scan"}));
    // (x, y) ↦ (−y + a, x + b) has order 4: (0, 0), (a, b), (a − b, a + b), (−b, a). Column sums go up to 2a.
    for (const double x : {limit / 2 - 2, limit / 2, limit - 2, limit - 1, limit})
      for (const double y : {1.0, 3.0}) {
        CAPTURE(x);
        CAPTURE(y);
        const auto turned = as_computed(column({0, 0}), {{moves({2, -1}), column({x, y})}}, arithmetic);
        if (turned) CHECK(rounds_nothing(*turned, arithmetic) == (2 * x <= limit && x + y < limit));
      }
  }
}

TEST_CASE("grains and greatest numbers: normal numbers with room for products, in every format") {
  struct Fact {
    ArithmeticName arithmetic;
    int least, greatest;
  };
  for (const Fact& fact : {Fact{Precision::kFp16, -14, 15},
                           {Precision::kBf16, -126, 127},
                           {Precision::kFp32, -126, 127},
                           {Precision::kFp64, -160, 1023},
                           {ArithmeticName::tf32(), -126, 127},
                           {ArithmeticName::accumulated_in_fp32(Precision::kFp16), -14, 15},
                           {ArithmeticName::accumulated_in_fp32(Precision::kBf16), -126, 127}}) {
    const auto scaled = [&](double exponent, ArithmeticName a) {
      const double size = std::ldexp(1, static_cast<int>(exponent));
      return as_computed(column({size, 0}), {{moves({2, 1}), {}}}, a);
    };
    check_edge(fact.arithmetic, fact.least, fact.least - 1, scaled);
    if (fact.greatest < 500)  // beyond, the decoder's squares overflow
      check_edge(fact.arithmetic, fact.greatest - 1, fact.greatest, scaled);
  }
}

TEST_CASE("products: the bound on the product of two matrices, and of a matrix and a vector") {
  struct Fact {
    ArithmeticName arithmetic;
    double k;  ///< the greatest with k² ≤ 2^p
  };
  for (const auto& [arithmetic, k] : {Fact{Precision::kBf16, 16},
                                      {Precision::kFp16, 45},
                                      {Precision::kFp32, 4096},
                                      {Precision::kFp64, 94'906'265},
                                      {ArithmeticName::tf32(), 45},
                                      {ArithmeticName::fused(Precision::kBf16), 16},
                                      {ArithmeticName::accumulated_in_fp32(Precision::kBf16), 16},
                                      {ArithmeticName::accumulated_in_fp32(Precision::kFp16), 45}}) {
    const auto idempotent = [&](double entry, ArithmeticName a) {
      return as_computed(column({0, 1}), {{dense({1, entry, 0, 0}), {}}}, a);
    };
    check_edge(arithmetic, k, k + 1, idempotent);
  }
  // With B = (0, 1) and A B = (k, 0): k² + k.
  for (const auto& [arithmetic, k] :
       {Fact{Precision::kBf16, 15}, {Precision::kFp16, 44}, {Precision::kFp32, 4095}, {Precision::kFp64, 94'906'265}}) {
    const auto reset = [&](double entry, ArithmeticName a) {
      return as_computed(column({0, 1}), {{dense({1, entry, 0, 0}), {}}, {dense({0, 0, 0, 0}), column({0, 1})}}, a);
    };
    CAPTURE(k * k + k);
    check_edge(arithmetic, k, k + 1, reset);
  }
}

TEST_CASE("reflections: the sums of the UT transform, in every format") {
  for (const auto& [arithmetic, limit, unit] : formats()) {
    // Three times m bounds H − k t, which the proof itself computes in fp64; twice m the sums of the transform.
    const double most = arithmetic == ArithmeticName::tf32() ? 0x1p10
                        : limit == 0x1p53                    ? std::floor(limit / 3)
                                                             : limit / 2;
    const auto swapped = [&](double m, ArithmeticName a) {
      Reflection swap{.entries = {{0, 1}, {1, -1}}, .beta = 1};
      return as_computed(column({1, m}), {{ReflectionProduct{2, {swap}}, {}}}, a);
    };
    CAPTURE(to_string(arithmetic));
    for (const double m : {most, most + 1}) {
      const std::optional<Network> network = swapped(m, arithmetic);
      REQUIRE(network.has_value());
      CHECK(rounds_nothing(*network, arithmetic, {"chunked:1", "chunked:3", "chunked:64"}) == (m == most));
    }
  }
  // Keys c(e_0 − e_1) with β = 1/c²: β is the number with the least grain, or the greatest.
  for (const auto& [shift, fits] : {std::pair{7, true}, {8, false}, {-7, true}, {-8, false}}) {
    CAPTURE(shift);
    Reflection swap{.entries = {{0, 1}, {1, -1}}};
    (shift < 0 ? swap.scale_squared_denominator : swap.scale_squared_numerator) = std::int64_t{1}
                                                                                  << 2 * std::abs(shift);
    swap.beta = std::ldexp(1, -2 * shift);
    const auto network = as_computed(column({1, 0}), {{ReflectionProduct{2, {swap}}, {}}}, Precision::kFp16);
    if (network)
      CHECK(rounds_nothing(*network, Precision::kFp16, {"chunked:1", "chunked:3"}) == fits);
    else
      CHECK_FALSE(fits);
  }
}

TEST_CASE("back at H_0: a word that leads back to the numbers of H_0 is decoded, for their label was only given") {
  // 1.001 is nearest to the codeword of state 0, and is 1 in bf16, which is nearest to that of state 1.
  for (const double start : {1.001, 1.0}) {
    Network network = one_layer(automaton(1, {0, 0}), column({start}), {dense({1})}, {});
    network.layers[0].decoder.codewords = {column({start == 1.0 ? 1.0 : 1.0015}), column({0.9999})};
    if (start == 1.0) network.layers[0].decoder.codewords[1] = column({3});
    for (const char* order : {"sequential", "scan", "doubling", "chunked:3", "scan:2"}) {
      CAPTURE(start);
      CAPTURE(std::string(order));
      const Certificate certificate = certify(network, in(Precision::kBf16, 20'000'000, parse_order(order)));
      if (start == 1.0) {
        CHECK(certificate.is<Proved>());
      } else {
        REQUIRE(certificate.is<Refuted>());
        CHECK(*certificate.failing_word() == Word{0});
      }
    }
  }
}
