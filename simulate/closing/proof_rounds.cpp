#include "krohn/simulate/closing/proof_rounds.h"

#include <chrono>

namespace krohn {

void ProofRounds::before_step(const Trainer& trainer, const Task& task) {
  if (trainer.steps() > 0 && trainer.steps() % trainer.options().validate_every == 0) attempt(trainer, task);
}

void ProofRounds::at_end(const Trainer& trainer, const Task& task) {
  const bool has_ended = trainer.state() == Trainer::State::kStopped || trainer.state() == Trainer::State::kFinished;
  if (has_ended && !is_proved()) attempt(trainer, task);
}

void ProofRounds::attempt(const Trainer& trainer, const Task& task) {
  constexpr double kNearlyAll = 0.99;
  const BatchLoss& validation = trainer.validation();
  if (static_cast<double>(validation.right) < kNearlyAll * static_cast<double>(validation.targets)) return;
  last_ = close_and_prove(trainer.model(), task, trainer.options());
  ++count_;
}

std::string ProofRounds::why_not() const {
  if (!last_) return "validation never answered 99 % correctly, so that nothing was rounded";
  return last_->why_not();
}

CertifiedRun train_to_proof(const Task& task, std::string_view model, const TrainOptions& options,
                            const std::function<void()>& on_step) {
  const auto start = std::chrono::steady_clock::now();
  Trainer trainer(task, model, options);
  CertifiedRun run;
  while (trainer.state() == Trainer::State::kRunning) {
    run.rounds.before_step(trainer, task);
    if (run.rounds.is_proved()) break;
    trainer.step();
    if (on_step) on_step();
  }
  run.rounds.at_end(trainer, task);
  run.record = record_of(trainer, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return run;
}

}  // namespace krohn
