// simulate/models/stock/mlstm_layer.h — the matrix LSTM (Beck et al. 2024), as xLSTMLayer of transformers steps it:
//
//   q, k, v = W x          i, f = cap(W x + b)          cap(y) = c tanh(y / c)
//   m' = max(log σ(f) + m, i)          F = e^((log σ(f) + m) − m')          I = e^(i − m')          m ← m'
//   C[a, b] ← F C[a, b] + I (k[a] v[b])          n[a] ← F n[a] + I k[a]
//   h[b] = Σ_a (q[a] · 1/√K) C[a, b] / (max(|Σ_a (q[a] · 1/√K) n[a]|, e^−m') + ε)
//   out = W_out (σ(W_o x) norm(h)), a layer norm head by head
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, keys and values (of a head), cap (0: none), eps (ε), head-eps (of the layer norm).
std::vector<StockTensor> mlstm_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> mlstm_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> mlstm_layer(const StockShape&, const TensorFile&,
                                                               const std::string&);
extern template std::unique_ptr<StockLayer<double>> mlstm_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);

}  // namespace krohn
