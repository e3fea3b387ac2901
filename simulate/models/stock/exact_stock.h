// simulate/models/stock/exact_stock.h — weights by which one bare layer of another library is an automaton: what it
// remembers is one of finitely many codes, bit for bit. One-hot embedding, the layer, a read-out of one row for each
// output; right after every letter.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/models/stock/stock_kinds.h"

namespace krohn {

struct ExactStock {
  StockShape shape;
  TensorFile tensors;  ///< by the names of stock_tensors
};

/// Any automaton, in xlstm's sLSTM: with the input gate at e^0 and the forget gate at e^−1000 = 0 the cell is tanh of
/// its recurrent sum, and its units those of the saturated RNN (simulate/models/cells/cell_network.h), ±1. Throws
/// LimitError past 4,096 units: states times letters, and one.
ExactStock exact_slstm(const Dfa& automaton);

/// Automata of which every letter keeps all states or takes all to one. A head of Mamba-2 stands for every state: a
/// step of 0 keeps it, one of 1,024 leaves e^−1024 = 0 of it and writes. Throws InputError naming a letter that does
/// anything else.
ExactStock exact_mamba2(const Dfa& automaton);

/// The same automata in the mLSTM of transformers, exact in fp32 alone. Its gates are capped at ±15, so that over the
/// reals a kept state decays by σ(15) = 1 − 3·10⁻⁷ a letter; but the layer keeps the logarithm of its scale apart, and
/// 15 + log σ(15) rounds to 15: the factor is e^(15 − 15) = 1. A state that is overwritten leaves a rest of 3·10⁻⁷ of
/// itself, which one of the next letter rounds away.
ExactStock exact_mlstm(const Dfa& automaton);

}  // namespace krohn
