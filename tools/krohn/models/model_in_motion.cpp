#include "tools/krohn/models/model_in_motion.h"

#include <algorithm>
#include <utility>

#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

ModelInMotion::ModelInMotion(ReadBeside beside)
    : beside_(std::move(beside)), run_(*beside_.reader, beside_.tracked), state_(beside_.automaton.initial()) {}

void ModelInMotion::reset() {
  run_ = ReaderRun(*beside_.reader, beside_.tracked);
  state_ = beside_.automaton.initial();
}

std::optional<State> ModelInMotion::step(Letter letter) {
  if (!run_.read(letter)) beside_.refuse(letter);
  state_ = beside_.automaton.next(state_, letter);
  return current();
}

void ModelInMotion::run(std::span<const Letter> letters, std::span<State> states) {
  for (std::size_t t = 0; t < letters.size(); ++t) states[t] = step(letters[t]).value_or(kNoState);
}

std::optional<State> ModelInMotion::current() const {
  const Output said = run_.answer().output;
  if (!run_.is_asked()) return state_;
  if (said == LetterReader::kNoAnswer) return std::nullopt;
  if (said == beside_.outputs[state_]) return state_;
  const auto found = std::ranges::find(beside_.outputs, said);
  if (found == beside_.outputs.end()) return std::nullopt;
  return static_cast<State>(found - beside_.outputs.begin());
}

LetterReader::Missing ModelInMotion::missing() const {
  return run_.answer().output == LetterReader::kNoAnswer ? run_.answer().missing : LetterReader::Missing::kOther;
}

}  // namespace krohn
