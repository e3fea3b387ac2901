// simulate/checkpoints/checkpoint_operations.h — a checkpoint, operation by operation: what
// simulate/checkpoints/checkpoint_model.h computes token by token, as certificates write it.
#pragma once

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// In fp32, with roundings to bf16 where `model`, which is the checkpoint's, has them. The same numbers as the model's,
/// while all are finite; tensors are named as in the file. The checkpoint has an automaton.
Operations checkpoint_operations(const Checkpoint& checkpoint, const CheckpointModel& model);

/// The checkpoint's tensors as its file has them.
TensorFile tensors_in_file(const Checkpoint& checkpoint);

}  // namespace krohn
