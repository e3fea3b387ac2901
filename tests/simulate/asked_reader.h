// tests/simulate/asked_reader.h — what `verify` says of whatever reads letters.
#pragma once

#include "krohn/simulate/prove/verify.h"

namespace krohn {

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
