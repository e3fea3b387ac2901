#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/exactness/rotation_drift.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/onnx.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_snapped.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "krohn/simulate/words/random_letters.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

Network snapping(Network network, std::uint64_t every) {
  network.snap_every = every;
  return network;
}

/// Z_4 by a turn of 80° a letter instead of 90°: 10° more wrong after every letter, and 45° are half-way.
Network lagging_counter(std::uint64_t snap_every) {
  Network network = rotation(4, {1});
  network.layers[0].transitions[0].a = RotationBlocks{{{false, Turn{2, 9}}}};
  return snapping(std::move(network), snap_every);
}

Network snapped_rotation(std::uint32_t m, Precision precision) {
  BuildOptions wishes;
  wishes.construction = "rotation-snapped";
  wishes.precision = precision;
  return build(counter(m, all_residues(m)), wishes);
}

Certificate certify_in(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs = 2'000'000) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = max_pairs;
  return certify(network, options);
}

}  // namespace

TEST_CASE("snapping in time repairs a lag, and too late does not") {
  for (const ArithmeticName arithmetic : {ArithmeticName(Precision::kFp64), ArithmeticName(Precision::kBf16),
                                          ArithmeticName::parse("fp32+fma"), ArithmeticName::parse("bf16/fp32")}) {
    CAPTURE(to_string(arithmetic));
    for (std::uint64_t every = 1; every <= 4; ++every) {
      CAPTURE(every);
      const Certificate certificate = certify_in(lagging_counter(every), arithmetic);
      CHECK(certificate.is<Proved>());
    }
    for (const std::uint64_t every : {0, 5, 6, 100}) {
      CAPTURE(every);
      const Certificate certificate = certify_in(lagging_counter(every), arithmetic);
      CHECK(certificate.is<Refuted>());
      REQUIRE(certificate.failing_word());
      CHECK(certificate.failing_word()->size() == 5);
    }
  }
}

TEST_CASE("the search knows how long ago the network snapped") {
  // All states are met after every number of letters since the last snap: 4 codewords and their lags.
  for (std::uint64_t every = 1; every <= 4; ++every) {
    const Certificate certificate = certify_reachable_set(lagging_counter(every), {});
    CHECK(certificate.is<Proved>());
    CHECK(certificate.pairs == std::lcm(std::uint64_t{4}, every));
  }
}

TEST_CASE("the evaluator snaps as its reference does") {
  std::mt19937_64 random(31);
  std::vector<Network> networks{rotation(7, all_residues(7)), symmetric(4, 2, Swap::kUnit), flip_flop_toggle(),
                                one_hot(random_automaton(random, 6, 3))};
  for (Network& network : networks)
    for (const std::uint64_t every : {1, 2, 7}) {
      network.snap_every = every;
      validate(network);
      for (const ArithmeticName arithmetic : ArithmeticName::all()) {
        CAPTURE(to_string(arithmetic));
        const auto fast = make_evaluator(network, arithmetic);
        const auto reference = reference_evaluator(network, arithmetic);
        const RandomWord word(network.automaton.letters(), 5);
        for (std::uint64_t t = 0; t < 60; ++t) {
          REQUIRE(fast->step(word.at(t)) == reference->step(word.at(t)));
          REQUIRE(fast->numbers() == reference->numbers());
        }
        fast->reset();
        reference->reset();
        for (std::uint64_t t = 0; t < 10; ++t) fast->step(word.at(t)), reference->step(word.at(t));
        CHECK(fast->numbers() == reference->numbers());
      }
    }
}

TEST_CASE("after a snap the numbers are a rounded codeword") {
  const Network network = snapping(rotation(60, all_residues(60)), 3);
  const auto evaluator = make_evaluator(network, Precision::kBf16);
  const RandomWord word(60, 8);
  std::set<std::vector<double>> between, after;
  for (std::uint64_t t = 1; t <= 600; ++t) {
    evaluator->step(word.at(t - 1));
    (t % 3 == 0 ? after : between).insert(evaluator->numbers());
  }
  CHECK(after.size() <= 60);
  CHECK(between.size() > 60);
}

TEST_CASE("batches of words snap too") {
  const Network network = snapping(rotation(10, all_residues(10)), 11);
  constexpr std::size_t kWords = 37, kLength = 50;
  std::vector<Letter> letters(kWords * kLength);
  const RandomWord random(10, 12);
  for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = random.at(i);
  const std::vector<State> ends = batch_final_states(network, Precision::kBf16, letters, kWords, kLength);
  for (std::size_t w = 0; w < kWords; ++w) {
    const auto evaluator = make_evaluator(network, Precision::kBf16);
    State state = kNoState;
    for (std::size_t t = 0; t < kLength; ++t) state = evaluator->step(letters[t * kWords + w]).value_or(kNoState);
    CHECK(ends[w] == state);
  }
}

