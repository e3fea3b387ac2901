// simulate/train/trainer.h — trains a model on a task: AdamW on batches drawn anew at every step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/optimiser.h"

namespace krohn {

struct TrainOptions {
  LengthRange lengths{2, 10};
  std::uint32_t words = 64;  ///< of a batch
  OptimiserOptions optimiser;
  /// The targets' smoothing (simulate/tasks/task.h), also in validation. Without it states grow, and long
  /// words teach nothing (docs/MATH.md §8); with it the loss does not fall to 0.
  double smoothing = 0;
  /// λ of the twin readings (SequenceModel::twin_loss) by which a cell learns to contract, with noise of 0.1; both
  /// grow from 0 over the first 30 % of the steps. Where a task answers after every letter, every other word of a step
  /// then ends in repetitions. 0: words are read once, as in validation.
  double contract = 0;
  /// A proof of what contracts (simulate/closing) must hold for every order of sums, in fp32, bf16 or fp16; without:
  /// for the stated order, in fp32.
  std::optional<Precision> any_order_in;
  std::uint64_t samples = 0;  ///< train on so many samples again and again; 0: on new ones at every step
  double stop_at = 1e-5;      ///< validation loss below which training ends
  std::uint64_t validate_every = 500;
  /// Validations without a smaller loss than before after which training ends, with the parameters of the smallest; 0:
  /// training goes on, and its last parameters count.
  std::uint64_t patience = 0;
  /// For the samples that validate; without: those of training.
  std::optional<LengthRange> validation_lengths;
  std::uint32_t validation_words = 1024;  ///< that validate
  bool validate_last = false;             ///< of every word that validates only the last answer counts
  /// The parameters that count are those of the validation with the most right answers, the first of equals, and a run
  /// ends where all are right; every validation has words of its own, and none is made before the first step. Never
  /// with patience.
  bool keep_most_right = false;
  std::uint64_t seed = 1;                    ///< of the parameters, and without sample_seed of the samples
  std::optional<std::uint64_t> sample_seed;  ///< runs that differ in `seed` alone then read the same samples
  unsigned threads = 1;                      ///< of a step; 0: as many as OpenMP gives. They change no bit
  /// The name of the first parameters, where they are not random: checkpoints distinguish runs by it.
  std::string start;

  std::uint64_t seed_of_samples() const { return sample_seed.value_or(seed); }
};

/// One training run, a step at a time. Deterministic: model, task, options and the number of steps done determine every
/// bit of the parameters, interrupted and resumed or not.
class Trainer {
 public:
  enum class State : std::uint8_t { kRunning, kStopped, kFinished, kDiverged };

  /// `task` must outlive the trainer. Throws InputError when the task has no length in a range, for models that are no
  /// cell and are to contract, or as make_model does.
  /// `prepare` is given the model with its random parameters, to change them. A run of no steps only validates.
  Trainer(const Task& task, std::string_view model, const TrainOptions& options,
          const std::function<void(SequenceModel<float>&)>& prepare = {});

  /// One step of the optimiser, with a validation batch now and then. A loss or gradient that is not finite makes the
  /// run kDiverged and leaves the parameters of the last validation.
  void step();

  // For who makes the steps elsewhere: a device.
  const TrainOptions& options() const { return options_; }
  const AdamW& optimiser() const { return optimiser_; }
  /// The batch of step 0, 1, ….
  TrainingBatch batch_of(std::uint64_t step) const;
  /// Steps until the next validation, or the end.
  std::uint64_t steps_to_validation() const;
  /// `steps` more steps were made, none past the next validation, and led to these parameters. Nothing unless running.
  void go_on_from(std::uint64_t steps, std::span<const float> parameters);
  /// The optimiser's memory after them.
  void remember(AdamW optimiser) { optimiser_ = std::move(optimiser); }
  /// A loss or a gradient was not finite. Nothing unless running.
  void diverge();

  State state() const { return state_; }
  /// True if it diverged on the words of a validation, which may be longer than those of the steps.
  bool validation_diverged() const { return validation_diverged_; }
  std::uint64_t steps() const { return steps_; }
  const BatchLoss& last_loss() const { return loss_; }
  /// For the last validation, or with patience of the best: samples that no step sees.
  const BatchLoss& validation() const { return validation_; }
  const SequenceModel<float>& model() const { return *model_; }
  /// A copy of a model whose scale is free, settled as the end of the run would settle it; of other models nothing.
  std::unique_ptr<SequenceModel<float>> settled_copy() const;
  /// The model, out of a run that has ended; the trainer is not to be used any more.
  std::unique_ptr<SequenceModel<float>> take_model() { return std::move(model_); }

  /// Everything that a resumed run needs. Throws InputError when the tensors are of another run, or of more steps.
  TensorFile checkpoint() const;
  void resume(const TensorFile& checkpoint);

 private:
  TrainingBatch draw(LengthRange lengths, std::uint64_t first_sample, std::uint32_t words) const;
  std::string fingerprint() const;
  void validate();
  void keep(const BatchLoss& validation);
  bool all_right() const;
  /// One step down the gradient; false where it diverges.
  bool learn(const TrainingBatch& batch);
  BatchLoss loss_of(const TrainingBatch& batch);
  void end_step();
  void return_to_kept(State state);
  void settle(SequenceModel<float>& model) const;

  const Task& task_;
  TrainOptions options_;
  std::unique_ptr<SequenceModel<float>> model_;
  AdamW optimiser_;
  std::vector<float> gradient_, kept_;
  OuterGradient<float> outer_;            ///< of parameters for which gradient_ has always been 0
  std::uint64_t steps_ = 0, waited_ = 0;  ///< waited: validations since the best
  State state_ = State::kRunning;
  bool validation_diverged_ = false;
  BatchLoss loss_, validation_;
};

/// "running", "stopped early", "finished", "diverged".
std::string to_string(Trainer::State state);

}  // namespace krohn
