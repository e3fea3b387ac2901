// Claims for any order: every inequality with a network at its bound, which is proved, and one a unit past it, which is
// not; and brute force over orders and groupings of sums where a claim is made.
#include "krohn/simulate/prove/any_order.h"

#include <doctest/doctest.h>

#include <random>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

CertifyOptions in(Precision precision, Form form = Form::kStructured) {
  CertifyOptions options;
  options.arithmetic = precision;
  options.form = form;
  return options;
}

bool is_proved(const Network& network, const CertifyOptions& options) {
  const auto found = certify_any_order(network, options);
  return std::holds_alternative<Certificate>(found) && std::get<Certificate>(found).is<Proved>();
}

/// Why not, and that letter after letter nothing is wrong with it.
std::string reason(const Network& network, const CertifyOptions& options) {
  CHECK(certify(network, options).is<Proved>());
  const auto found = certify_any_order(network, options);
  REQUIRE(std::holds_alternative<std::string>(found));
  return std::get<std::string>(found);
}

Eigen::MatrixXd vector(std::vector<double> entries) {
  return Eigen::Map<Eigen::MatrixXd>(entries.data(), static_cast<Eigen::Index>(entries.size()), 1);
}

/// One letter takes each codeword to the next one and the last one to itself.
Network chain(Matrix action, std::vector<Eigen::MatrixXd> codewords, std::vector<double> b = {}) {
  std::vector<State> table;
  for (State q = 0; q < codewords.size(); ++q)
    table.push_back(std::min<State>(q + 1, static_cast<State>(codewords.size()) - 1));
  const Eigen::MatrixXd first = codewords[0];
  Network network = one_layer(automaton(1, table), first, {std::move(action)}, std::move(codewords));
  if (!b.empty()) network.layers[0].transitions[0].b = vector(std::move(b));
  return network;
}

/// (a, b) ↦ (a + b, 0) ↦ (a + b, 0).
Network gather(double a, double b) {
  return chain(MapMatrix{Transformation::from_images({0, 0})}, {vector({a, b}), vector({a + b, 0})});
}

/// Σ of x counted twice, by two terms: x ↦ (0, 0, 0, 2 Σ x) ↦ 0.
Network counted_twice(double x0, double x1, double x2) {
  const FactoredMatrix twice{4, {{3}, {3}}, {{0, 1, 2}, {0, 1, 2}}, {0, 1}};
  return chain(twice, {vector({x0, x1, x2, 0}), vector({0, 0, 0, 2 * (x0 + x1 + x2)}), vector({0, 0, 0, 0})});
}

Network swapped(double a) {  // by a reflection with the integer key (1, −1)
  return one_layer(automaton(1, {1, 0}), vector({a, 0}), {swap_matrix(2, 0, 1, Swap::kUnnormalised)},
                   {vector({a, 0}), vector({0, a})});
}

}  // namespace

TEST_CASE("sums of moved numbers: 2^p grains, and one more") {
  CHECK(is_proved(gather(200, -56), in(Precision::kBf16)));
  CHECK(reason(gather(200, -57), in(Precision::kBf16)) == "layer 0: a sum of moved numbers may round");
  CHECK(is_proved(gather(200, -57), in(Precision::kFp16)));
  CHECK(is_proved(gather(2000, -48), in(Precision::kFp16)));
  CHECK_FALSE(is_proved(gather(2000, -49), in(Precision::kFp16)));
  CHECK(is_proved(gather(0x1p24 - 1, -1), in(Precision::kFp32)));
  CHECK_FALSE(is_proved(gather(0x1p24 - 1, -2), in(Precision::kFp32)));
  CHECK(is_proved(gather(0x1p53 - 1, -1), in(Precision::kFp64)));
  CHECK_FALSE(is_proved(gather(0x1p53 - 1, -2), in(Precision::kFp64)));
}

TEST_CASE("products of maps: k² = 2^p, and (k + 1)²") {
  const auto shear = [](double k) {
    Eigen::MatrixXd a(2, 2);
    a << 1, k, 0, 0;
    return chain(DenseMatrix{a}, {vector({0, 1}), vector({k, 0})});
  };
  CHECK(is_proved(shear(16), in(Precision::kBf16)));
  CHECK(reason(shear(17), in(Precision::kBf16)) == "layer 0: a product of maps may round");
  CHECK(is_proved(shear(45), in(Precision::kFp16)));  // 45² = 2025
  CHECK_FALSE(is_proved(shear(46), in(Precision::kFp16)));
}

