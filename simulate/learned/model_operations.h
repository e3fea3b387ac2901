// simulate/learned/model_operations.h — a trained model, operation by operation: what simulate/learned/trained_reader.h
// computes, as certificates write it.
#pragma once

#include <optional>
#include <string>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The same numbers as those of the reader in that format, unless a square overflows or a product in bf16 is subnormal;
/// tensors are named as in the file of the model. Nothing, with the reason in `why`, for layers whose functions
/// certificates do not state.
std::optional<Operations> model_operations(const SequenceModel<float>& model, const Task& task, Precision format,
                                           std::string& why);

}  // namespace krohn
