// simulate/imports/import_rwkv7.h — RWKV-7's time mixing as one bare first layer of flash-linear-attention names its
// tensors.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_rwkv7(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