TEST_CASE("the least grain of products is the format's least number") {
  const auto halving = [](double k) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 2);
    a(0, 1) = k;
    return chain(DenseMatrix{a}, {vector({1, 0}), vector({0, 0})});
  };
  CHECK(is_proved(halving(0x1p-12), in(Precision::kFp16)));
  CHECK(reason(halving(0x1p-13), in(Precision::kFp16)) == "layer 0: a product of maps may underflow");
  CHECK(is_proved(halving(0x1p-66), in(Precision::kBf16)));
  CHECK_FALSE(is_proved(halving(0x1p-67), in(Precision::kBf16)));
}

TEST_CASE("terms are added one by one: two 1s are not one 2") {
  CHECK(is_proved(counted_twice(50, 46, -32), in(Precision::kBf16)));
  // 101 + 101 + 91 = 293 is no number of bf16, though all entries of A are 2 and 2 (101 + 91 + 64) = 2^8 · 2.
  CHECK(reason(counted_twice(101, 91, -64), in(Precision::kBf16)) == "layer 0: a map of a state may round");
  CHECK(is_proved(counted_twice(101, 91, -64), in(Precision::kBf16, Form::kDense)));
}

TEST_CASE("additions: what words add to 0 is bounded with the states") {
  const auto counting = [](double from, double b) { return chain(ZeroMatrix{1}, {vector({from}), vector({b})}, {b}); };
  CHECK(is_proved(counting(127, 128), in(Precision::kBf16)));
  CHECK(reason(counting(128, 129), in(Precision::kBf16)) == "layer 0: a sum of moved numbers may round");
}

TEST_CASE("reflections: x − k t with |x| + |k t| = 2^p, and more; dense matrices only move") {
  CHECK(is_proved(swapped(128), in(Precision::kBf16)));
  CHECK(is_proved(swapped(127), in(Precision::kBf16)));
  CHECK(reason(swapped(129), in(Precision::kBf16)) == "layer 0: a reflected number may round");
  CHECK(is_proved(swapped(129), in(Precision::kBf16, Form::kDense)));
}

TEST_CASE("what rounds, snaps or has several formats is refused") {
  CHECK_FALSE(is_proved(rotation(3, {1}), in(Precision::kFp32)));
  CHECK_FALSE(is_proved(symmetric(3, 2, Swap::kUnit), in(Precision::kBf16)));
  Network snapping = one_hot(counter(3, {1}));
  snapping.snap_every = 2;
  CHECK_FALSE(is_proved(snapping, in(Precision::kBf16)));
  CertifyOptions mixed;
  mixed.arithmetic = ArithmeticName::fused(Precision::kBf16);
  CHECK_THROWS_AS(certify_any_order(one_hot(counter(3, {1})), mixed), InputError);
}

TEST_CASE("what is claimed holds in every order, grouping and wider format that there is an evaluator for") {
  std::mt19937_64 random(7);
  int claims = 0;
  for (int i = 0; i < 60; ++i) {
    const Network network = i % 3 == 0   ? one_hot(random_automaton(random, static_cast<State>(1 + random() % 6), 2))
                            : i % 3 == 1 ? symmetric(3 + i % 2, 2, Swap::kUnnormalised)
                                         : flip_flop_toggle();
    for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kFp32, Precision::kFp64}) {
      if (!is_proved(network, in(precision))) continue;
      ++claims;
      Word word(200);
      for (Letter& letter : word) letter = static_cast<Letter>(random() % network.automaton.letters());
      for (const ArithmeticName arithmetic : {ArithmeticName(precision), ArithmeticName::fused(precision)})
        for (const char* order : {"sequential", "scan", "doubling", "scan:7", "doubling:13"}) {
          const auto evaluator = make_evaluator(network, arithmetic, Form::kStructured, parse_order(order));
          State state = network.automaton.initial();
          for (const Letter letter : word) {
            state = network.automaton.next(state, letter);
            REQUIRE(evaluator->step(letter) == state);
          }
        }
    }
  }
  CHECK(claims > 100);
}
