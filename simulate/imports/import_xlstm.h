// simulate/imports/import_xlstm.h — mLSTM as transformers' xLSTMForCausalLM names its tensors, or one bare layer; sLSTM
// as the layer of the package xlstm does.
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

std::unique_ptr<SequenceModel<float>> import_mlstm(StateDict& dict, const ImportOptions& options, const Task& task);
std::unique_ptr<SequenceModel<float>> import_slstm(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
