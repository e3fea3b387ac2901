// Claims for any order are held against networks that are right in some orders and formats only.
#include "krohn/simulate/prove/any_order.h"

#include <doctest/doctest.h>

#include "krohn/simulate/prove/verify.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

Certificate ask(const Network& network, ArithmeticName arithmetic, bool any_order, Order order = {}) {
  Question question;
  question.subject = &network;
  question.how.arithmetic = arithmetic;
  question.how.any_order = any_order;
  question.how.order = order;
  question.how.max_pairs = 10'000;
  return verify(question).certificate;
}

Eigen::MatrixXd number(double value) { return Eigen::MatrixXd::Constant(1, 1, value); }

/// ±1, turned over by a weight that is −1 or near it.
Network toggle(double weight) {
  return one_layer(automaton(1, {1, 0}), number(1), {DiagonalMatrix{{weight}}}, {number(1), number(-1)});
}

/// Both letters exchange the two coordinates with a sign, by I − β k kᵀ with k = 2^a (1, 1) and β = 2^−2a: the same map
/// of every size of the key.
Network exchange(int first, int second) {
  const auto by = [](int power) {
    Reflection reflection;
    if (power >= 0) {
      reflection.entries = {{0, 1 << power}, {1, 1 << power}};
    } else {
      reflection.entries = {{0, 1}, {1, 1}};
      reflection.scale_squared_denominator = std::int64_t{1} << -2 * power;
    }
    reflection.beta = std::ldexp(1.0, -2 * power);
    return Matrix{ReflectionProduct{2, {reflection}}};
  };
  const auto point = [](double x, double y) {
    Eigen::MatrixXd codeword(2, 1);
    codeword << x, y;
    return codeword;
  };
  return one_layer(automaton(2, {1, 1, 0, 0}), point(1, 0), {by(first), by(second)}, {point(1, 0), point(0, -1)});
}

}  // namespace

TEST_CASE("weights that only rounding makes exact are not proved in wider formats too") {
  const Network exact = toggle(-1), rounded = toggle(-1 - 0x1p-9);  // −1 in bf16, and not in fp32
  CHECK(ask(exact, Precision::kBf16, true).holds_in_any_order());
  CHECK(ask(rounded, Precision::kBf16, false).is<Proved>());
  CHECK_FALSE(ask(rounded, Precision::kBf16, true).holds_in_any_order());
  CHECK_FALSE(ask(rounded, Precision::kFp32, false).is<Proved>());
  // The first weight past −1 that bf16 has is no −1 in any format.
  CHECK_FALSE(ask(toggle(-1 - 0x1p-7), Precision::kBf16, true).holds_in_any_order());
}

TEST_CASE("reflections whose chunks overflow are not proved in any order") {
  // The larger the one key and the smaller the other, the larger are their products, which only chunks meet.
  const Order chunks = parse_order("chunked:64");
  int right_ones = 0, claimed = 0;
  for (int power = 0; power <= 8; ++power) {
    CAPTURE(power);
    const Network network = exchange(power, -7);
    CHECK(ask(network, Precision::kFp16, false).is<Proved>());
    const auto evaluator = make_evaluator(network, Precision::kFp16, Form::kStructured, chunks);
    State state = 0;
    bool right = true;
    for (std::size_t t = 0; t < 64; ++t) {
      state = 1 - state;
      right = evaluator->step(t % 2) == state && right;
    }
    CHECK_FALSE((right && right_ones < power));  // up to some power, and no longer
    right_ones += right;
    if (!ask(network, Precision::kFp16, true).holds_in_any_order()) continue;
    CHECK(right);
    ++claimed;
  }
  CHECK(right_ones < 8);
  CHECK(claimed <= right_ones);
  for (const int power : {-7, 0, 3}) CHECK(ask(exchange(power, power), Precision::kFp16, true).holds_in_any_order());
}

TEST_CASE("a network that is not its own automaton is held against a language in no order but one") {
  Network network = toggle(-1);
  const Dfa right = network.automaton;
  network.automaton = automaton(1, {0, 1});
  Question question;
  question.subject = &network;
  question.how.any_order = true;
  question.against = Language{"turning", right};
  CHECK_THROWS_AS(verify(question), LimitError);
  question.how.any_order = false;
  CHECK(verify(question).certificate.is<Proved>());
}
