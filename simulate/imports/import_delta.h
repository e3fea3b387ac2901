// simulate/imports/import_delta.h — DeltaNet, gated DeltaProduct and gated DeltaNet, as flash-linear-attention names
// their tensors (gated DeltaNet: transformers' OlmoHybridGatedDeltaNet, too), in its language models or one bare layer.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_delta(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
