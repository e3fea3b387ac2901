#include "krohn/simulate/prove/certify.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/verify.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/simulate/replayed_search.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

}  // namespace

TEST_CASE("rotations: the figures of MATH.md §5") {
  struct Fact {
    ArithmeticName arithmetic;
    std::uint32_t m;
    const char* claim;
    std::uint64_t figure;  ///< pairs when proved, letters of a shortest failing word when refuted
  };
  constexpr ArithmeticName bf16 = Precision::kBf16, fused = ArithmeticName::fused(Precision::kBf16),
                           accumulated = ArithmeticName::accumulated_in_fp32(Precision::kBf16);
  for (const auto& [arithmetic, m, claim, figure] : {Fact{bf16, 3, "proved", 27},
                                                     {bf16, 12, "proved", 108},
                                                     {Precision::kFp32, 12, "proved", 12},
                                                     {bf16, 5, "refuted", 249},
                                                     {bf16, 10, "refuted", 128},
                                                     {bf16, 60, "refuted", 19},
                                                     {fused, 6, "proved", 50},
                                                     {fused, 12, "refuted", 189},
                                                     {accumulated, 6, "refuted", 734},
                                                     {accumulated, 12, "refuted", 384}}) {
    CAPTURE(to_string(arithmetic));
    CAPTURE(m);
    const Network network = rotation(m, all_residues(m));
    const Certificate certificate = certify_reachable_set(network, in(arithmetic));
    CHECK(to_string(certificate.claim) == claim);
    CHECK(certificate.method == "closed reachable set");
    if (certificate.is<Proved>()) {
      CHECK(certificate.pairs == figure);
      continue;
    }
    CHECK(certificate.is_shortest());
    REQUIRE(certificate.failing_word());
    CHECK(certificate.failing_word()->size() == figure);
    check_fails_on(*reference_evaluator(network, arithmetic), network.automaton, *certificate.failing_word());
  }
}

TEST_CASE("a rotation block and its dense 2×2 matrix are one arithmetic") {
  const Network network = rotation(10, all_residues(10));
  const Certificate certificate = certify(network, in(Precision::kBf16, 20'000'000, {}, Form::kDense));
  CHECK(certificate.form == Form::kDense);
  CHECK((certificate.claim == certify(network, in(Precision::kBf16)).claim));
}

TEST_CASE("S_5 by its transpositions: closures of 5 and 120 where swaps are exact") {
  for (const Swap style : {Swap::kMap, Swap::kUnnormalised, Swap::kDoubled})
    for (const Precision precision : kPrecisions) {
      CAPTURE(to_string(precision));
      for (const auto& [columns, closure] : {std::pair{1U, 5U}, std::pair{4U, 120U}}) {
        const Network network = symmetric(5, columns, style);
        const Certificate reached = certify_reachable_set(network, in(precision));
        CHECK(reached.is<Proved>());
        CHECK(reached.pairs == closure);
        const auto closed = certify_closed_codewords(network, in(precision));
        REQUIRE(closed);
        CHECK(closed->is<Proved>());
        CHECK(closed->pairs == 10 * closure);
      }
    }
}

