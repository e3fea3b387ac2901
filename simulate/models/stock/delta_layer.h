// simulate/models/stock/delta_layer.h — delta rules: DeltaNet and gated DeltaProduct as flash-linear-attention's layers
// compute them (Yang et al. 2024; Siems et al. 2025), gated DeltaNet also as OlmoHybridGatedDeltaNet of transformers:
//
//   q, k, v = silu(conv(W x))          q, k ← x · 1/√(Σ x² + 10⁻⁶), head by head          q ← q / √K
//   β = σ(W_b x), doubled where eigenvalues may be negative          α = e^(−e^A_log softplus(W_a x + dt_bias))
//   S ← S α, then for every reflection j:  S[i, c] ← S[i, c] + k[i] ((v[c] − Σ_i S[i, c] k[i]) β)
//   o[c] = Σ_i S[i, c] q[i]          o ← norm(o), head by head, times silu(W_g x)          out = W_o o
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, keys and values (of a head), reflections (a token), taps (0: no convolutions), eps (of the output's
/// norm); and the flags decay (α), gate (W_g), negative (β up to 2), plain-keys (no silu on q and k), and one-conv (one
/// tensor conv1d for q, k and v).
std::vector<StockTensor> delta_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> delta_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> delta_layer(const StockShape&, const TensorFile&,
                                                               const std::string&);
extern template std::unique_ptr<StockLayer<double>> delta_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);

}  // namespace krohn
