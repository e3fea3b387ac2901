#include "tools/krohn/models/model_in_motion.h"

#include <algorithm>
#include <utility>

#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"

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

std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint checkpoint, Precision precision) {
  std::unique_ptr<LetterReader> reader = checkpoint_reader(checkpoint, CheckpointModel(checkpoint, precision));
  const std::vector<std::uint32_t>& tokens = checkpoint.tokens.of_state;
  return std::make_unique<ModelInMotion>(
      ReadBeside{std::move(reader), tracked_by(checkpoint), *checkpoint.automaton, {tokens.begin(), tokens.end()}});
}

}  // namespace krohn
