#include "krohn/simulate/evaluate/quantise.h"

#include <doctest/doctest.h>

#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/scratch.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;
using krohn::test::Scratch;

namespace {

constexpr Precision kFormats[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

std::vector<Network> sample_networks() {
  std::mt19937_64 random(31);
  std::vector<Network> networks{
      one_hot(random_automaton(random, 6, 3)), rotation(7, all_residues(7)), symmetric(4, 3, Swap::kUnit),
      symmetric(4, 1, Swap::kDoubled),         two_reflections(5),           flip_flop_toggle()};
  Network dense = rotation(5, {1, 2});
  for (Transition& transition : dense.layers[0].transitions) {
    transition.a = DenseMatrix{to_dense(transition.a).cast<double>()};
    transition.b = Eigen::MatrixXd::Constant(2, 1, 0.1);
  }
  networks.push_back(dense);
  return networks;
}

void check_same_course(const Network& a, const Network& b, ArithmeticName arithmetic) {
  const auto one = make_evaluator(a, arithmetic), other = make_evaluator(b, arithmetic);
  CHECK(one->numbers() == other->numbers());
  const RandomWord word(a.automaton.letters(), 5);
  for (std::uint64_t t = 0; t < 100; ++t) {
    REQUIRE(one->step(word.at(t)) == other->step(word.at(t)));
    REQUIRE(one->numbers() == other->numbers());
  }
}

const Reflection& first_factor(const Network& network) {
  return std::get<ReflectionProduct>(network.layers.back().transitions[0].a).factors[0];
}

}  // namespace

TEST_CASE("a quantised network computes in its format what the network did, and needs no more rounding") {
  for (const Network& network : sample_networks())
    for (const Precision format : kFormats) {
      CAPTURE(to_string(format));
      const Network rounded = quantise(network, format);
      CHECK_NOTHROW(validate(rounded));
      CHECK((rounded.provenance.note == "weights rounded to " + to_string(format)) == (format != Precision::kFp64));
      for (const ArithmeticName arithmetic : ArithmeticName::all())
        if (arithmetic.storage() == format && arithmetic != ArithmeticName::tf32())
          check_same_course(network, rounded, arithmetic);
      const Network again = quantise(rounded, format);
      for (std::size_t k = 0; k < rounded.layers.size(); ++k)
        for (std::size_t i = 0; i < rounded.layers[k].transitions.size(); ++i)
          CHECK(again.layers[k].transitions[i].a == rounded.layers[k].transitions[i].a);
    }
}

TEST_CASE("keys become numbers of the format: 1/√2 in bf16 is 181/256") {
  const Reflection unit_key = first_factor(quantise(symmetric(5, 1, Swap::kUnit), Precision::kBf16));
  CHECK(unit_key.entries == std::vector<Reflection::Entry>{{0, 181}, {1, -181}});
  CHECK(unit_key.scale_squared_denominator == 256 * 256);
  CHECK(unit_key.beta == 2);
  const Reflection doubled = first_factor(quantise(symmetric(5, 1, Swap::kDoubled), Precision::kBf16));
  CHECK(doubled.entries == first_factor(symmetric(5, 1, Swap::kDoubled)).entries);
  CHECK(doubled.scale_squared_denominator == 4);
  Network thin = two_reflections(5);
  std::get<ReflectionProduct>(thin.layers[1].transitions[0].a).factors[0].angle = Turn{1, 10'000}.normalised();
  CHECK_NOTHROW(quantise(thin, Precision::kBf16));
  CHECK_THROWS_AS(quantise(thin, Precision::kFp32), InputError);
}

TEST_CASE("a file keeps the rounded weights and their name") {
  const Scratch scratch("quantised");
  const std::string path = (scratch / "quantised.safetensors").string();
  for (const Network& network : sample_networks()) {
    const Network rounded = quantise(network, Precision::kBf16);
    save_network(rounded, path);
    const Network loaded = load_network(path);
    CHECK(loaded.provenance.note == "weights rounded to bf16");
    for (std::size_t k = 0; k < rounded.layers.size(); ++k) {
      CHECK(loaded.layers[k].initial == rounded.layers[k].initial);
      for (std::size_t i = 0; i < rounded.layers[k].transitions.size(); ++i)
        CHECK(loaded.layers[k].transitions[i].a == rounded.layers[k].transitions[i].a);
    }
  }
}

TEST_CASE("rounded weights are proved where rounding changes nothing, and refuted where it tells") {
  CertifyOptions options;
  options.arithmetic = Precision::kFp32;
  options.max_pairs = 10'000;
  CHECK(certify(quantise(symmetric(5, 4, Swap::kDoubled), Precision::kBf16), options).method == "closed codewords");
  // (255/256, 107/1024) is no rotation by 6 degrees: every letter adds an error that fp32 would not make.
  const Certificate certificate = certify(quantise(rotation(60, {1}), Precision::kBf16), options);
  CHECK(certificate.is<Refuted>());
  REQUIRE(certificate.failing_word());
  CHECK(certificate.failing_word()->size() < 1000);
  options.max_pairs = 2000;
  CHECK_FALSE(certify(rotation(60, {1}), options).is<Refuted>());
}

TEST_CASE("a weight that the format cannot hold is refused") {
  Network network = one_layer(counter(2, {1}), unit(2, 0), {DiagonalMatrix{{1e6, 1}}}, {unit(2, 0), unit(2, 1)});
  CHECK_NOTHROW(quantise(network, Precision::kBf16));
  CHECK_THROWS_AS(quantise(network, Precision::kFp16), InputError);
}
