// simulate/models/stock/mamba_layer.h — Mamba's selective state space (Gu & Dao 2023), as MambaMixer of transformers
// and Mamba of state-spaces compute it token by token:
//
//   (u, z) = W_in x          u ← silu(conv(u))          (δ, B, C) = W_x u          Δ = softplus(W_dt δ + b)
//   h[e, n] ← e^(Δ[e] A[e, n]) h[e, n] + (Δ[e] B[n]) u[e]          A = −e^A_log
//   y[e] = (Σ_n h[e, n] C[n] + D[e] u[e]) silu(z[e])               out = W_out y
//
// The first product of a step is rounded before the second is added.
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: inner (e), states (n), rank (of δ), taps; and the flags bias (of W_in and W_out) and conv-bias.
std::vector<StockTensor> mamba_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> mamba_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> mamba_layer(const StockShape&, const TensorFile&,
                                                               const std::string&);
extern template std::unique_ptr<StockLayer<double>> mamba_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);

}  // namespace krohn
