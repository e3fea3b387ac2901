// simulate/models/stock/slstm_layer.h — the scalar LSTM (Beck et al. 2024), as sLSTMLayer of the package xlstm computes
// it with backend "vanilla":
//
//   u = silu(conv(x)), or x          a = (W_f u, W_i u, W_z x, W_o x)          (i, f, z, o) = (a + R y) + b
//   m' = max(i, m + log σ(f)), or i where n is 0          I = min(1, e^(i − m'))          F = min(1, e^((m + log σ(f))
//   − m')) c ← F c + I tanh(z)          n ← F n + I          y ← σ(o) c / n          m ← m' out = group norm of y, head
//   by head, with gain 1 + weight
//
// The weights called fgate feed i and those called igate feed f: so the package's layer has it (xlstm 2.0.6, layer.py),
// and so every model is trained. W and R are block-diagonal, a block a head. Sums of R run over the units of the head.
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, taps (0: no convolution), head-eps; and the flag cuda, of the layout in which the package's backend
/// of that name keeps R and b.
std::vector<StockTensor> slstm_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> slstm_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> slstm_layer(const StockShape&, const TensorFile&,
                                                               const std::string&);
extern template std::unique_ptr<StockLayer<double>> slstm_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);

}  // namespace krohn
