#include "krohn/simulate/check/recheck.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "krohn/groups/error.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/check/sample_certificates.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// RecheckedNumbers of all sizes, many of them halfway between two of a small format.
double random_number(std::mt19937_64& random) {
  const auto mantissa = static_cast<double>(static_cast<std::int64_t>(random() >> 40) - (1 << 23));
  const int exponent = static_cast<int>(random() % 60) - 50;
  return std::ldexp(std::round(mantissa / 8192) + static_cast<double>(random() % 3) / 2, exponent);
}

float random_float(std::mt19937_64& random) {
  const auto mantissa = static_cast<float>(static_cast<std::int32_t>(random() >> 40) - (1 << 23));
  return std::ldexp(mantissa, static_cast<int>(random() % 40) - 40);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("the re-checker's arithmetic is the prover's") {
  std::mt19937_64 random(11);
  for (const ArithmeticName name : ArithmeticName::all()) {
    CAPTURE(to_string(name));
    const DeterministicArithmetic plain(to_string(name));
    with_arithmetic(name, [&](auto type) {
      using A = decltype(type);
      for (int i = 0; i < 20'000; ++i) {
        const long double weight = static_cast<long double>(random_number(random)) * (1 + 0x1p-60L);
        const auto a = round_weight<A>(weight);
        const auto b = A::load(round_weight<A>(random_number(random)));
        const auto c = A::add(b, A::load(round_weight<A>(random_number(random))));
        CAPTURE(to_double(a));
        CAPTURE(to_double(b));
        CAPTURE(to_double(c));
        REQUIRE(plain.weight(weight) == to_double(a));
        REQUIRE(same(plain.product(to_double(a), to_double(b)), to_double(A::product(a, b))));
        REQUIRE(same(plain.sum(to_double(b), to_double(c)), to_double(A::add(b, c))));
        REQUIRE(
            same(plain.sum_of_product(to_double(c), to_double(a), to_double(b)), to_double(A::add_product(c, a, b))));
        REQUIRE(same(plain.store(to_double(c)), to_double(A::store(c))));
      }
    });
  }
}

TEST_CASE("fused operations round once") {
  std::mt19937_64 random(12);
  const DeterministicArithmetic fp64("fp64+fma"), fp32("fp32+fma"), apart("fp32");
  int differ = 0;
  for (int i = 0; i < 20'000; ++i) {
    const float a = random_float(random), b = random_float(random);
    const float c = i % 2 == 0 ? random_float(random) : -std::nextafter(a * b, 0.0F);
    REQUIRE(fp32.sum_of_product(c, a, b) == std::fma(a, b, c));
    REQUIRE(fp64.sum_of_product(c, a, b) == std::fma(double{a}, double{b}, double{c}));
    differ += fp32.sum_of_product(c, a, b) != apart.sum_of_product(c, a, b);
  }
  CHECK(differ > 1000);
  const double halfway = 0x1.000001p0;
  for (const double tiny : {0x1p-100, -0x1p-100})  // 1.0625² is halfway in bf16
    CHECK(DeterministicArithmetic("bf16+fma").sum_of_product(tiny, 1.0625, 1.0625) == (tiny > 0 ? 0x1.22p0 : 0x1.2p0));
  CHECK(DeterministicArithmetic("fp32").weight(halfway) == 1);
  CHECK(DeterministicArithmetic("fp32").weight(static_cast<long double>(halfway) + 0x1p-60L) == 0x1.000002p0);
}

TEST_CASE("mixed formats accumulate in fp32 and store once; tf32 shortens factors") {
  const DeterministicArithmetic mixed("bf16/fp32"), short_factors("tf32");
  CHECK(mixed.weight(1 + 0x1p-9L) == 1);
  CHECK(mixed.sum(1, 0x1p-20) == 1 + 0x1p-20);
  CHECK(mixed.product(1 + 0x1p-20, 1 + 0x1p-20) == 1 + 0x1p-19);
  CHECK(mixed.store(1 + 0x1p-20) == 1);
  CHECK(short_factors.product(1 + 0x1p-12, 3) == 3);
  CHECK(short_factors.sum(1, 0x1p-12) == 1 + 0x1p-12);
  CHECK(short_factors.weight(1 + 0x1p-20L) == 1 + 0x1p-20);
  for (const char* name : {"", "fp8", "fp32+", "fp32/fp32", "fp64/fp32", "tf32+fma", "bf16/fp64", "fp16+fma+fma"})
    CHECK_THROWS_AS(DeterministicArithmetic{name}, InputError);
}

TEST_CASE("the re-checker's network is the reference, number for number") {
  std::mt19937_64 random(13);
  std::vector<Network> networks{one_hot(random_automaton(random, 5, 3)),
                                symmetric(4, 2, Swap::kUnit),
                                symmetric(3, 1, Swap::kDoubled),
                                rotation(7, {0, 1, 3}),
                                two_reflections(5),
                                flip_flop_toggle(),
                                delayed_toggle()};
  for (std::size_t i = 0; i < networks.size(); ++i)
    for (const ArithmeticName name : ArithmeticName::all())
      for (const Form form : {Form::kStructured, Form::kDense}) {
        CAPTURE(i);
        CAPTURE(to_string(name));
        const RecheckedNetwork plain(networks[i], to_string(name), form);
        const auto reference = reference_evaluator(networks[i], name, form);
        RecheckedNetwork::Moment moment = plain.start();
        for (int t = 0; t < 100; ++t) {
          const auto letter = static_cast<Letter>(random() % networks[i].automaton.letters());
          moment = plain.step(moment, letter);
          REQUIRE(plain.read(moment) == reference->step(letter));
          std::vector<double> numbers;
          for (const RecheckedNumbers& layer : moment.numbers)
            numbers.insert(numbers.end(), layer.begin(), layer.end());
          REQUIRE(numbers == reference->numbers());
        }
      }
}

TEST_CASE("a certificate of each kind is established") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    const Recheck found = recheck(certificate, network);
    CHECK_MESSAGE(found.established, found.finding);
  }
}

