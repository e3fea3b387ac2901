// gpu/training/stepper.h — many models of one shape trained side by side, on a CUDA device or on the processor in its
// place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "krohn/gpu/training/step_program.h"

namespace krohn {

/// Parameters and AdamW's memory of `models` models stay in the place; a step moves all of them by their own batches,
/// and is one copy and one replay of recorded kernels, which are recorded anew when a batch is longer than those
/// before. The same numbers every time, whatever models are beside; those of SequenceModel::loss and AdamW up to the
/// order of summation.
class Stepper {
 public:
  /// `model` names the shape, and must live as long. Batches have `words` words. Throws SystemError when there is no
  /// device, or too little memory.
  Stepper(Place place, const SequenceModel<float>& model, std::uint32_t models, std::uint32_t words, float clip);

  void load(std::uint32_t model, std::span<const float> parameters, std::span<const float> mean,
            std::span<const float> square);
  void store_parameters(std::uint32_t model, std::span<float> parameters) const;
  void store_memory(std::uint32_t model, std::span<float> mean, std::span<float> square) const;

  /// One step of every model. A model whose loss or gradient is not finite stays where it was, for good. Throws
  /// InputError when the batches are not those of its models.
  void step(std::span<const ModelStep> steps);
  /// The same without a graph: its kernels are started one by one.
  void step_one_by_one(std::span<const ModelStep> steps);
  bool has_failed(std::uint32_t model) const;

  /// The gradient of the last step, and its mean loss; for tests.
  std::vector<float> gradient(std::uint32_t model) const;
  double loss(std::uint32_t model) const;

 private:
  void send(std::span<const ModelStep> steps);
  void record(const BatchRoom& room);

  Place place_;
  const SequenceModel<float>& model_;
  std::uint32_t models_, words_;
  std::uint64_t numbers_;  ///< parameters of a model
  float clip_;
  Buffer<float> parameters_, gradient_, mean_, square_;
  Buffer<double> norm_parts_, norms_, losses_;
  Buffer<std::uint32_t> failed_;
  std::vector<std::uint32_t> target_counts_;  ///< of the last step
  BatchRoom room_;
  std::unique_ptr<BatchQueue> batches_;
  std::unique_ptr<StepProgram> program_;
};

}  // namespace krohn
