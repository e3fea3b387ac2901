// simulate/models/stock/gla_layer.h — gated linear attention (Yang et al. 2024), as flash-linear-attention's layer
// computes it with its usual options: no convolutions, no feature map, a swish gate.
//
//   q, k, v = W x          α[i] = e^(log σ(W₂ W₁ x + b)[i] / 16)
//   S[i, c] ← S[i, c] α[i] + k[i] v[c]          o[c] = Σ_i S[i, c] (q[i] · 1/√K)
//   out = W_o (norm(o) silu(W_g x)), the norm head by head
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, keys and values (of a head), rank (of W₁), normaliser (the 16), eps (of the norm).
std::vector<StockTensor> gla_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> gla_layer(const StockShape& shape, const TensorFile& tensors,
                                            const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> gla_layer(const StockShape&, const TensorFile&, const std::string&);
extern template std::unique_ptr<StockLayer<double>> gla_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