TEST_CASE("limits are said, not taken for an answer") {
  const Network network = rotation(60, {7, 0});
  const Certificate refuted = certify(network, in_format(Precision::kBf16));
  const std::uint64_t letters = refuted.failing_word()->size();
  CHECK_THROWS_AS(recheck(refuted, network, {letters - 1}), LimitError);
  CHECK_THROWS_AS(with_steps(refuted, network, {.max_steps = letters / 2}), LimitError);
  CHECK_THROWS_AS(recheck(sampled_certificate(Precision::kFp32, {1, UINT64_MAX, UINT64_MAX}), network), LimitError);
}

TEST_CASE("random beginnings are those of RandomWord, for alphabets of all kinds") {
  // The automaton remembers the last letter, so the state after a word tells how the word was drawn.
  for (const Letter letters : {2U, 3U, 5U, 16U, 17U, 257U}) {
    CAPTURE(letters);
    std::vector<State> table;
    for (State q = 0; q < letters; ++q)
      for (State letter = 0; letter < letters; ++letter) table.push_back(letter);
    const Dfa dfa = automaton(letters, table);
    Network wrong = one_hot(dfa);
    for (Context& state : wrong.readout.next[0]) state = kNoContext;
    Certificate certificate;
    certificate.claim = Refuted{};
    const RandomWord word(letters, 9, 1);
    for (std::uint64_t length = 1; length < 40; ++length) {
      certificate.proof = FailingRun{RandomBeginning{9, 1, length}, word.at(length - 1), std::nullopt};
      CHECK(recheck(certificate, wrong).established);
    }
  }
}

TEST_CASE("the re-checker reads states as the definition does, by a table of integers or by distances") {
  // Codewords of one book or two: integers, integers with a twin, and one that is no integer.
  const std::vector<std::vector<double>> codes[] = {
      {{0, 0}, {1, 0}, {0, 1}, {-2, 3}}, {{0, 0}, {1, 0}, {-0.0, 0}, {1, 0}}, {{0, 0}, {1, 0.5}, {0, 1}, {-2, 3}}};
  std::vector<std::vector<double>> states;
  for (const double x : {-2.0, -1.0, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0})
    for (const double y : {-1.0, -0.0, 0.0, 0.5, 0.75, 1.0, 3.0}) states.push_back({x, y});
  states.push_back({std::numeric_limits<double>::infinity(), 0});
  states.push_back({0, std::numeric_limits<double>::quiet_NaN()});
  for (const auto& code : codes)
    for (const std::vector<std::uint32_t>& books : {std::vector<std::uint32_t>{}, {0, 1, 1, 0}, {0, 1, 0, 1}}) {
      Network network = rotation(4, {1});
      Layer& layer = network.layers[0];
      for (std::size_t i = 0; i < 4; ++i)
        layer.decoder.codewords[i] = Eigen::Map<const Eigen::MatrixXd>(code[i].data(), 2, 1);
      layer.decoder.book = books;
      const RecheckedNetwork plain(network, "fp64", Form::kStructured);
      for (std::uint32_t book = 0; book < (books.empty() ? 1U : 2U); ++book) {
        const NearestCodeword definition(layer, book);
        for (const std::vector<double>& state : states) {
          const Label expected = definition.reference(state);
          const std::optional<Label> found = plain.decode(0, book, state);
          REQUIRE(found.value_or(kNoLabel) == expected);
        }
      }
    }
}
