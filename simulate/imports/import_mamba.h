// simulate/imports/import_mamba.h — Mamba, as transformers' MambaForCausalLM and state-spaces' MambaLMHeadModel
// name its tensors, or one bare layer.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_mamba(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
