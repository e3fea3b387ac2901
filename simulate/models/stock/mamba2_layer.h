// simulate/models/stock/mamba2_layer.h — Mamba-2 (Dao & Gu 2024), as Mamba2Mixer of transformers decodes a token and
// state-spaces' Mamba2 steps:
//
//   (z, u, B, C, δ) = W_in x          (u, B, C) ← silu(conv(u, B, C))          Δ = softplus(δ + b)          A =
//   −e^A_log S[h, p, n] ← S[h, p, n] e^(Δ[h] A[h]) + (Δ[h] B[n]) u[h, p]          y[h, p] = Σ_n S[h, p, n] C[n] + u[h,
//   p] D[h] out = W_out norm(y silu(z)), an RMS norm over each group's part
//
// Heads of one group share B and C. The steps Δ have no limit: transformers' own decoding step knows none.
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, per-head (p), states (n), groups, taps, eps (of the norm); and the flags bias and conv-bias.
std::vector<StockTensor> mamba2_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> mamba2_layer(const StockShape& shape, const TensorFile& tensors,
                                               const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> mamba2_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);
extern template std::unique_ptr<StockLayer<double>> mamba2_layer(const StockShape&, const TensorFile&,
                                                                 const std::string&);

}  // namespace krohn
