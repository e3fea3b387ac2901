// simulate/checkpoints/checkpoint_model.h — the forward pass of flash-linear-attention's DeltaNet and gated
// DeltaProduct language models on a processor, token by token (MATH.md §8; library versions 0.5 and 0.6).
//
// One token, with x its embedding; "rounded" means: to the precision of the model, bf16 or fp32.
//   every layer:  a = norm(x);  x ← x + o_proj(mix(a));  x ← x + down(swish(gate(y)) · up(y)), y = norm(x)
//   at the end:   logits = lm_head(norm(x))
//   norm          x · (1 / √(Σx²/d + ε)) · w, in fp32, rounded
//   projections   fp32 sums from the first column to the last, rounded
//   mix           q, k, v = projections, convolved over the last tokens where there is a convolution, SiLU where the
//                 layer has it; q and k times 1 / √(Σx² + 10⁻⁶), rounded; β = sigmoid, doubled for negative
//                 eigenvalues. For every Householder j and head, S (K×V) in fp32: u = β_j (v_j − Sᵀ k_j);  S ← S + k_j
//                 uᵀ. Then o = Sᵀ q / √K, rounded, and norm(o) per head.
// e^x is that of simulate/arithmetic/stated_exp.h.
// This is the order of the library's recurrent kernel (`read_chunk`: of its chunked kernels), but for the order of
// additions inside its reductions, which its compiler chooses. Where all sums are exact, as in krohn's own checkpoints,
// that makes no difference.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/precision.h"
#include "krohn/simulate/checkpoints/delta_chunk.h"

namespace krohn {

/// Immutable, shared by threads.
class CheckpointModel {
 public:
  /// A matrix by rows, applied to a column.
  struct Projection {
    std::uint32_t rows = 0, columns = 0;
    std::vector<float> weights;
  };
  struct Layer {
    std::vector<float> attention_norm, output_norm, mlp_norm;
    Projection query, key, value, beta, output, gate, up, down;
    std::vector<float> query_taps, key_taps, value_taps;
  };

  /// What the model remembers between tokens.
  struct Memory {
    std::vector<float> recurrent;    ///< layer, head, key coordinate, value coordinate
    std::vector<float> convolution;  ///< layer, older tokens first, the rows of q, k, v before the convolution
    friend bool operator==(const Memory&, const Memory&) = default;
  };

  /// `precision` is fp32 or bf16; weights are rounded to it. Throws InputError for another one or for a number that is
  /// not finite, naming its tensor.
  CheckpointModel(const Checkpoint& checkpoint, Precision precision);

  const CheckpointConfig& config() const { return config_; }
  bool is_bf16() const { return is_bf16_; }
  // The weights, rounded.
  const std::vector<std::vector<float>>& embeddings() const { return embeddings_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<float>& final_norm() const { return final_norm_; }
  const Projection& head() const { return head_; }
  Memory start() const;

  /// Reads one token and returns the logits of the next, one per token of the vocabulary.
  /// O(layers · (d·(rows of the projections) + n·H·K·V) + d · vocabulary).
  std::vector<float> step(std::uint32_t token, Memory& memory) const;

  /// Reads up to kDeltaChunk tokens at once, as the library's chunked kernels do (simulate/checkpoints/delta_chunk.h),
  /// and returns the logits after each. A word has to be cut into chunks of kDeltaChunk from its beginning.
  std::vector<std::vector<float>> read_chunk(std::span<const std::uint32_t> tokens, Memory& memory) const;

 private:
  /// The rows of q, k, v and β before the convolution, one after another.
  std::vector<float> project(const Layer& layer, std::span<const float> input) const;
  /// What the recurrence takes of one token: rows of q, k, v and β.
  struct Read {
    std::vector<float> rows;
    std::size_t queries = 0, keys = 0, values = 0;
    std::span<float> query() { return std::span(rows).subspan(0, queries); }
    std::span<float> key() { return std::span(rows).subspan(queries, keys); }
    std::span<float> value() { return std::span(rows).subspan(queries + keys, values); }
    std::span<float> beta() { return std::span(rows).subspan(queries + keys + values); }
  };
  Read prepare(const Layer& layer, std::vector<float> rows, float* convolution) const;
  void recur(Read& read, std::size_t head, float* state, std::span<float> out) const;
  DeltaChunk chunk_of(std::span<Read> reads, std::size_t head) const;
  std::vector<float> project_out(const Layer& layer, std::span<const float> out) const;
  void mix(const Layer& layer, std::span<Read> reads, float* recurrent, bool in_chunks,
           std::span<std::vector<float>> changes) const;
  std::vector<float> look_up(const Layer& layer, std::span<const float> y) const;
  std::vector<std::vector<float>> read(std::span<const std::uint32_t> tokens, Memory& memory, bool in_chunks) const;
  std::vector<float> apply(const Projection& projection, std::span<const float> input) const;
  std::vector<float> normalise(std::span<const float> input, std::span<const float> weights) const;
  void convolve(std::span<float> rows, std::span<const float> taps, float* older) const;
  void normalise_keys(std::span<float> rows) const;
  float round(float value) const;

  CheckpointConfig config_;
  bool is_bf16_;
  std::vector<std::vector<float>> embeddings_;
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  Projection head_;
  std::vector<std::vector<float>> first_rows_;  ///< token ↦ `project` of the first layer, which sees nothing else
};

/// The token of the greatest logit; none when two share it or one is not a number.
std::optional<std::uint32_t> arg_max(std::span<const float> logits);

}  // namespace krohn