TEST_CASE("S_5 by unit keys on the points is not exact in fp64, yet its closure ends and it is right for ever") {
  const Certificate certificate = certify(symmetric(5, 1, Swap::kUnit), in(Precision::kFp64));
  CHECK(certificate.is<Proved>());
  CHECK(certificate.method == "closed reachable set");
  CHECK(certificate.pairs == 483'681);
}

TEST_CASE("S_5 by unit keys is not exact in fp32 and fp64, and small limits are met") {
  for (const Precision precision : {Precision::kFp64, Precision::kFp32})
    for (const std::uint32_t columns : {1, 4}) {
      const Network network = symmetric(5, columns, Swap::kUnit);
      CHECK_FALSE(certify_closed_codewords(network, in(precision)));
      const Certificate certificate = certify_reachable_set(network, in(precision, 100'000));
      CHECK(certificate.is<ProvedUpTo>());
      CHECK(certificate.pairs == 100'000);
      CHECK(certificate.limit == "100000 pairs");
      CHECK(certificate.length() >= 6);
    }
}

TEST_CASE("the search is the plain search over replayed words") {
  std::mt19937_64 random(4);
  std::vector<Network> networks{
      rotation(3, {1}),      rotation(5, {1, 2}),          rotation(12, {1, 5}),
      rotation(60, {1, 59}), two_reflections(2),           two_reflections(3),
      flip_flop_toggle(),    symmetric(3, 2, Swap::kUnit), one_hot(random_automaton(random, 6, 2))};
  for (const Network& network : networks)
    for (const Precision precision : {Precision::kBf16, Precision::kFp16})
      for (const Form form : {Form::kStructured, Form::kDense}) {
        const Certificate certificate = certify_reachable_set(network, in(precision, 400, {}, form));
        const ReplayedSearch plain = replayed_search(network, precision, form, 400);
        CHECK(plain.ended == (certificate.is<Proved>()));
        CHECK(plain.failing_word.has_value() == (certificate.is<Refuted>()));
        if (plain.ended) CHECK(certificate.pairs == plain.pairs);
        if (plain.failing_word) CHECK(certificate.failing_word()->size() == plain.failing_word->size());
      }
}

TEST_CASE("meeting the limit proves the depths that were completed, and no more") {
  // The shortest failing word has 19 letters, whatever the limit at which the search gives up before.
  const Network network = rotation(60, all_residues(60));
  for (const std::uint64_t max_pairs : {1, 2, 60, 1000, 20'000, 60'000}) {
    CAPTURE(max_pairs);
    const Certificate certificate = certify_reachable_set(network, in(Precision::kBf16, max_pairs));
    CHECK(certificate.is<ProvedUpTo>());
    CHECK(certificate.pairs == max_pairs);
    CHECK(certificate.length() < 19);
    CHECK(certificate.length() >= 1);
  }
  CertifyOptions small = in(Precision::kBf16);
  small.max_bytes = 1 << 20;
  const Certificate certificate = certify_reachable_set(network, small);
  CHECK(certificate.is<ProvedUpTo>());
  CHECK(certificate.limit == "1048576 bytes of pairs");
}

TEST_CASE("the greater of two lengths is claimed, that of the horizon bound or that of the search") {
  const Network fine = rotation(60, all_residues(60));
  const Certificate horizon = certify(fine, in(Precision::kFp32, 1'000));
  CHECK(horizon.is<ProvedUpTo>());
  CHECK(horizon.method == "horizon bound");
  CHECK(horizon.length() > 300'000);
  CHECK(horizon.limit == "1000 pairs");
  CHECK(test::contains(horizon.evidence, "margin 0.0523"));
  const Certificate searched = certify(rotation(60, {1}), in(Precision::kBf16, 10));
  CHECK(searched.method == "closed reachable set");
  CHECK(searched.length() == 10);
}

TEST_CASE("a search ends when its time is up, with the words that it had completed") {
  double seconds = 0.05;  // more of it where the machine gives this thread none of it
  Certificate certificate;
  do {
    const TimeLimit time(seconds, "--time x");
    certificate = certify_reachable_set(rotation(7, {1, 2}), in(Precision::kFp32));
    CHECK(certificate.is<ProvedUpTo>());
    CHECK(certificate.limit == "the time (--time x)");
  } while (certificate.length() < 1 && (seconds *= 2) < 1);
  CHECK(certificate.length() >= 1);
}

TEST_CASE("the start is checked too: the empty word can be the failing one") {
  Network network = one_hot(counter(3, {1}));
  network.readout.next[0] = {1, 2, 0};
  const Certificate certificate = certify(network, in(Precision::kFp32));
  CHECK(certificate.is<Refuted>());
  CHECK(*certificate.failing_word() == Word{});
}

TEST_CASE("two layers are certified layer by layer, and with code books by their pairs") {
  for (const Precision precision : kPrecisions) {
    const auto closed = certify_closed_codewords(flip_flop_toggle(), in(precision));
    REQUIRE(closed);
    CHECK(closed->pairs == 2 * 3 + 2 * 2);
  }
  CHECK(certify_closed_codewords(delayed_toggle(), in(Precision::kFp32)));
  CHECK(certify_reachable_set(delayed_toggle(), in(Precision::kFp32)).pairs == 4);
  CHECK(certify(two_reflections(2), in(Precision::kFp64)).is<Proved>());
  CHECK(certify(two_reflections(5), in(Precision::kFp64, 10'000)).is<ProvedUpTo>());
}

TEST_CASE("one-hot networks of random automata are proved by n·k pairs") {
  std::mt19937_64 random(77);
  for (int i = 0; i < 30; ++i) {
    const Network network = one_hot(random_automaton(random, static_cast<State>(1 + random() % 12), 3));
    const Certificate certificate = certify(network, in(kPrecisions[i % 4]));
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed codewords");
    CHECK(certificate.pairs <= std::uint64_t{3} * network.automaton.states());
  }
}

TEST_CASE("progress can stop a search") {
  CertifyOptions options = in(Precision::kFp32);
  options.progress = [](std::uint64_t) { throw Interrupted("stop"); };
  CHECK_THROWS_AS(certify(rotation(5, all_residues(5)), options), Interrupted);
}

// Claims for any order are held against networks that are right in some orders and formats only.

namespace {

Certificate ask(const Network& network, ArithmeticName arithmetic, bool any_order, Order order = {}) {
  CertifyOptions how{.arithmetic = arithmetic, .order = order, .any_order = any_order, .max_pairs = 10'000};
  return verify({.subject = &network, .how = how}).certificate;
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
  Question question{.subject = &network, .how = {.any_order = true}, .against = Language{"turning", right}};
  CHECK_THROWS_AS(verify(question), LimitError);
  question.how.any_order = false;
  CHECK(verify(question).certificate.is<Proved>());
}

// Long words on which a network fails: what is found is wrong at its last letter and nowhere before.

TEST_CASE("a rotation that drifts is wrong after as many turns as the drift says") {
  for (const std::int64_t thousandths : {40, 10, 2}) {
    CAPTURE(thousandths);
    const Network network = turning_too_far(5, thousandths);
    const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
    ReaderLimits limits{.long_letters = 1'000'000};
    std::uint64_t letters = 0;
    const auto word = find_failing_word(*reader, every_state(network.automaton), limits, letters);
    REQUIRE(word);
    // Half a step off after 500/thousandths turns, by the letter that turns; the other one does nothing.
    const auto turns = static_cast<std::size_t>(500 / thousandths);
    CHECK(word->size() >= turns);
    CHECK(word->size() <= turns + 2);
    CHECK(letters <= limits.long_letters);
    check_fails_on(*make_evaluator(network, Precision::kFp32), network.automaton, *word);
  }
}

TEST_CASE("of what is right no word is found, and the budget is kept") {
  for (const Network& network : {rotation(7, {0, 1, 3}), symmetric(4, 3, Swap::kMap)}) {
    const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
    ReaderLimits limits{.long_letters = 100'000};
    std::uint64_t letters = 0;
    CHECK(!find_failing_word(*reader, every_state(network.automaton), limits, letters));
    CHECK(letters > 10'000);
    CHECK(letters <= limits.long_letters);
  }
}

TEST_CASE("a network that snaps is read with its snaps") {
  // Drifts half a step within 13 letters, but every fifth letter it goes on from the codeword.
  Network network = turning_too_far(5, 40);
  network.snap_every = 5;
  const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
  ReaderLimits limits{.long_letters = 100'000};
  std::uint64_t letters = 0;
  CHECK(!find_failing_word(*reader, every_state(network.automaton), limits, letters));
}

// Networks that were proved once and are wrong (tests/data/findings/): each found a hole in a proof. None may ever be
// proved again, and every failing word is replayed by the reference.

namespace {

Network found(const std::string& name) {
  return load_network(std::string(KROHN_TEST_DATA) + "/findings/" + name + ".safetensors");
}

CertifyOptions in(const char* arithmetic, const char* order) {
  return in(ArithmeticName::parse(arithmetic), 70'000, parse_order(order));
}

/// The reference's answer after the word.
std::optional<State> answer(const Network& network, const CertifyOptions& options, const Word& word) {
  if (!options.order.is_sequential())
    return reference_reading(network, options.arithmetic, options.form, options.order, word).answers.back();
  const auto evaluator = options.arithmetic.is_exact() ? make_evaluator(network, options.arithmetic)
                                                       : reference_evaluator(network, options.arithmetic);
  std::optional<State> last = evaluator->current();
  for (const Letter letter : word) last = evaluator->step(letter);
  return last;
}

}  // namespace

TEST_CASE("networks that slipped through a hole are refuted, on the word that shows it") {
  struct Fact {
    const char *name, *arithmetic, *order;
    Word word;
  };
  for (const auto& [name, arithmetic, order, word] : {
           // The decoder took a hint for an answer: squares that overflow, squares that underflow.
           Fact{"hint_overflow", "fp64", "sequential", {0}},
           {"hint_underflow", "fp64", "sequential", {0}},
           // 256 + 1 = 256 in bf16 hid behind a bound of rounded results.
           {"saturated", "bf16", "scan", {0, 0}},
           {"saturated", "bf16", "chunked:64", {0, 0}},
           {"saturated", "bf16", "doubling", {0, 0, 0}},
           // 2^53 + 1 + 1 = 2^53 in the fp64 of the bound itself.
           {"rounded_bound", "fp64", "scan", {0, 1}},
           {"rounded_bound", "fp64", "chunked:2", {0, 1}},
           {"rounded_bound", "fp64", "chunked:64", {0, 1}},
           // The third of three candidates was never compared with the second.
           {"tie_exact", "exact", "sequential", {0}},
           // A subnormal number: right to refute, unless the processor flushes them to zero.
           {"subnormal", "fp32", "sequential", {0}},
       }) {
    CAPTURE(std::string(name));
    CAPTURE(std::string(order));
    const Network network = found(name);
    const CertifyOptions options = in(arithmetic, order);
    const Certificate certificate = certify(network, options);
    REQUIRE(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
    CHECK(*certificate.failing_word() == word);
    CHECK(answer(network, options, word) != network.automaton.run(word));
  }
}

TEST_CASE("a block that starts at an H_0 far from its codeword is not one that starts at the codeword") {
  const Network network = found("snap_far_start");
  const CertifyOptions options = in("fp32", "sequential");
  CHECK_FALSE(certify_snapped(network, options).has_value());
  const Certificate certificate = certify(network, options);
  REQUIRE(!certificate.is<Proved>());
  if (certificate.is<Refuted>())
    CHECK(answer(network, options, *certificate.failing_word()) != network.automaton.run(*certificate.failing_word()));
  else
    CHECK(certificate.length() < 17);
  const Letter last = network.automaton.letters() - 2;  // the strongest shear
  check_fails_on(*reference_evaluator(network, options.arithmetic), network.automaton, Word(17, last));
}
