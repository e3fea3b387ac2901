// tests/simulate/proving.h — the options of a proof in one line, and the verdict about a machine that reads letters.
#pragma once

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"
#include "tests/testing.h"

namespace krohn {

/// In an arithmetic, with all else as usual.
inline CertifyOptions in(ArithmeticName arithmetic, std::uint64_t max_pairs = 20'000'000, Order order = {},
                         Form form = Form::kStructured) {
  return {.arithmetic = arithmetic, .form = form, .order = order, .max_pairs = max_pairs};
}

inline Certificate ask_reader(const LetterReader& reader, const TrackedAutomaton& tracked, Precision precision,
                              std::uint64_t max_pairs = 1'000'000, std::uint64_t long_letters = 0) {
  const ReadModel model{reader, tracked};
  const CertifyOptions how{.arithmetic = precision, .max_pairs = max_pairs, .long_letters = long_letters};
  return verify({.subject = &model, .how = how}).certificate;
}

/// The evaluator of a model of the automaton is wrong on the word, and right on all its beginnings.
inline void check_fails_on(Evaluator& evaluator, const Dfa& automaton, const Word& word) {
  State state = automaton.initial();
  for (std::size_t t = 0; t < word.size(); ++t) {
    state = automaton.next(state, word[t]);
    REQUIRE((evaluator.step(word[t]) == state) == (t + 1 < word.size()));
  }
}

}  // namespace krohn
