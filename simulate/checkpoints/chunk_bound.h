// simulate/checkpoints/chunk_bound.h — that a gated delta rule has the same bits in chunks as token by token, because
// all its sums are sums of whole numbers of grains, none so large that fp32 rounds it.
//
// In chunks (transformers' `torch_chunk_gated_delta_rule`, flash-linear-attention's kernels) tokens i > j of a chunk
// meet in A_ij = β_i k_i·k_j e^(g_{j+1} + … + g_i); with T = (I + A)⁻¹, X = T diag(β) V and Y = T diag(β e^(g_1 + …))
// K, every token adds u = X − Y S to the state S that the chunk began with. Over the reals this is the recurrence.
// Where
//   1. g is 0, or a whole number up to −128, whose e^g is 0; and sums of a chunk's are below 2^24 in size;
//   2. β is 0, 1 or 2, and β_i k_i·k_j is a whole number whenever g_i = 0: then A is one of whole numbers, since where
//      g_i is not 0 the factor makes it 0;
//   3. |k| ≤ 1, so that every 1 − β k kᵀ shortens vectors or keeps their length;
//   4. what is written bounds the state: every write empties it first, or all keys of the head are orthonormal with
//      β = 1;
//   5. √K is a power of two;
//   6. no grain of a sum is below 2^-126 or above 2^103, so that no sum of fewer than 2^24 grains leaves the normal
//      numbers;
// |A_ij| ≤ 2; T_ij, which is −β_i k_iᵀ (the factors between) k_j, is whole and at most 2 in size, for the whole word as
// for a chunk; so every u is a whole number of grains of values, S = Σ k uᵀ one of grains of keys times grains of
// values, and its columns are no longer than what was written, times √K at most. Then every sum of every one of these
// products, over any subset of its terms, is a whole number of grains, and of no more than `grains` of them: fp32
// rounds none, in whatever order, and the state and the answers have the bits that the recurrence gives them, but for
// signs of zeros.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"

namespace krohn {

struct ChunkBound {
  bool is_exact = false;  ///< all six hold and the greatest sum is below 2^24 grains
  double grains = 0;      ///< of the greatest sum; where they hold
  std::string why_not;    ///< what does not hold, and of which token
};

/// Over chunks of up to `chunk` tokens of the letters and the token that begins words. Of one layer without channels,
/// convolutions that look at one token, and fp32 sums; what comes after the recurrence is done token by token in any
/// case. O(letters² · heads · K).
ChunkBound bound_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model, std::uint32_t chunk = 64);

}  // namespace krohn
