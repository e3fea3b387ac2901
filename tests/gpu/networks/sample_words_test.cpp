#include "krohn/gpu/networks/sample_words.h"

#include <doctest/doctest.h>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "tests/gpu/samples.h"
#include "tests/simulate/formed_networks.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

void check_sample(const Network& network, SampleOptions options) {
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    CAPTURE(to_string(arithmetic));
    options.threads = 1;
    const SampleReport expected = sample(network, arithmetic, options);
    CHECK(sample_words(Place::kProcessor, network, arithmetic, options) == expected);
  }
}

}  // namespace

TEST_CASE("the kernel's words are the evaluator's: networks with a meaning") {
  for (const Network& network : meaningful_networks())
    for (const Form form : {Form::kStructured, Form::kDense}) {
      CAPTURE(to_string(form));
      check_sample(network, sample_of({0, 1, 33, 200}, 5, 3, form));
    }
  check_sample(failing_cascade(), sample_of({50, 400}, 6, 2));
}

TEST_CASE("the kernel's words are the evaluator's: every form alone and all together") {
  std::uint64_t seed = 100;
  for (const Network& network : of_every_form()) {
    CAPTURE(++seed);
    check_sample(network, sample_of({70}, 4, seed));
  }
}

TEST_CASE("odd numbers of words and letters") {
  const Network network = rotation(7, all_residues(7));
  for (const std::uint64_t words : {1, 2, 31, 32, 33}) {
    CAPTURE(words);
    const SampleOptions options = sample_of({31, 32, 97}, words, words);
    CHECK(sample_words(Place::kProcessor, network, Precision::kBf16, options) ==
          sample(network, Precision::kBf16, options));
  }
  const SampleOptions options = sample_of({127'323}, 1, 5);
  const SampleReport report = sample_words(Place::kProcessor, network, Precision::kBf16, options);
  CHECK(report == sample(network, Precision::kBf16, options));
  CHECK(report.failing_at);  // bf16 loses seven residues before that
}

TEST_CASE("what devices do not do is refused") {
  const Network network = rotation(5, all_residues(5));
  const SampleOptions options;
  const auto run = [&](const Network& subject, ArithmeticName arithmetic, const SampleOptions& how) {
    return sample_words(Place::kProcessor, subject, arithmetic, how);
  };
  CHECK_THROWS_AS(run(network, ArithmeticName::exact(), options), InputError);
  SampleOptions scan;
  scan.order = parse_order("scan");
  CHECK_THROWS_AS(run(network, Precision::kFp32, scan), InputError);
  CHECK_THROWS_AS(run(network, Precision::kFp32, sample_of({}, 1, 1)), InputError);
  Network factored = one_hot(counter(3, all_residues(3)));
  factored.layers[0].transitions[0].a = FactoredMatrix{3, {{0, 1}, {2}}, {{1, 2}, {0}}, {0, 1}};
  CHECK_THROWS_AS(run(factored, Precision::kFp32, options), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(sample_words(Place::kDevice, network, Precision::kFp32, options), SystemError);
}

TEST_CASE("words may begin with any number, as parts of a test do") {
  const Network network = rotation(60, all_residues(60));
  for (const std::uint64_t first : {1u, 5u, 1000u}) {
    CAPTURE(first);
    const SampleOptions options = sample_of({20, 3}, 9, 4);
    CHECK(sample_words(Place::kProcessor, network, Precision::kBf16, options, first) ==
          sample_from(first, network, Precision::kBf16, options));
  }
}
