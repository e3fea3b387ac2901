// simulate/imports/import_bilinear.h — a bilinear recurrence h ← A(x) h + b: a matrix a letter, or torch.nn.Bilinear.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_bilinear(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
