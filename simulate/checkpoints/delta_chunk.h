// simulate/checkpoints/delta_chunk.h — the delta rule over a chunk of tokens at once, as the chunked kernels of
// flash-linear-attention evaluate it (`chunk_delta_rule`, `chunk_gated_delta_product`; library versions 0.5 and 0.6).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace krohn {

/// What one head reads in up to kDeltaChunk tokens. Rows of keys, values and β are ordered (token, Householder).
struct DeltaChunk {
  std::size_t key_dim = 1, value_dim = 1, householders = 1;
  std::vector<float> query;       ///< [tokens, key_dim]
  std::vector<float> key, value;  ///< [tokens · householders, key_dim or value_dim]
  std::vector<float> beta;        ///< [tokens · householders]
};

/// The library's chunk size.
inline constexpr std::size_t kDeltaChunk = 64;

/// Takes `state` (key_dim × value_dim) through the chunk and returns o before its rounding, [tokens, value_dim]. With S
/// the state at the beginning, and "rounded" to bf16 or not at all, in blocks of 64 rows:
///   T = (I + tril(βk · kᵀ, −1))⁻¹, rounded;   w = T (βk), u = T (βv), βk, βv, w and u rounded;
///   v̂ = u − w S̄, rounded, S̄ the rounded state before the block;   S ← S + kᵀ v̂, in fp32;
/// then o = (q S̄₀ + P v̂)/√K, S̄₀ the rounded state before the chunk, P = q kᵀ for rows up to the token's last, rounded.
/// All sums run from the first index to the last, in fp32; the library leaves that to its compiler.
std::vector<float> read_delta_chunk(const DeltaChunk& chunk, std::span<float> state, bool is_bf16);

}  // namespace krohn
