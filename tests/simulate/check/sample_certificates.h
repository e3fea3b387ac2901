// tests/simulate/check/sample_certificates.h — one certificate of each kind for small networks, for the tests of the
// file and of the re-checker.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"

namespace krohn::hand_built {

struct SampleCertificate {
  std::string name;
  Network network;
  Certificate certificate;
};

inline Certificate sampled_certificate(ArithmeticName arithmetic, const SampledWords& words) {
  Certificate certificate{.arithmetic = arithmetic, .method = "sampled", .letters_tested = words.words * words.length};
  certificate.proof = words;
  return certificate;
}

/// The first random word of the seed on which the network fails, as a beginning that is made again.
inline Certificate random_refutation(const Network& network, ArithmeticName arithmetic, std::uint64_t seed) {
  const auto evaluator = make_evaluator(network, arithmetic);
  const RandomWord word(network.automaton.letters(), seed);
  Certificate certificate{.claim = Refuted{}, .arithmetic = arithmetic};
  FailingRun run{RandomBeginning{seed, 0, 0}, network.automaton.initial(), evaluator->current()};
  while (run.given == run.expected) {
    const Letter letter = word.at(run.random->letters++);
    run.expected = network.automaton.next(run.expected, letter);
    run.given = evaluator->step(letter);
  }
  certificate.proof = run;
  return certificate;
}

/// The verdict on the network against the language.
inline Certificate against(const Network& network, const Dfa& language, ArithmeticName arithmetic) {
  Question question{.subject = &network, .how = {.arithmetic = arithmetic}, .against = Language{"another", language}};
  return verify(question).certificate;
}

inline std::vector<SampleCertificate> sample_certificates() {
  std::vector<SampleCertificate> samples;
  const auto add = [&](const std::string& name, const Network& network, Certificate certificate) {
    samples.push_back({name, network, with_steps(std::move(certificate), network)});
  };
  const Network swaps = symmetric(3, 2, Swap::kUnnormalised), turns = rotation(3, {0, 1, 2});
  const Network quarters = rotation(4, {1, 2}), wraps = wrapping_counter(4, {1, 3}, 0, 64);
  const Network cascade = flip_flop_toggle(), fine = rotation(5, {1, 2}), coarse = rotation(60, {7, 0});
  add("one layer closes", swaps, *certify_closed_codewords(swaps, in(Precision::kBf16)));
  add("two layers close", cascade, *certify_closed_codewords(cascade, in(Precision::kFp32)));
  add("dense weights close", swaps, *certify_closed_codewords(swaps, in(Precision::kFp16, 100'000, {}, Form::kDense)));
  const auto in_any_order = [&](const std::string& name, const Network& network) {
    add(name, network, std::get<Certificate>(certify_any_order(network, in(Precision::kBf16))));
  };
  in_any_order("any order, maps", swaps);
  in_any_order("any order, moves", symmetric(3, 2, Swap::kMap));
  in_any_order("any order, additions", cascade);
  Certificate tuples = *certify_closed_codewords(cascade, in(Precision::kFp32));
  std::get<ClosedCodewords>(tuples.proof).by_induction = false;
  add("two layers close on the tuples that words reach", cascade, tuples);
  add("pairs close", turns, certify_reachable_set(turns, in(Precision::kBf16)));
  add("pairs close with code books", two_reflections(2),
      certify_reachable_set(two_reflections(2), in(Precision::kBf16)));
  add("open", fine, certify_reachable_set(fine, in(Precision::kFp32, 200)));
  add("refuted", coarse, certify(coarse, in(Precision::kBf16)));
  add("refuted by a random word", coarse, random_refutation(coarse, Precision::kBf16, 4));
  add("another language", turns, against(turns, counter(3, {0, 2, 1}), Precision::kFp32));
  Network silent = turns;  // its own automaton says that no letter does anything
  silent.automaton = counter(3, {0, 0, 0});
  add("its language, not its automaton's", silent, against(silent, counter(3, {0, 1, 2}), Precision::kBf16));
  add("integers close", wraps, *certify_closed_codewords(wraps, in(IntegerType{8, false, false})));
  add("pairs of integers close", quarters, certify_reachable_set(quarters, in(IntegerType{16, true, true})));
  add("refuted in integers", wraps, certify(wraps, in(IntegerType{8, false, true})));
  add("sampled", fine, sampled_certificate(Precision::kFp32, {7, 3, 100}));
  return samples;
}

}  // namespace krohn::hand_built
