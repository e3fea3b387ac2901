#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/evaluate/exact_network.h"
#include "krohn/simulate/evaluate/quantise.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_exact.h"
#include "krohn/simulate/prove/claims/within_time.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

CertifyOptions exactly(std::uint64_t max_pairs = 20'000) {
  CertifyOptions options;
  options.arithmetic = ArithmeticName::exact();
  options.max_pairs = max_pairs;
  return options;
}

struct Named {
  std::string name;
  Network network;
};

std::vector<Named> exact_networks() {
  std::mt19937_64 random(3);
  std::vector<Named> networks;
  networks.push_back({"one-hot", one_hot(random_automaton(random, 7, 3))});
  networks.push_back({"rotation 7", rotation(7, {1, 3})});
  networks.push_back({"rotation 60", rotation(60, {1, 59, 7})});
  networks.push_back({"points of S_5, unit keys", symmetric(5, 1, Swap::kUnit)});
  networks.push_back({"S_4, unit keys", symmetric(4, 3, Swap::kUnit)});
  networks.push_back({"S_4, doubled", symmetric(4, 3, Swap::kDoubled)});
  networks.push_back({"two reflections, modulo 5", two_reflections(5)});
  networks.push_back({"flip-flop", flip_flop_toggle()});
  networks.push_back({"delayed", delayed_toggle()});
  return networks;
}

}  // namespace

TEST_CASE("cyclotomic numbers obey trigonometry, exactly") {
  const CyclotomicField field(60);
  CHECK(field.degree() == 16);
  for (const auto& [order, degree] : {std::pair{1U, 1U}, {4U, 2U}, {28U, 12U}, {36U, 12U}, {128U, 64U}, {420U, 96U}})
    CHECK(CyclotomicField(order).degree() == degree);
  CHECK(field.cosine(Turn{1, 6}) == ExactNumber{Rational(1, 2)});
  CHECK(field.cosine(Turn{1, 4}).empty());
  CHECK(field.sine(Turn{3, 4}) == exact_number(-1));
  const ExactNumber one = exact_number(1), two = exact_number(2);
  ExactNumber sum;
  for (std::int64_t a = 0; a < 60; ++a) {
    const Turn x{a, 60};
    sum = field.add(sum, field.cosine(x));
    CHECK(field.add(field.multiply(field.cosine(x), field.cosine(x)), field.multiply(field.sine(x), field.sine(x))) ==
          one);
    for (const std::int64_t b : {1, 7, 25, 59}) {
      const ExactNumber product = field.multiply(two, field.multiply(field.cosine(x), field.cosine(Turn{b, 60})));
      CHECK(product == field.add(field.cosine(Turn{a + b, 60}), field.cosine(Turn{a - b, 60})));
    }
    const Interval bounds = field.enclosure(field.sine(x));
    CHECK(bounds.contains(static_cast<double>(x.sine())));
    CHECK(bounds.upper() - bounds.lower() < 1e-14);
  }
  CHECK(sum.empty());
  CHECK_THROWS_AS(field.cosine(Turn{1, 7}), InputError);
  CHECK_THROWS_AS(CyclotomicField(1'000'000), LimitError);
}

TEST_CASE("a rational number lies in its interval") {
  CHECK(enclosure(Rational(1, 3)).lower() < enclosure(Rational(1, 3)).upper());
  CHECK(enclosure(Rational(3, 4)) == Interval(0.75));
  const Interval third = enclosure(Rational(-1, 3));
  CHECK(Rational(third.lower()) < Rational(-1, 3));
  CHECK(Rational(third.upper()) > Rational(-1, 3));
}

TEST_CASE("exact evaluation follows the automaton, and the numbers of fp64") {
  for (const auto& [name, network] : exact_networks()) {
    CAPTURE(name);
    const auto exact = make_evaluator(network, ArithmeticName::exact());
    const auto rounded = make_evaluator(network, Precision::kFp64);
    const RandomWord word(network.automaton.letters(), 21);
    State state = network.automaton.initial();
    CHECK(exact->current() == state);
    for (std::uint64_t t = 0; t < 150; ++t) {
      state = network.automaton.next(state, word.at(t));
      REQUIRE(exact->step(word.at(t)) == state);
      rounded->step(word.at(t));
      const auto a = exact->numbers(), b = rounded->numbers();
      for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::fabs(a[i] - b[i]) < 1e-12);
    }
    exact->reset();
    CHECK(exact->current() == network.automaton.initial());
    CHECK(exact->fresh()->numbers() == exact->numbers());
  }
}

TEST_CASE("exact constructions are proved in exact arithmetic, rotations and unit keys too") {
  for (const auto& [name, network] : exact_networks()) {
    CAPTURE(name);
    const Certificate certificate = certify(network, exactly());
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed exact states");
    CHECK(certificate.arithmetic == ArithmeticName::exact());
  }
  CHECK(certify_exact(rotation(60, {1, 59, 7}), exactly()).pairs == 60 * 3);
  CHECK(certify_exact(symmetric(5, 1, Swap::kUnit), exactly()).pairs == 5 * 10);
}

