#include "krohn/simulate/closing/proof_rounds.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "krohn/simulate/closing/pull_letters.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

bool is_answered(const BatchLoss& validation) {
  constexpr double kNearlyAll = 0.99;
  return static_cast<double>(validation.right) >= kNearlyAll * static_cast<double>(validation.targets);
}

}  // namespace

void ProofRounds::before_step(Trainer& trainer, const Task& task) {
  constexpr double kPull = 0.5;
  if (trainer.steps() == 0 || trainer.steps() % trainer.options().validate_every != 0) return;
  if (!is_answered(trainer.validation())) return;
  const auto settled = trainer.settled_copy();
  const SequenceModel<float>& model = settled ? *settled : trainer.model();
  attempt(model, trainer, task);
  if (is_proved()) return;
  const auto& seen = last_->closing.seen;
  if (!seen) return;
  if (const auto pulled = pulled_letters(model, task, *seen, kPull); !pulled.empty()) trainer.go_on_from(0, pulled);
}

void ProofRounds::at_end(const Trainer& trainer, const Task& task) {
  const bool has_ended = trainer.state() == Trainer::State::kStopped || trainer.state() == Trainer::State::kFinished;
  if (!has_ended || is_proved()) return;
  if (is_answered(trainer.validation())) {
    attempt(trainer.model(), trainer, task);
    is_made_again_ = true;
  }
  if (!is_proved()) against_ = what_stands_against(trainer.model(), task);
}

void ProofRounds::attempt(const SequenceModel<float>& model, const Trainer& trainer, const Task& task) {
  last_ = close_and_prove(model, task, trainer.options());
  ++count_;
  is_made_again_ = is_proved();
}

std::string ProofRounds::why_not() const {
  if (!ruled_out_.empty()) return ruled_out_;
  const std::string against = against_.empty() ? "" : "; " + against_;
  if (!last_) return "validation never answered 99 % correctly, so that nothing was rounded" + against;
  return is_proved() ? "" : last_->why_not() + against;
}

namespace {

/// Of a run that ends without a proof: itself, and twice its options again.
constexpr std::uint64_t kMostParts = 3;

}  // namespace

CertifiedRun train_to_proof(const Task& task, std::string_view model, const TrainOptions& options,
                            const std::function<void()>& on_step) {
  const auto start = std::chrono::steady_clock::now();
  CertifiedRun run;
  const auto untrained = make_model<float>(model, task, options.seed);
  if (std::string why = why_never_rounded(*untrained, task); !why.empty()) {
    run.record.rate = options.optimiser.learning_rate;
    run.record.seed = options.seed;
    run.record.end = "ruled out";
    run.rounds.rule_out(std::move(why));
    return run;
  }
  std::uint64_t steps = 0;
  std::vector<float> reached;
  for (std::uint64_t part = 0; part < kMostParts; ++part) {
    TrainOptions own = options;
    own.seed += part << 32;  // another draw
    if (own.sample_seed) *own.sample_seed += part << 32;
    Trainer trainer(task, model, own, [&](SequenceModel<float>& begun) {
      if (part > 0) std::ranges::copy(reached, begun.parameters().begin());
    });
    while (trainer.state() == Trainer::State::kRunning) {
      run.rounds.before_step(trainer, task);
      if (run.rounds.is_proved()) break;
      trainer.step();
      if (on_step) on_step();
    }
    run.rounds.at_end(trainer, task);
    steps += trainer.steps();
    run.record = record_of(trainer, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (run.rounds.is_proved() || trainer.state() == Trainer::State::kDiverged) break;
    reached.assign(trainer.model().parameters().begin(), trainer.model().parameters().end());
  }
  run.record.seed = options.seed;
  run.record.steps = steps;
  return run;
}

}  // namespace krohn
