#include "krohn/simulate/evaluate/evaluate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "krohn/groups/error.h"
#include "tests/simulate/formed_networks.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

constexpr Form kForms[] = {Form::kStructured, Form::kDense};

/// Every answer and every number after every letter of a random word, in every arithmetic.
void check_against_reference(const Network& network, std::uint64_t letters) {
  for (const ArithmeticName arithmetic : ArithmeticName::all())
    for (const Form form : kForms) {
      CAPTURE(to_string(arithmetic));
      CAPTURE(to_string(form));
      const auto fast = make_evaluator(network, arithmetic, form);
      const auto reference = reference_evaluator(network, arithmetic, form);
      REQUIRE(fast->current() == reference->current());
      REQUIRE(fast->numbers() == reference->numbers());
      const RandomWord word(network.automaton.letters(), 99);
      for (std::uint64_t t = 0; t < letters; ++t) {
        CAPTURE(t);
        REQUIRE(fast->step(word.at(t)) == reference->step(word.at(t)));
        const std::vector<double> a = fast->numbers(), b = reference->numbers();
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) REQUIRE((a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))));
      }
    }
}

/// One matrix of every structured form in dimension 5, with weights that round.
std::vector<Matrix> one_of_each_form(std::mt19937_64& random) {
  Reflection sparse{{{0, 1}, {2, -3}, {4, 2}}, 1, 14, 0, {}, 1.3};
  Reflection angled{{}, 1, 1, 3, Turn{3, 14}, 2};
  FactoredMatrix factored{5, {{0, 1}, {2}, {0, 3, 4}}, {{1, 2, 3}, {0}, {2, 4}}, {0, 2}};
  return {MapMatrix{Transformation::from_images({1, 1, 0, 1, 4})},
          SignedPermutationMatrix{Permutation::from_images({2, 0, 1, 4, 3}), {1, -1, 1, -1, -1}},
          ReflectionProduct{5, {sparse, angled}},
          ReflectionProduct{5, {}},
          RotationBlocks{{{false, Turn{1, 7}}, {true, Turn{1, 2}}, {false, Turn{2, 5}}}},
          DiagonalMatrix{{0.5, -1, 0.3, 1, -0.9}},
          ZeroMatrix{5},
          DenseMatrix{random_matrix(random, 5, 5)},
          BlockDiagonalMatrix{{random_matrix(random, 2, 2), random_matrix(random, 3, 3)}},
          factored};
}

Network one_of_each(std::uint64_t seed, std::uint32_t columns) {
  std::mt19937_64 random(seed);
  std::vector<Matrix> actions = one_of_each_form(random);
  return meaningless(random, std::move(actions), columns, true);
}

}  // namespace

TEST_CASE("hand-built networks are valid") {
  for (const Network& network : meaningful_networks()) CHECK_NOTHROW(validate(network));
  for (std::uint32_t m = 2; m <= 16; ++m) CHECK_NOTHROW(validate(two_reflections(m)));
  CHECK_NOTHROW(validate(one_of_each(3, 2)));
}

TEST_CASE("the evaluator is the reference, bit for bit") {
  for (const Network& network : meaningful_networks()) check_against_reference(network, 120);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    check_against_reference(one_of_each(seed, static_cast<std::uint32_t>(1 + seed % 3)), 120);
  }
}

TEST_CASE("numbers that overflow do not decode, and evaluation goes on") {
  Eigen::MatrixXd growing = Eigen::MatrixXd::Identity(2, 2) * 1e30;
  growing(0, 1) = -1e30;
  Network network =
      one_layer(counter(2, {0, 1}), unit(2, 0), {DenseMatrix{growing}, ZeroMatrix{2}}, {unit(2, 0), unit(2, 1)});
  check_against_reference(network, 60);
  const auto evaluator = make_evaluator(network, Precision::kFp32);
  evaluator->step(0);
  CHECK(evaluator->step(0) == std::nullopt);
  CHECK(evaluator->step(1) == std::nullopt);  // zero is as near to one codeword as to the other
}

TEST_CASE("constructions that are exact follow the automaton") {
  std::mt19937_64 random(23);
  std::vector<Network> exact;
  exact.push_back(one_hot(random_automaton(random, 9, 4)));
  exact.push_back(rotation(4, all_residues(4)));
  exact.push_back(symmetric(5, 4, Swap::kUnnormalised));
  exact.push_back(symmetric(5, 1, Swap::kDoubled));
  exact.push_back(flip_flop_toggle());
  exact.push_back(delayed_toggle());
  for (const Network& network : exact)
    for (const ArithmeticName arithmetic : ArithmeticName::all()) {
      CAPTURE(to_string(arithmetic));
      const auto evaluator = make_evaluator(network, arithmetic);
      const Word word = RandomWord(network.automaton.letters(), 8).slice(0, 20'000);
      std::vector<State> states(word.size());
      evaluator->run(word, states);
      State state = network.automaton.initial();
      for (std::size_t t = 0; t < word.size(); ++t) {
        state = network.automaton.next(state, word[t]);
        REQUIRE(states[t] == state);
      }
    }
}

TEST_CASE("Theorem 6 counts modulo m = 2..64 with one reflection per layer") {
  for (std::uint32_t m = 2; m <= 64; ++m) {
    CAPTURE(m);
    const Network network = two_reflections(m);
    const auto report = sample(network, Precision::kFp64, {.lengths = {4000}, .words = 2, .progress = {}});
    CHECK(report.lengths[0].right_letters == 8000);
  }
}

TEST_CASE("run is step by step, reset starts anew, fresh starts beside") {
  const Network network = rotation(7, all_residues(7));
  const auto evaluator = make_evaluator(network, Precision::kBf16);
  const Word word = RandomWord(7, 3).slice(0, 500);
  std::vector<State> states(word.size()), again(word.size());
  evaluator->run(word, states);
  const auto fresh = evaluator->fresh();
  for (std::size_t t = 0; t < word.size(); ++t) REQUIRE(fresh->step(word[t]).value_or(kNoState) == states[t]);
  CHECK(fresh->numbers() == evaluator->numbers());
  evaluator->reset();
  CHECK(evaluator->current() == network.automaton.initial());
  evaluator->run(word, again);
  CHECK(again == states);
}

TEST_CASE("the arithmetics differ where weights round, so that their names mean something") {
  const Network network = one_of_each(2, 1);
  const Word word = RandomWord(network.automaton.letters(), 3).slice(0, 200);
  std::map<std::vector<double>, std::string> courses;
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    const auto evaluator = make_evaluator(network, arithmetic);
    std::vector<double> course;
    for (const Letter letter : word) {
      evaluator->step(letter);
      for (const double number : evaluator->numbers()) course.push_back(number);
    }
    const auto [same, fresh] = courses.try_emplace(std::move(course), to_string(arithmetic));
    CAPTURE(same->second);
    CAPTURE(to_string(arithmetic));
    CHECK(fresh);
  }
  CHECK_THROWS_AS(reference_evaluator(network, ArithmeticName::exact()), InputError);
}

TEST_CASE("forms have names") {
  for (const Form form : kForms) CHECK(parse_form(to_string(form)) == form);
  CHECK_THROWS_AS(parse_form("sparse"), InputError);
}
