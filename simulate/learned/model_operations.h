// simulate/learned/model_operations.h — a trained model, operation by operation: what simulate/learned/trained_reader.h
// computes, as certificates write it.
#pragma once

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/stock/stock_layer.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The same numbers as those of the reader in that format, unless one is not finite, a square overflows or a product in
/// bf16 is subnormal; tensors are named as in the file of the model.
Operations model_operations(const SequenceModel<float>& model, const Task& task, Precision format);

/// Of a stack of layers of another library (simulate/models/stock/), without what its task says.
Operations stock_operations(const StockShape& shape, const TensorFile& tensors, Precision format);

}  // namespace krohn