TEST_CASE("what is wrong is refuted by a shortest word") {
  Network late = rotation(12, {1});
  std::swap(late.layers[0].decoder.codewords[8], late.layers[0].decoder.codewords[9]);
  Network tie = rotation(3, {1});
  tie.layers[0].decoder.codewords[1] = tie.layers[0].decoder.codewords[2];
  Network start = one_hot(counter(3, {1}));
  start.readout.next[0] = {1, 2, 0};
  for (const auto& [network, length] : {std::pair{late, 8U}, {tie, 1U}, {start, 0U}}) {
    const Certificate certificate = certify(network, exactly());
    CHECK(certificate.is<Refuted>());
    REQUIRE(certificate.failing_word());
    CHECK(certificate.failing_word()->size() == length);
    CHECK(certificate.is_shortest());
  }
  std::mt19937_64 random(8);
  for (int i = 0; i < 40; ++i) {  // networks with one target changed, against the search in fp64
    Network network = one_hot(random_automaton(random, 6, 2));
    network.layers[0].transitions[0].a = MapMatrix{random_automaton(random, 6, 1).letter_map(0)};
    const Certificate certificate = certify(network, exactly());
    CertifyOptions rounded;
    rounded.arithmetic = Precision::kFp64;
    const Certificate searched = certify_reachable_set(network, rounded);
    CHECK(to_string(certificate.claim) == to_string(searched.claim));
    if (searched.failing_word()) CHECK(certificate.failing_word()->size() == searched.failing_word()->size());
  }
}

