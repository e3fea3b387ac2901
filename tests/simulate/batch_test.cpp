#include "simulate/batch.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "groups/error.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

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

Eigen::MatrixXd random_matrix(std::mt19937_64& random, Eigen::Index rows, Eigen::Index columns) {
  std::uniform_real_distribution<double> entry(-1, 1);
  Eigen::MatrixXd matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix(i) = entry(random);
  return matrix;
}

Transformation random_map(std::mt19937_64& random, Point n) {
  std::vector<Point> images(n);
  for (Point& image : images) image = static_cast<Point>(random() % n);
  return Transformation::from_images(images);
}

Transformation random_bijection(std::mt19937_64& random, Point n) {
  std::vector<Point> images(n);
  for (Point i = 0; i < n; ++i) images[i] = i;
  std::shuffle(images.begin(), images.end(), random);
  return Transformation::from_images(images);
}

/// Factors with few or all coordinates, none, or a key at an angle.
ReflectionProduct random_reflections(std::mt19937_64& random, std::uint32_t n) {
  ReflectionProduct product{n, {}};
  for (std::uint64_t f = random() % 4; f-- > 0;) {
    Reflection reflection;
    const bool all = random() % 3 == 0;
    for (std::uint32_t i = 0; i < n; ++i)
      if (all || random() % 3 == 0) reflection.entries.push_back({i, static_cast<std::int32_t>(random() % 2) * 2 - 1});
    if (reflection.entries.empty()) reflection.angle = Turn{static_cast<std::int64_t>(random() % 14), 14}.normalised();
    if (reflection.entries.empty() && n < 2) continue;
    reflection.scale_squared_denominator =
        static_cast<std::int64_t>(std::max(reflection.entries.size(), std::size_t{1}));
    reflection.beta = random() % 2 == 0 ? 2 : 1.3;
    product.factors.push_back(reflection);
  }
  return product;
}

enum class Kind { kMap, kSigned, kReflections, kRotation, kDiagonal, kZero, kDense, kBlocks, kCount };

Matrix random_form(std::mt19937_64& random, Kind kind, std::uint32_t n) {
  std::uniform_real_distribution<double> entry(-1, 1);
  switch (kind) {
    case Kind::kMap:
      return MapMatrix{random() % 2 == 0 ? random_map(random, n) : random_bijection(random, n)};
    case Kind::kSigned: {
      const Transformation map = random_bijection(random, n);
      SignedPermutationMatrix matrix{Permutation::from_images({map.images().begin(), map.images().end()}), {}};
      for (std::uint32_t i = 0; i < n; ++i) matrix.sign.push_back(random() % 2 == 0 ? 1 : -1);
      return matrix;
    }
    case Kind::kReflections:
      return random_reflections(random, n);
    case Kind::kRotation: {
      RotationBlocks blocks;
      for (std::uint32_t i = 0; i < n;) {
        const bool is_sign = i + 1 == n || random() % 4 == 0;
        blocks.blocks.push_back({is_sign, (is_sign ? Turn{static_cast<std::int64_t>(random() % 2), 2}
                                                   : Turn{1 + static_cast<std::int64_t>(random() % 6), 7})
                                              .normalised()});
        i += is_sign ? 1 : 2;
      }
      return blocks;
    }
    case Kind::kDiagonal: {
      DiagonalMatrix matrix;
      for (std::uint32_t i = 0; i < n; ++i) matrix.values.push_back(random() % 3 == 0 ? 0 : entry(random));
      return matrix;
    }
    case Kind::kZero:
      return ZeroMatrix{n};
    case Kind::kDense:
      return DenseMatrix{random_matrix(random, n, n)};
    default: {
      if (n == 1) return BlockDiagonalMatrix{{random_matrix(random, 1, 1)}};
      const auto first = static_cast<Eigen::Index>(1 + random() % (n - 1));
      return BlockDiagonalMatrix{{random_matrix(random, first, first), random_matrix(random, n - first, n - first)}};
    }
  }
}

/// A network without a meaning: letters of the given kinds (all when none is named), some with B, and codewords that
/// are random, or zeros and ones.
Network random_network(std::uint64_t seed, std::uint32_t n, std::uint32_t columns, Letter letters,
                       std::optional<Kind> kind) {
  std::mt19937_64 random(seed);
  std::vector<Matrix> actions;
  for (Letter a = 0; a < letters; ++a)
    actions.push_back(
        random_form(random, kind.value_or(static_cast<Kind>(random() % static_cast<int>(Kind::kCount))), n));
  const bool binary = seed % 2 == 0;
  std::vector<Eigen::MatrixXd> codewords;
  for (std::uint32_t q = 0; q < 7; ++q) {
    Eigen::MatrixXd codeword = random_matrix(random, n, columns);
    if (binary)
      for (Eigen::Index i = 0; i < codeword.size(); ++i) codeword(i) = random() % 2 == 0 ? 0 : 1;
    codewords.push_back(std::move(codeword));
  }
  const Eigen::MatrixXd initial = codewords[0];
  Network network = one_layer(random_automaton(random, 7, letters), initial, std::move(actions), std::move(codewords));
  for (Transition& transition : network.layers[0].transitions)
    if (std::holds_alternative<ZeroMatrix>(transition.a) ? random() % 5 != 0 : random() % 4 == 0)
      transition.b = random_matrix(random, n, columns);
  return network;
}

std::vector<Network> meaningful_networks() {
  std::mt19937_64 random(17);
  std::vector<Network> networks;
  networks.push_back(one_hot(random_automaton(random, 6, 3)));
  networks.push_back(one_hot(random_automaton(random, 40, 2)));
  networks.push_back(rotation(60, all_residues(60)));
  networks.push_back(rotation(7, all_residues(7)));
  for (const Swap style : {Swap::kMap, Swap::kUnit, Swap::kUnnormalised, Swap::kDoubled})
    for (const std::uint32_t columns : {1, 3}) networks.push_back(symmetric(4, columns, style));
  networks.push_back(two_reflections(5));
  networks.push_back(flip_flop_toggle());
  networks.push_back(delayed_toggle());
  return networks;
}

/// Letter 2 takes the first layer to the middle of its codewords, so that the second one often lacks its context.
Network failing_cascade() {
  Network network = flip_flop_toggle();
  network.layers[0].transitions[2] = {Matrix{DiagonalMatrix{{0, 0}}}, {}};
  network.layers[0].transitions[1] = {Matrix{DiagonalMatrix{{-1, 0.5}}}, unit(2, 0)};
  return network;
}

}  // namespace

TEST_CASE("lanes are the evaluator, bit for bit: networks with a meaning") {
  for (const Network& network : meaningful_networks()) {
    CHECK(make_lane_evaluator(network, Precision::kFp32)->is_vectorised());
    check_everywhere(network, 37, 130);
  }
}

TEST_CASE("lanes are the evaluator, bit for bit: every form alone and all together") {
  std::uint64_t seed = 100;
  for (const std::uint32_t n : {1U, 2U, 5U, 9U})
    for (int kind = 0; kind <= static_cast<int>(Kind::kCount); ++kind) {
      const auto chosen = kind < static_cast<int>(Kind::kCount) ? std::optional(static_cast<Kind>(kind)) : std::nullopt;
      const Letter letters = kind == static_cast<int>(Kind::kCount) ? 24 : 1 + static_cast<Letter>(++seed % 5);
      CAPTURE(seed);
      CAPTURE(n);
      CAPTURE(kind);
      const Network network = random_network(seed, n, static_cast<std::uint32_t>(1 + seed % 3), letters, chosen);
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
