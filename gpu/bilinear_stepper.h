// gpu/bilinear_stepper.h — many bilinear models of one shape trained side by side, on a CUDA device or on the processor
// in its place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/bilinear_training.cuh"
#include "gpu/place.h"
#include "simulate/training_batch.h"

namespace krohn {

/// What one model does in one step.
struct ModelStep {
  TrainingBatch batch;
  float rate = 0;  ///< with Adam's corrections for its start
  float kept = 1;  ///< what weight decay leaves of a parameter
};

/// Parameters and AdamW's memory of `models` models stay in the place; a step moves all of them by their own batches.
/// The same numbers every time; those of BilinearModel::loss and AdamW up to the order of summation.
class BilinearStepper {
 public:
  /// Batches have `words` words. Throws SystemError when there is no device, or too little memory.
  BilinearStepper(Place place, const BilinearPlan& plan, std::uint32_t models, std::uint32_t words, float clip);

  void load(std::uint32_t model, std::span<const float> parameters, std::span<const float> mean,
            std::span<const float> square);
  void store_parameters(std::uint32_t model, std::span<float> parameters) const;
  void store_memory(std::uint32_t model, std::span<float> mean, std::span<float> square) const;

  /// One step of every model. A model whose loss or gradient is not finite stays where it was, for good.
  void step(std::span<const ModelStep> steps);
  bool has_failed(std::uint32_t model) const;

  /// The gradient of the last step, and its mean loss; for tests.
  std::vector<float> gradient(std::uint32_t model) const;
  double loss(std::uint32_t model) const;

 private:
  void upload(std::span<const ModelStep> steps);
  void make_room(std::uint32_t positions, std::uint32_t targets);
  void run_forward();
  void run_adjoint();
  template <TrainingStage kStage>
  void run(std::uint64_t items);
  void run_over_time(bool adjoint);

  Place place_;
  BilinearTraining t_;
  Buffer<float> parameters_, gradient_, mean_, square_, given_, by_given_, matrices_, by_matrices_, columns_,
      additions_, by_additions_, states_, by_states_, logits_, rates_, kept_;
  Buffer<double> losses_, embedding_parts_, norm_parts_, norms_;
  Buffer<std::uint32_t> right_, failed_, letters_, lengths_, target_counts_, readers_, first_reader_;
  Buffer<DeviceTarget> targets_;
  std::uint64_t taken_positions_ = 0, taken_targets_ = 0;
};

}  // namespace krohn
