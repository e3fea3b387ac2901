// Networks that were proved once and are wrong (tests/data/findings/): each found a hole in a proof. None may ever be
// proved again, and every failing word is replayed by the reference.
#include <doctest/doctest.h>

#include <string>

#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/certify_options.h"
#include "tests/simulate/reference_evaluator.h"

using namespace krohn;

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
  const auto evaluator = reference_evaluator(network, options.arithmetic);
  State state = network.automaton.initial();
  for (int t = 1; t <= 17; ++t) {
    state = network.automaton.next(state, last);
    CHECK((evaluator->step(last) == state) == (t < 17));
  }
}
