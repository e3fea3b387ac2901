// simulate/checkpoints/checkpoint_operations.h — a checkpoint, operation by operation: the functions that
// simulate/checkpoints/checkpoint_model.h states, as certificates write them.
#pragma once

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// Where the numbers of a form stand in the memory.
struct CheckpointPlaces {
  CheckpointPlaces(const CheckpointConfig& config, CheckpointForm form);

  std::size_t layer;  ///< numbers of a layer before the convolutions: its state, or of kOpen:
  /// What the recurrence gives, from 0 on, and takes: rows of q, k and v, β, and the logarithms of decays.
  std::size_t query = 0, key = 0, value = 0, beta = 0, decay = 0;
  std::size_t convolution, embedding, logits, size;
};

/// In fp32, with roundings to bf16 where `model`, which is the checkpoint's, has them. Tensors are
/// named as in the file. By letters, the
/// checkpoint has an automaton.
Operations checkpoint_operations(const Checkpoint& checkpoint, const CheckpointModel& model,
                                 CheckpointForm form = CheckpointForm::kLetters);

/// The checkpoint's tensors as its file has them.
TensorFile tensors_in_file(const Checkpoint& checkpoint);

}  // namespace krohn
