// gpu/training/batch_queue.h — takes the batches of many models to the place, as gpu/training/batch_rows.cuh has them.
#pragma once

#include <cstdint>
#include <span>

#include "krohn/gpu/device/graph.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/simulate/tasks/training_batch.h"

namespace krohn {

/// The inputs of one model's step.
struct ModelStep {
  TrainingBatch batch;
  float rate = 0;         ///< with Adam's corrections for its start
  float kept = 1;         ///< the share of a parameter that weight decay leaves
  float epsilon = 1e-8F;  ///< beside the root of the mean square, as simulate/train/optimiser.h has it
};

/// Takes batches to the place, one copy a step.
class BatchQueue {
 public:
  BatchQueue(Place place, std::uint32_t models, std::uint32_t words, std::uint32_t letters, std::uint32_t most_rows,
             std::uint32_t most_targets);

  /// True if every batch has the room it needs.
  bool fits(std::span<const ModelStep> steps) const;
  /// Sets the content of `rows()` for kernels that are started from now on.
  void send(std::span<const ModelStep> steps);
  const BatchRows& rows() const { return rows_; }

 private:
  BatchRows rows_;
  UploadQueue queue_;
};

/// Throws InputError when there is not a batch of `words` words for every model.
void require_one_each(std::span<const ModelStep> steps, std::uint32_t models, std::uint32_t words);

/// Rows and targets that batches need at most, with room for somewhat longer ones: kernels are recorded for them.
struct BatchRoom {
  std::uint32_t rows = 1, targets = 1;
};
BatchRoom room_for(std::span<const ModelStep> steps);

}  // namespace krohn
