#include "krohn/simulate/evaluate/lanes/batch.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "krohn/groups/error.h"
#include "tests/simulate/formed_networks.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::formed_networks;

namespace {

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

/// Letter t of word w at [t · words + w].
std::vector<Letter> random_letters(Letter letters, std::size_t words, std::size_t length, std::uint64_t seed) {
  std::vector<Letter> made(words * length);
  for (std::size_t w = 0; w < words; ++w) {
    const Word word = RandomWord(letters, seed, w).slice(0, length);
    for (std::size_t t = 0; t < length; ++t) made[t * words + w] = word[t];
  }
  return made;
}

/// Equal as bit patterns, where every NaN counts as one.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Every answer of every word at every position, and every number at the end, are those of the evaluator.
void check_lanes(const Network& network, Precision precision, const LaneOptions& options, std::size_t words,
                 std::size_t length) {
  CAPTURE(to_string(precision));
  CAPTURE(to_string(options.form));
  CAPTURE(words);
  CAPTURE(length);
  const std::vector<Letter> letters = random_letters(network.automaton.letters(), words, length, 31 + length);
  const auto lanes = make_lane_evaluator(network, precision, options);
  const auto quiet = lanes->fresh();
  std::vector<State> states(length * kLanes);
  lanes->run({letters.data(), words, words}, length, states);
  quiet->run({letters.data(), words, words}, length);
  std::array<State, kLanes> last, quiet_last;
  lanes->current(last);
  quiet->current(quiet_last);
  const auto one = make_evaluator(network, precision, options.form);
  for (std::size_t w = 0; w < words; ++w) {
    CAPTURE(w);
    one->reset();
    for (std::size_t t = 0; t < length; ++t) {
      const State expected = one->step(letters[t * words + w]).value_or(kNoState);
      if (states[t * kLanes + w] == expected) continue;
      CAPTURE(t);
      REQUIRE(states[t * kLanes + w] == expected);
    }
    REQUIRE(last[w] == one->current().value_or(kNoState));
    REQUIRE(quiet_last[w] == last[w]);
    const std::vector<double> expected = one->numbers(), seen = lanes->numbers(w), also = quiet->numbers(w);
    REQUIRE(seen.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      REQUIRE(same(seen[i], expected[i]));
      REQUIRE(same(also[i], expected[i]));
    }
  }
}

void check_everywhere(const Network& network, std::size_t words, std::size_t length) {
  for (const InstructionSet set : available_instruction_sets())
    for (const Precision precision : kPrecisions) {
      CAPTURE(to_string(set));
      check_lanes(network, precision, {.form = Form::kStructured, .instructions = set}, words, length);
    }
}

}  // namespace

TEST_CASE("lanes are the evaluator, bit for bit: networks with a meaning") {
  for (const Network& network : meaningful_networks()) {
    CHECK(make_lane_evaluator(network, Precision::kFp32)->is_vectorised());
    check_everywhere(network, 37, 130);
  }
}

TEST_CASE("lanes are the evaluator, bit for bit: every form alone and all together") {
  for (const Network& network : of_every_form()) {
    CAPTURE(network.layers[0].dimension);
    REQUIRE_NOTHROW(validate(network));
    CHECK(make_lane_evaluator(network, Precision::kFp32)->is_vectorised());
    check_everywhere(network, 33, 70);
  }
}

TEST_CASE("tables of every size are read alike") {
  for (const Letter letters : {3U, 9U, 17U, 40U, 100U, 150U}) {
    CAPTURE(letters);
    check_everywhere(random_network(letters, 4, 1, letters, std::nullopt), 64, 40);
    check_everywhere(rotation(letters, all_residues(letters)), 40, 40);
  }
}

TEST_CASE("batches and words of every size") {
  const Network rotations = rotation(7, all_residues(7)), cascade = flip_flop_toggle();
  for (const std::size_t words : {1, 2, 31, 32, 33, 63, 64})
    for (const std::size_t length : {0, 1, 2, 64, 65, 1000})
      for (const Network* network : {&rotations, &cascade}) check_lanes(*network, Precision::kBf16, {}, words, length);
}

