#include "tools/krohn/models/model_in_motion.h"

#include <algorithm>
#include <utility>

#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/prove/machine/reader_run.h"

namespace krohn {
namespace {

class NetworkInMotion final : public ModelInMotion {
 public:
  explicit NetworkInMotion(std::unique_ptr<Evaluator> network) : network_(std::move(network)) {}

  void reset() override { network_->reset(); }
  std::optional<State> step(Letter letter) override { return network_->step(letter); }
  void run(std::span<const Letter> letters, std::span<State> states) override { network_->run(letters, states); }
  std::optional<State> current() const override { return network_->current(); }
  LetterReader::Missing missing() const override { return network_->missing(); }

 private:
  std::unique_ptr<Evaluator> network_;
};

class ReaderInMotion final : public ModelInMotion {
 public:
  explicit ReaderInMotion(ReadBeside beside)
      : beside_(std::move(beside)), run_(*beside_.reader, beside_.tracked), state_(beside_.automaton.initial()) {}
  ReaderInMotion(const ReaderInMotion&) = delete;
  ReaderInMotion& operator=(const ReaderInMotion&) = delete;

  void reset() override {
    run_ = ReaderRun(*beside_.reader, beside_.tracked);
    state_ = beside_.automaton.initial();
  }

  std::optional<State> step(Letter letter) override {
    if (!run_.read(letter)) beside_.refuse(letter);
    state_ = beside_.automaton.next(state_, letter);
    return current();
  }

  std::optional<State> current() const override {
    const Output said = run_.answer().output;
    if (!run_.is_asked()) return state_;
    if (said == LetterReader::kNoAnswer) return std::nullopt;
    if (said == beside_.outputs[state_]) return state_;
    const auto found = std::ranges::find(beside_.outputs, said);
    if (found == beside_.outputs.end()) return std::nullopt;
    return static_cast<State>(found - beside_.outputs.begin());
  }

  LetterReader::Missing missing() const override {
    return run_.answer().output == LetterReader::kNoAnswer ? run_.answer().missing : LetterReader::Missing::kOther;
  }

 private:
  ReadBeside beside_;
  ReaderRun run_;
  State state_;  ///< the automaton's
};

}  // namespace

std::unique_ptr<ModelInMotion> network_in_motion(std::unique_ptr<Evaluator> network) {
  return std::make_unique<NetworkInMotion>(std::move(network));
}

std::unique_ptr<ModelInMotion> reader_in_motion(ReadBeside beside) {
  return std::make_unique<ReaderInMotion>(std::move(beside));
}

std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint checkpoint, Precision precision) {
  std::unique_ptr<LetterReader> reader = checkpoint_reader(checkpoint, CheckpointModel(checkpoint, precision));
  const std::vector<std::uint32_t>& tokens = checkpoint.tokens.of_state;
  return reader_in_motion(
      {std::move(reader), tracked_by(checkpoint), *checkpoint.automaton, {tokens.begin(), tokens.end()}});
}

}  // namespace krohn
