// simulate/checkpoints/checkpoint_model.h — the forward pass of the language models of constructions/checkpoints/ on a
// processor, token by token (MATH.md §8): flash-linear-attention's (versions 0.5 and 0.6) as its recurrent kernels have
// it, transformers' (versions 5.23 and 5.24) as its own functions in torch have it, which it runs where no kernel is
// installed.
//
// One token, with x its embedding; "rounded" means: to the precision of the model, bf16 or fp32.
//   every layer:  a = norm(x);  x ← x + o_proj(mix(a));  x ← x + down(swish(gate(y)) · up(y)), y = norm(x)
//   at the end:   logits = lm_head(norm(x))
//   norm          x · (1 / √(Σx²/d + ε)) · w, or 1 + w for Qwen3-Next, in fp32, rounded
//                 (fla's fused kernel, `fuse_norm`, takes the second norm of a layer from the sum before it is rounded)
//   projections   fp32 sums from the first column to the last, rounded
//   mix           q, k, v = projections, convolved over the last tokens where there is a convolution, SiLU where the
//                 layer has it; q and k times 1 / √(Σx² + 10⁻⁶), rounded in DeltaNet and gated DeltaProduct;
//                 β = sigmoid, doubled for negative eigenvalues; where the layer forgets, α = e^g with
//                 g = −e^(A_log) · softplus(a + dt_bias), or in KDA with a lower bound L < 0
//                 g = L · sigmoid(e^(A_log) (a + dt_bias)), for every head or every key coordinate, in fp32.
//                 For every Householder j and head, S (K×V) in fp32: S ← α S;  u = β_j (v_j − Sᵀ k_j);
//                 S ← S + k_j uᵀ. GDN-2: u = sigmoid(w) v − Sᵀ (β ∘ k). Then o = Sᵀ q / √K, rounded, and norm(o) per
//                 head, times SiLU or sigmoid of the output gate where there is one.
//   fp32          is kept, whatever the precision, for the weights that is_kept_in_fp32 names (constructions/
//                 checkpoints/checkpoint_parts.h), such as A_log of all classes but Qwen3-Next and Kimi Linear.
//   transformers  rounds more often in bf16: what is convolved before its SiLU, a head's norm before and after its
//                 weight, swish(gate) before its product; its SiLU is x / (1 + e^−x).
//   Kimi Linear   and GLM-5.3-Flash, transformers' KDA: norms of layers are rounded before their weight too, those of
//                 heads after their gate alone; q and k are divided by √(Σx² + 10⁻⁶), q times 1/√K; in GLM-5.3-Flash
//                 convolutions and their SiLU stay in fp32. Its MLPs cut gate(y) at `swiglu_limit` and up(y) at that
//                 and its negative.
//   streams       x is s of them, first the embedding s times, at the end their mean. What a layer's two parts read is
//                 Σ p_i x_i; x_j ← Σ_i C_ij x_i + q_j · (their answer), every term rounded. With z = W x / rms(x) of
//                 all streams together, in fp32: p = sigmoid(z t₀ + b) + ε, q = 2 sigmoid(z t₁ + b), C = softmax(z t₂ +
//                 b) by rows + ε, then its columns, rows, columns, … divided by their sums + ε, `sinkhorn_rounds` times
//                 the columns.
// e^x is that of simulate/arithmetic/stated_exp.h, softplus(x) the logarithm of 1 + e^x, or x beyond 20.
// This is the order of the libraries' recurrences (`read_chunk`: of the chunked kernels), but for the order of
// additions inside their reductions, which compilers choose. Where all sums are exact, as in krohn's own checkpoints,
// that makes no difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

// The delta rule over a chunk of tokens at once, as the chunked kernels of
// flash-linear-attention evaluate it (`chunk_delta_rule`, `chunk_gated_delta_product`; library versions 0.5 and 0.6).

/// The inputs of one head in up to kDeltaChunk tokens. Rows of keys, values and β are ordered (token, Householder).
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

/// The use of a list of a checkpoint's operations.
enum class CheckpointForm : std::uint8_t {
  kLetters,  ///< by the letters of its automaton
  kToken,    ///< by the embedding of any token, which stands in the memory, as the logits do then
  kOpen      ///< the same, without the recurrence: what it takes and what it gives stand in the memory
};

/// Immutable, shared by threads: its lists of operations (checkpoint_letters.h), read token by token or in chunks.
class CheckpointModel {
 public:
  /// The model's memory between tokens.
  struct Memory {
    std::vector<float> recurrent;    ///< layer, head, key coordinate, value coordinate
    std::vector<float> convolution;  ///< layer, older tokens first, the rows of q, k, v before the convolution
    friend bool operator==(const Memory&, const Memory&) = default;
  };

  /// `precision` is fp32 or bf16; weights are rounded to it. Throws InputError for another one or for a number that is
  /// not finite, naming its tensor.
  CheckpointModel(const Checkpoint& checkpoint, Precision precision);

  /// Its taps are those that are not zero everywhere.
  const CheckpointConfig& config() const { return config_; }
  bool is_bf16() const { return is_bf16_; }
  Memory start() const;

  /// The inputs of the first layer's recurrence for a token that begins a text: rows of all heads, and of the decay
  /// its logarithm g. Of a layer without convolution over tokens before, wherever the token stands.
  struct FirstStep {
    std::vector<float> query, key, value, beta, log_decay;
  };
  FirstStep first_step(std::uint32_t token) const;

  /// In the first layer, so that no one matrix is a token's.
  bool keys_look_back() const { return keys_look_back_; }

  /// Reads one token and returns the logits of the next, one per token of the vocabulary.
  /// O(layers · (d·(rows of the projections) + n·H·K·V) + d · vocabulary).
  std::vector<float> step(std::uint32_t token, Memory& memory) const;

  /// True where the layers forget or gate what they read: then there is no `read_chunk`.
  bool has_gates() const { return traits_.decay != Decay::kNone; }

  /// Reads up to kDeltaChunk tokens at once, as the library's chunked kernels do, and returns the logits after each. A
  /// word has to be cut into chunks of kDeltaChunk from its beginning.
  std::vector<std::vector<float>> read_chunk(std::span<const std::uint32_t> tokens, Memory& memory) const;

 private:
  struct Lists;
  /// Zeros but for the token's embedding.
  LetterReader::Memory begun(std::uint32_t token, CheckpointForm form) const;

  CheckpointConfig config_;
  const FamilyTraits& traits_;
  bool is_bf16_, keys_look_back_ = false;
  std::vector<float> embeddings_;
  std::shared_ptr<Lists> lists_;
};

/// The token of the greatest logit; none when two share it or one is not a number.
std::optional<std::uint32_t> arg_max(std::span<const float> logits);

// A gated delta rule has the same bits in chunks as token by token, because
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

struct ChunkBound {
  bool is_exact = false;  ///< all six hold and the greatest sum is below 2^24 grains
  double grains = 0;      ///< of the greatest sum; where they hold
  std::string why_not;    ///< the condition that fails, and for which token
};

/// Over chunks of up to `chunk` tokens of the letters and the token that begins words. Of one layer without channels,
/// convolutions that look at one token, and fp32 sums; what comes after the recurrence is done token by token in any
/// case. O(letters² · heads · K).
ChunkBound bound_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model, std::uint32_t chunk = 64);

}  // namespace krohn
