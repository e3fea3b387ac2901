// simulate/models/stock/rwkv7_layer.h — RWKV-7's time mixing (Peng et al. 2025), as the first layer of
// flash-linear-attention's RWKV7Attention computes it, x' being the token before (0 at first):
//
//   x_c = x + (x' − x) μ_c for c of r, w, k, v, a, g          r, k, v = W x_c          w = −0.6065306597126334 σ(w₂
//   tanh(w₁ x_w) + w₀) a = σ(a₂ a₁ x_a + a₀)          g = g₂ σ(g₁ x_g)          κ = k k_k / max(‖k k_k‖, 10⁻¹²), head
//   by head k ← k + (k (a − 1)) k_a S[i, c] ← (e^w[i] S[i, c] − (κ[i] a[i]) Σ_j κ[j] S[j, c]) + k[i] v[c]          o[c]
//   = Σ_i S[i, c] r[i] out = W_o (((norm(o) weight + bias) + (Σ_i r[i] k[i] r_k[i]) v) g), a layer norm head by head
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// Numbers: heads, keys and values (of a head), decay-rank, rate-rank and gate-rank (of w, a and g), eps (of the norm).
std::vector<StockTensor> rwkv7_tensors(const StockShape& shape);

template <class Real>
std::unique_ptr<StockLayer<Real>> rwkv7_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix);

extern template std::unique_ptr<StockLayer<float>> rwkv7_layer(const StockShape&, const TensorFile&,
                                                               const std::string&);
extern template std::unique_ptr<StockLayer<double>> rwkv7_layer(const StockShape&, const TensorFile&,
                                                                const std::string&);

}  // namespace krohn
