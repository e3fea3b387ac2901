// tests/simulate/proving.h — the options of a proof in one line, and the verdict about a machine that reads letters.
#pragma once

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// In an arithmetic, with all else as usual.
inline CertifyOptions in(ArithmeticName arithmetic, std::uint64_t max_pairs = 20'000'000, Order order = {},
                         Form form = Form::kStructured) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = max_pairs;
  options.order = order;
  options.form = form;
  return options;
}

inline Certificate ask_reader(const LetterReader& reader, const TrackedAutomaton& tracked, Precision precision,
                              std::uint64_t max_pairs = 1'000'000, std::uint64_t long_letters = 0) {
  const ReadModel model{reader, tracked};
  Question question;
  question.subject = &model;
  question.how.arithmetic = precision;
  question.how.max_pairs = max_pairs;
  question.how.long_letters = long_letters;
  return verify(question).certificate;
}

}  // namespace krohn
