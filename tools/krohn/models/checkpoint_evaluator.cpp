#include "tools/krohn/models/checkpoint_evaluator.h"

#include <algorithm>
#include <bit>

#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"

namespace krohn {
namespace {

/// The state that threads share.
struct Loaded {
  Loaded(Checkpoint given, Precision precision) : checkpoint(std::move(given)), model(checkpoint, precision) {
    reader = checkpoint_reader(checkpoint, model);
  }
  Checkpoint checkpoint;
  CheckpointModel model;
  std::unique_ptr<LetterReader> reader;
};

class CheckpointEvaluator final : public Evaluator {
 public:
  explicit CheckpointEvaluator(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) { reset(); }

  void reset() override {
    memory_ = loaded_->reader->start();
    state_ = automaton().initial();
    // A model without a token that begins words has said nothing yet, and nothing is asked of it.
    says_ = loaded_->checkpoint.tokens.begin ? state_of(loaded_->reader->answer_at_start()) : state_;
  }

  std::optional<State> step(Letter letter) override {
    state_ = automaton().next(state_, letter);
    says_ = state_of(loaded_->reader->step(letter, memory_, true));
    return says_;
  }

  void run(std::span<const Letter> letters, std::span<State> states) override {
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = step(letters[t]).value_or(kNoState);
  }

  std::optional<State> current() const override { return says_; }

  LetterReader::Missing missing() const override { return missing_; }

  std::vector<double> numbers() const override {
    std::vector<double> numbers;
    for (const std::uint32_t word : memory_) numbers.push_back(double{std::bit_cast<float>(word)});
    return numbers;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<CheckpointEvaluator>(loaded_); }

 private:
  const Dfa& automaton() const { return *loaded_->checkpoint.automaton; }

  std::optional<State> state_of(const LetterReader::Answer& answer) {
    const std::vector<std::uint32_t>& tokens = loaded_->checkpoint.tokens.of_state;
    const Output token = answer.output;
    missing_ = token == LetterReader::kNoAnswer ? answer.missing : LetterReader::Missing::kOther;
    if (token == LetterReader::kNoAnswer) return std::nullopt;
    if (tokens[state_] == token) return state_;
    const auto found = std::ranges::find(tokens, token);
    if (found == tokens.end()) return std::nullopt;
    return static_cast<State>(found - tokens.begin());
  }

  std::shared_ptr<const Loaded> loaded_;
  LetterReader::Memory memory_;
  State state_ = 0;  ///< the automaton's
  std::optional<State> says_;
  LetterReader::Missing missing_ = LetterReader::Missing::kTie;
};

}  // namespace

std::unique_ptr<Evaluator> checkpoint_evaluator(Checkpoint checkpoint, Precision precision) {
  return std::make_unique<CheckpointEvaluator>(std::make_shared<const Loaded>(std::move(checkpoint), precision));
}

}  // namespace krohn
