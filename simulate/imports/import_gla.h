// simulate/imports/import_gla.h — gated linear attention, as flash-linear-attention names its tensors, in its language
// models or one bare layer.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_gla(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
