// simulate/imports/import_mamba2.h — Mamba-2, as transformers' Mamba2ForCausalLM and state-spaces' models name its
// tensors, or one bare layer.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_mamba2(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
