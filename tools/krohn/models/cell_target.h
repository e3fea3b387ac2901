// tools/krohn/models/cell_target.h — `krohn compile --target torch-gru` and its kin: PyTorch's nonlinear cells,
// and single layers of other libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// "torch-rnn", "torch-rnn-relu", "torch-gru", "torch-lstm"; "xlstm-slstm", "transformers-mamba2",
/// "transformers-mlstm".
const std::vector<std::string>& cell_targets();
bool is_cell_target(const std::string& target);

struct CellCompilation {
  std::string language, target, folder;
  std::uint64_t max_pairs = 0;
  bool json = false;
};

/// Builds the model (simulate/models/cells/cell_network.h, simulate/models/stock/exact_stock.h), proves it in fp32,
/// writes the folder as `krohn train` does and says what is in it. Nothing is written before it is proved. Returns the
/// exit status.
int compile_cell(const Dfa& automaton, const CellCompilation& options);

}  // namespace krohn
