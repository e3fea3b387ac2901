// simulate/trainer.h — trains a bilinear model on a task: Adam (Kingma & Ba 2015) on batches drawn anew at every step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/bilinear_model.h"
#include "simulate/task.h"

namespace krohn {

struct TrainOptions {
  LengthRange lengths{2, 10};
  std::uint32_t words = 64;  ///< of a batch
  std::uint64_t steps = 100'000;
  double learning_rate = 1e-3;
  double clip = 0;        ///< greatest Euclidean norm of a gradient; 0: none
  double stop_at = 1e-5;  ///< validation loss below which training ends
  std::uint64_t validate_every = 500;
  std::uint64_t seed = 1;  ///< of the parameters and of the samples
  friend bool operator==(const TrainOptions&, const TrainOptions&) = default;
};

/// One training run, a step at a time. Deterministic: model, task, options and the number of steps done determine every
/// bit of the parameters, interrupted and resumed or not.
class Trainer {
 public:
  enum class State : std::uint8_t { kRunning, kStopped, kFinished, kDiverged };

  /// `task` must outlive the trainer. Throws InputError when the task has no length in the range.
  Trainer(const Task& task, const BilinearShape& shape, const TrainOptions& options);

  /// One step of the optimiser, with a validation batch now and then. A loss or gradient that is not finite makes the
  /// run kDiverged and leaves the parameters of the last validation.
  void step();

  State state() const { return state_; }
  std::uint64_t steps() const { return steps_; }
  const BatchLoss& last_loss() const { return loss_; }
  /// Of the last validation: fresh samples of the training lengths that no step sees.
  const BatchLoss& validation() const { return validation_; }
  const BilinearModel<float>& model() const { return model_; }

  /// Everything that a resumed run needs. Throws InputError when the tensors are of another run.
  TensorFile checkpoint() const;
  void resume(const TensorFile& checkpoint);

 private:
  void validate();
  void diverge();

  const Task& task_;
  TrainOptions options_;
  BilinearModel<float> model_;
  std::vector<float> gradient_, mean_, square_, kept_;
  std::uint64_t steps_ = 0;
  State state_ = State::kRunning;
  BatchLoss loss_, validation_;
};

/// "running", "stopped early", "finished", "diverged".
std::string to_string(Trainer::State state);

}  // namespace krohn