TEST_CASE("rotations that drift are proved once they snap") {
  struct Fact {
    Precision precision;
    std::uint32_t m;
    std::uint64_t every;
  };
  for (const Fact& fact :
       {Fact{Precision::kBf16, 5, 27}, Fact{Precision::kBf16, 10, 15}, Fact{Precision::kBf16, 60, 2}}) {
    CAPTURE(to_string(fact.precision));
    CAPTURE(fact.m);
    const Network network = snapped_rotation(fact.m, fact.precision);
    CHECK(network.snap_every == fact.every);
    CHECK(network.provenance.note.find("not linear") != std::string::npos);
    CHECK(certify_in(snapping(network, 0), fact.precision).is<Refuted>());
    CHECK(certify_in(network, fact.precision).is<Proved>());
    CertifyOptions options;
    options.arithmetic = fact.precision;
    CHECK(certify_reachable_set(network, options).is<Proved>());
  }
}

TEST_CASE("bounds prove snaps that no search could, by induction over blocks") {
  struct Fact {
    Precision precision;
    std::uint32_t m;
  };
  for (const Fact& fact : {Fact{Precision::kFp32, 5}, Fact{Precision::kFp32, 60}, Fact{Precision::kFp64, 7},
                           Fact{Precision::kFp16, 11}, Fact{Precision::kBf16, 10}}) {
    CAPTURE(to_string(fact.precision));
    CAPTURE(fact.m);
    Network network = snapped_rotation(fact.m, fact.precision);
    CertifyOptions options;
    options.arithmetic = fact.precision;
    const auto certificate = certify_snapped(network, options);
    REQUIRE(certificate);
    CHECK(certificate->is<Proved>());
    CHECK(certificate->method == "snapped horizon bound");
    CHECK(certificate->evidence.find("not linear") == 0);
    // The bound is not proved for blocks that are much longer, nor without snaps.
    network.snap_every *= 4;
    CHECK_FALSE(certify_snapped(network, options));
    network.snap_every = 0;
    CHECK_FALSE(certify_snapped(network, options));
  }
}

TEST_CASE("the bound of blocks is what the search finds: never more") {
  for (std::uint64_t every = 1; every <= 8; ++every) {
    CAPTURE(every);
    const auto certificate = certify_snapped(lagging_counter(every), {});
    if (every > 4) CHECK_FALSE(certificate);
    if (every <= 3) CHECK(certificate);
  }
}

TEST_CASE("the drift bound is the first-order horizon, and never more") {
  for (const auto& [precision, u] : {std::pair{Precision::kBf16, 0x1p-8},
                                     {Precision::kFp16, 0x1p-11},
                                     {Precision::kFp32, 0x1p-24},
                                     {Precision::kFp64, 0x1p-53}})
    for (const std::uint32_t m : {3, 5, 7, 11, 30}) {
      CAPTURE(to_string(precision));
      CAPTURE(m);
      const double margin = std::sin(std::numbers::pi / m);
      const double first_order = std::log1p(margin) / (3 * std::sqrt(2.0) * u);
      const auto letters = static_cast<double>(letters_before_drift(1, margin, precision));
      CHECK(letters <= first_order);
      CHECK(letters >= 0.9 * first_order - 3);
    }
  CHECK(letters_before_drift(1, 1e-3, Precision::kBf16) == 0);
  CHECK(letters_before_drift(1, std::sin(std::numbers::pi / 60), Precision::kFp32) == 201'724);
}

TEST_CASE("a network that snaps has one code book for each layer, and is refused where only linear ones are meant") {
  CHECK_THROWS_WITH_AS(validate(snapping(two_reflections(5), 3)),
                       "layer 2: has several code books; a network that snaps has one for each layer", InputError);
  CHECK_NOTHROW(require_linear(rotation(5, {1}), "scan"));
  CHECK_THROWS_AS(require_linear(snapping(rotation(5, {1}), 3), "scan"), InputError);
  CHECK_THROWS_AS(format_onnx(snapping(rotation(5, {1}), 3)), InputError);
}

TEST_CASE("the file says that a network snaps") {
  const Network network = snapped_rotation(5, Precision::kBf16);
  TensorFile file = to_tensors(network);
  CHECK(file.metadata.at("snap_every") == std::to_string(network.snap_every));
  CHECK(from_tensors(file, "z5").snap_every == network.snap_every);
  CHECK(to_tensors(rotation(5, {1})).metadata.count("snap_every") == 0);
  for (const char* bad : {"", "0", "07", "-1", "+3", "3 ", "3.0", "x", "99999999999999999999999"}) {
    CAPTURE(bad);
    file.metadata["snap_every"] = bad;
    CHECK_THROWS_AS(from_tensors(file, "z5"), InputError);
  }
}

TEST_CASE("the planner offers snapping by name, says that it is not linear, and never calls it exact") {
  BuildOptions wishes;
  wishes.precision = Precision::kFp32;
  bool offered = false;
  for (const PlanRow& row : plan(counter(60, {1}), wishes)) {
    CHECK((row.snap_every > 0) == (row.construction == "rotation-snapped"));
    if (row.snap_every == 0) continue;
    offered = true;
    CHECK_FALSE(row.chosen);
    CHECK(row.exact_in.empty());
    CHECK(row.locked_in.empty());
    CHECK(row.state_numbers == 2);
    CHECK(row.reason.find("not linear: snaps to the nearest of 60 codewords every ") == 0);
  }
  CHECK(offered);
  wishes.construction = "rotation-snapped";
  wishes.exact = true;
  CHECK_THROWS_AS(build(counter(60, {1}), wishes), InputError);
  wishes.exact = false;
  CHECK_THROWS_AS(build(counter(2, {1}), wishes), InputError);
}