TEST_CASE("the dense form, and what lanes cannot do") {
  for (const Network& network : meaningful_networks())
    check_lanes(network, Precision::kFp32, {.form = Form::kDense, .instructions = {}}, 20, 50);
  Network factored = one_hot(counter(3, all_residues(3)));
  factored.layers[0].transitions[0].a = FactoredMatrix{3, {{0, 1}, {2}}, {{1, 2}, {0}}, {0, 1}};
  CHECK_FALSE(make_lane_evaluator(factored, Precision::kFp32)->is_vectorised());
  check_lanes(factored, Precision::kFp32, {}, 33, 80);
}

TEST_CASE("layers that do not decode leave those above them as they are") {
  const Network network = failing_cascade();
  REQUIRE_NOTHROW(validate(network));
  check_everywhere(network, 64, 200);
  const auto lanes = make_lane_evaluator(network, Precision::kFp32);
  const std::vector<Letter> letters = random_letters(3, 64, 200, 5);
  std::vector<State> states(200 * kLanes);
  lanes->run({letters.data(), 64, 64}, 200, states);
  const auto failures = std::count(states.begin(), states.end(), kNoState);
  CHECK(failures > 100);
  CHECK(failures < 200 * 64 - 100);
}

TEST_CASE("numbers that overflow do not decode, until a reset") {
  Eigen::MatrixXd growing = Eigen::MatrixXd::Identity(2, 2) * 1e4;
  growing(0, 1) = -1e4;
  Network network = one_layer(counter(3, {0, 1, 2}), unit(2, 0),
                              {DenseMatrix{growing}, ZeroMatrix{2}, MapMatrix{Transformation::from_images({1, 1})}},
                              {unit(2, 0), unit(2, 1), -unit(2, 1)});
  network.layers[0].transitions[1].b = unit(2, 0);
  check_everywhere(network, 64, 120);
}

TEST_CASE("a run may be cut anywhere, reset starts anew") {
  const Network network = rotation(60, all_residues(60));
  const std::vector<Letter> letters = random_letters(60, 64, 300, 4);
  const auto whole = make_lane_evaluator(network, Precision::kFp16), parts = whole->fresh();
  std::vector<State> states(300 * kLanes), again(300 * kLanes);
  whole->run({letters.data(), 64, 64}, 300, states);
  for (int round = 0; round < 2; ++round) {
    std::size_t at = 0;
    for (const std::size_t steps : {1, 99, 0, 63, 137}) {
      parts->run({letters.data() + at * 64, 64, 64}, steps, std::span(again).subspan(at * kLanes));
      at += steps;
    }
    CHECK(again == states);
    CHECK(parts->numbers(13) == whole->numbers(13));
    parts->reset();
  }
}

TEST_CASE("final states of a batch, on any number of threads") {
  const Network network = symmetric(4, 3, Swap::kUnnormalised);
  for (const std::size_t words : {0, 1, 2, 31, 127, 300})
    for (const std::size_t length : {0, 1, 100}) {
      const std::vector<Letter> letters = random_letters(6, words, length, 9);
      const std::vector<State> states = batch_final_states(network, Precision::kFp32, letters, words, length);
      REQUIRE(states.size() == words);
      for (const unsigned threads : {1U, 3U}) {
        BatchOptions options;
        options.threads = threads;
        CHECK(batch_final_states(network, Precision::kFp32, letters, words, length, options) == states);
      }
      for (std::size_t w = 0; w < words; ++w) {
        State state = network.automaton.initial();
        for (std::size_t t = 0; t < length; ++t) state = network.automaton.next(state, letters[t * words + w]);
        REQUIRE(states[w] == state);
      }
    }
  CHECK_THROWS_AS(batch_final_states(network, Precision::kFp32, std::vector<Letter>(7), 2, 3), InputError);
}

TEST_CASE("instruction sets have names, and one is always there") {
  const auto sets = available_instruction_sets();
  REQUIRE_FALSE(sets.empty());
  CHECK(sets.front() == InstructionSet::kPortable);
  CHECK(to_string(InstructionSet::kAvx2) == "AVX2");
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512})
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) CHECK_THROWS_AS(lane_kernels(set), InputError);
}