TEST_CASE("what has no exact form is said so, and what does not close is not decided") {
  Network dense = rotation(5, {1});
  dense.layers[0].transitions[0].a = DenseMatrix{to_dense(dense.layers[0].transitions[0].a).cast<double>()};
  CHECK_THROWS_WITH_AS(certify(dense, exactly()), doctest::Contains("layer 0, action 0: the weight"), InputError);
  CHECK_THROWS_AS(make_evaluator(dense, ArithmeticName::exact()), InputError);
  const Certificate open = certify(quantise(rotation(5, {1}), Precision::kBf16), exactly(500));
  CHECK(open.is<ProvedUpTo>());
  CHECK(open.length() == 0);
  CHECK_FALSE(open.limit.empty());
  Network fine = rotation(5, {1});
  fine.layers[0].transitions[0].a = RotationBlocks{{{false, Turn{1, 999'983}}}};
  CHECK(certify(fine, exactly()).is<ProvedUpTo>());
}

TEST_CASE("signs are decided however small the number, and zero is zero") {
  // 2 cos ⅛ = √2, and p/q → √2 with p² − 2q² = ±1: the sign of q√2 − p is known, and its size is about 1/(2p).
  const CyclotomicField field(8);
  const ExactNumber root = field.multiply(exact_number(2), field.cosine(Turn{1, 8}));
  boost::multiprecision::cpp_int p = 1, q = 1;
  for (int n = 0; n < 1200; ++n) {  // to 2^−1500 or so, squared
    const ExactNumber difference = field.subtract(field.multiply({Rational(q)}, root), {Rational(p)});
    const int right = p * p < 2 * q * q ? 1 : -1;
    REQUIRE(field.sign(difference) == right);
    REQUIRE(field.sign(field.subtract({}, difference)) == -right);
    REQUIRE(field.sign(field.subtract(difference, difference)) == 0);
    const auto next = p + 2 * q;
    q += p;
    p = next;
  }
  // All small sums of cosines of twentieths and sixtieths, where long double can tell.
  for (const std::uint64_t order : {20U, 60U}) {
    const CyclotomicField turns(order);
    for (int code = 0; code < 625; ++code) {
      ExactNumber sum;
      long double value = 0;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 5) {
        const Turn turn{2 * i + 1, static_cast<std::int64_t>(order)};
        sum = turns.add(sum, turns.multiply(exact_number(rest % 5 - 2), turns.cosine(turn)));
        value += static_cast<long double>(rest % 5 - 2) * turn.cosine();
      }
      REQUIRE(turns.sign(sum) == (std::fabs(value) < 1e-12L ? 0 : value > 0 ? 1 : -1));
    }
  }
}

TEST_CASE("of any three codewords, in any order, the nearest is found, and a tie where two are nearest") {
  const CyclotomicField field;
  const auto point = [](int code) { return std::pair{code % 3 - 1, code / 3 - 1}; };
  for (int code = 0; code < 729; ++code) {
    const int picks[] = {code % 9, code / 9 % 9, code / 81};
    Layer layer;
    layer.dimension = 2;
    layer.labels = 3;
    layer.initial = Eigen::MatrixXd::Zero(2, 1);
    for (const int pick : picks) {
      Eigen::MatrixXd codeword(2, 1);
      codeword << point(pick).first, point(pick).second;
      layer.decoder.codewords.push_back(codeword);
    }
    const ExactLayer exact(layer, field, "layer");
    for (int x = -4; x <= 4; ++x)
      for (int y = -4; y <= 4; ++y) {  // thirds, so that few states are doubles
        Label nearest = kNoLabel;
        int least = INT32_MAX;
        for (Label i = 0; i < 3; ++i) {
          const auto [a, b] = point(picks[i]);
          const int distance = (x - 3 * a) * (x - 3 * a) + (y - 3 * b) * (y - 3 * b);
          if (distance == least) nearest = kNoLabel;
          if (distance < least) nearest = i;
          least = std::min(least, distance);
        }
        const auto third = [](int n) { return n == 0 ? ExactNumber{} : ExactNumber{Rational(n, 3)}; };
        REQUIRE(exact.decode({third(x), third(y)}, 0) == nearest);
      }
  }
}

namespace {

/// One letter that turns cyclic layers of these sizes, and one layer more that repeats the first: words reach as many
/// tuples as the sizes have products, and induction over all tuples breaks where the repeated layer is out of step.
Network out_of_step(const std::vector<std::uint32_t>& sizes) {
  std::uint32_t states = 1;
  for (const std::uint32_t size : sizes) states *= size;
  std::vector<State> table(states);
  for (State state = 0; state < states; ++state) {
    State rest = state, next = 0, place = 1;
    for (const std::uint32_t size : sizes) {
      next += (rest % size + 1) % size * place;
      place *= size;
      rest /= size;
    }
    table[state] = next;
  }
  Network network = one_hot(counter(sizes[0], {1}));
  network.automaton = automaton(1, std::move(table));
  network.readout.next.clear();
  std::uint32_t nodes = 1;
  for (const std::uint32_t size : sizes) {
    if (nodes > 1) network.layers.push_back(one_hot(counter(size, {1})).layers[0]);
    std::vector<Context>& next = network.readout.next.emplace_back();
    for (std::uint32_t node = 0; node < nodes; ++node)
      for (std::uint32_t label = 0; label < size; ++label) next.push_back(node + label * nodes);
    nodes *= size;
  }
  network.layers.push_back(network.layers[0]);
  std::vector<Context>& last = network.readout.next.emplace_back();
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t label = 0; label < sizes[0]; ++label) last.push_back(label == node % sizes[0] ? node : 0);
  for (std::size_t k = 0; k + 1 < network.layers.size(); ++k)
    network.layers[k].wiring.next.assign(network.layers[k].labels, 0);
  return network;
}

}  // namespace

TEST_CASE("the time of exact arithmetic ends the search over tuples, which keeps what it found") {
  const Network network = out_of_step({7, 9, 11, 13});
  CertifyOptions options = exactly(100'000);
  const auto start = std::chrono::steady_clock::now();
  const Certificate whole = certify(network, options);
  CHECK(whole.is<Proved>());
  CHECK(whole.evidence.find("all 9009 tuples") != std::string::npos);
  // Closing the layers takes a small part of the time of the whole: some limit ends the search and not the layers.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Certificate found;
  options.max_seconds = seconds;
  for (int tries = 0; tries < 300 && found.length() == 0; ++tries) {
    const bool met_layers = found.is<ProvedUpTo>();  // on a busy machine one step may pass over the search
    options.max_seconds = met_layers ? seconds : options.max_seconds * 0.85;
    found = certify(network, options);
    if (found.is<Proved>()) continue;
    CHECK(found.is<ProvedUpTo>());
    CHECK(found.limit.find("the time is over (--time") != std::string::npos);
  }
  CHECK(found.length() > 0);
  CHECK(found.length() < 9009);
}

TEST_CASE("the time of exact arithmetic ends layers that do not close") {
  // H ← H + 1: no state comes back, and only the limits of memory would end it.
  Network network = one_hot(counter(2, {0}));
  Layer& layer = network.layers[0];
  layer.transitions[0].b = Eigen::MatrixXd::Ones(2, 1);
  CertifyOptions options = exactly(1'000'000'000);
  options.max_seconds = 0.05;
  const Certificate found = certify(network, options);
  CHECK(found.is<ProvedUpTo>());
  CHECK(found.length() == 0);
  CHECK(found.limit.find("the time is over (--time 0.05)") != std::string::npos);
}

TEST_CASE("a search that is out of time finds nothing, and other limits are its caller's") {
  const auto slow = []() -> std::optional<int> {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) TimeLimit::check();
    return 1;
  };
  CHECK(within_time(0.5, slow) == 1);
  const TimeLimit hour(3600, "--time 3600");
  CHECK(within_time(0.5, slow) == 1);
  CHECK_FALSE(within_time(1e-10, slow));
  const auto full = []() -> std::optional<int> { throw LimitError("memory"); };
  CHECK_THROWS_AS(within_time(0.5, full), LimitError);
}
