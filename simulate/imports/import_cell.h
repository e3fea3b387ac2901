// simulate/imports/import_cell.h — PyTorch's torch.nn.RNN, GRU and LSTM by their state dicts, and their single cells
// (torch.nn.GRUCell …).
#pragma once

#include <memory>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

/// weight_ih_l0 [gates · H, inputs], weight_hh_l0 [gates · H, H], bias_ih_l0 and bias_hh_l0 [gates · H] or neither, _l1
/// …; an embedding or one-hot input; a linear read-out of the last layer's output.
std::unique_ptr<SequenceModel<float>> import_cell(StateDict& dict, const ImportOptions& options, const Task& task);

}  // namespace krohn
