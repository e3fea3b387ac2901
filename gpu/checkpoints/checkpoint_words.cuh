// gpu/checkpoints/checkpoint_words.cuh — words through a language model of flash-linear-attention, token by token, one
// word a block: the operations of simulate/checkpoints/checkpoint_model.h in their order, rows shared among the
// threads. For the processor and for CUDA devices.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "krohn/gpu/automata/random_reader.cuh"
#include "krohn/gpu/device/block_threads.cuh"
#include "krohn/gpu/networks/device_arithmetic.cuh"
#include "krohn/simulate/arithmetic/stated_exp.h"

namespace krohn {

/// A matrix by rows, applied to a column.
struct PlacedProjection {
  std::uint32_t rows = 0, columns = 0;
  const float* weights = nullptr;
};

struct PlacedCheckpointLayer {
  const float *attention_norm = nullptr, *output_norm = nullptr, *mlp_norm = nullptr;
  PlacedProjection query, key, value, beta, output, gate, up, down;
  const float* taps = nullptr;  ///< rows of q, k and v; null without a convolution
};

struct PlacedCheckpoint {
  std::uint32_t hidden = 0, layer_count = 0, heads = 0, key_dim = 0, value_dim = 0, householders = 0, inner = 0,
                vocabulary = 0, taps = 0;
  bool doubles_beta = true, silu_keys = false, is_bf16 = false, fused_norm = false;
  float norm_epsilon = 0;
  const float *embeddings = nullptr, *final_norm = nullptr;
  const PlacedCheckpointLayer* layers = nullptr;
  PlacedProjection head;

  KROHN_HOST_DEVICE std::uint32_t queries() const { return heads * key_dim; }
  KROHN_HOST_DEVICE std::uint32_t keys() const { return householders * heads * key_dim; }
  KROHN_HOST_DEVICE std::uint32_t values() const { return householders * heads * value_dim; }
  /// Rows of q, k and v, which a convolution sees; and with β.
  KROHN_HOST_DEVICE std::uint32_t convolved() const { return queries() + keys() + values(); }
  KROHN_HOST_DEVICE std::uint32_t rows() const { return convolved() + householders * heads; }
  /// The memory of a word: of each layer S, key by key, and the older rows.
  KROHN_HOST_DEVICE std::uint32_t recurrent() const { return heads * key_dim * value_dim; }
  KROHN_HOST_DEVICE std::uint32_t older() const { return taps == 0 ? 0 : taps - 1; }
  KROHN_HOST_DEVICE std::uint64_t memory() const {
    return std::uint64_t{layer_count} * (recurrent() + std::uint64_t{convolved()} * older());
  }
  /// Numbers that a block works with.
  KROHN_HOST_DEVICE std::uint64_t work() const {
    return 3 * std::uint64_t{hidden} + rows() + 2 * std::uint64_t{heads} * value_dim + 2 * std::uint64_t{inner} +
           vocabulary;
  }
};

/// Which tokens stand for letters and states (constructions/checkpoints/checkpoint.h), and the automaton.
struct PlacedTokens {
  const std::uint32_t *of_letter = nullptr, *of_state = nullptr, *next = nullptr;
  std::uint32_t letters = 0, initial = 0, begin = 0;
  bool has_begin = false;
};

/// How a word fared: letters after which the model first said something else than the automaton; all bits: never.
struct CheckpointRecord {
  std::uint64_t failing_at = ~std::uint64_t{0};
  std::uint32_t state = 0;
};

/// Letters [begin, end) of words first_word … : RandomWord(letters, seed, first_word + word).
struct CheckpointWords {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PlacedCheckpoint model;
  PlacedTokens tokens;
  std::uint64_t seed = 0, first_word = 0, begin = 0, end = 0;
  bool stops = true;                 ///< a word that has failed is not read on
  float* memories = nullptr;         ///< model.memory() a word, 0 before the first letter
  float* work = nullptr;             ///< model.work() a block
  std::uint32_t* answers = nullptr;  ///< one a block
  CheckpointRecord* records = nullptr;

  template <class Threads>
  KROHN_HOST_DEVICE void read_word(const Threads& threads, std::uint64_t block, std::uint64_t word) const {
    CheckpointRecord record = records[word];
    if (begin == 0) {
      record = CheckpointRecord{~std::uint64_t{0}, tokens.initial};
      if (tokens.has_begin) step(threads, block, word, tokens.begin);
    }
    RandomReader letters(random_key(seed, first_word + word), tokens.letters, begin);
    for (std::uint64_t at = begin; at < end; ++at) {
      if (stops && record.failing_at != ~std::uint64_t{0}) break;
      const std::uint32_t letter = letters.next();
      record.state = tokens.next[std::uint64_t{record.state} * tokens.letters + letter];
      const std::uint32_t answer = step(threads, block, word, tokens.of_letter[letter]);
      // No token stands for a state that no word reaches.
      const bool is_right = answer != kNone && answer == tokens.of_state[record.state];
      if (!is_right && at + 1 < record.failing_at) record.failing_at = at + 1;
    }
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) records[word] = record;
    });
  }

  /// Reads a token; the token of the greatest logit, or kNone.
  template <class Threads>
  KROHN_HOST_DEVICE std::uint32_t step(const Threads& threads, std::uint64_t block, std::uint64_t word,
                                       std::uint32_t token) const {
    float* const x = work + block * model.work();
    float* const normed = x + model.hidden;
    float* const change = normed + model.hidden;
    float* const rows = change + model.hidden;
    float* const out = rows + model.rows();
    float* const normed_out = out + model.heads * model.value_dim;
    float* const gate = normed_out + model.heads * model.value_dim;
    float* const up = gate + model.inner;
    float* const logits = up + model.inner;
    float* memory = memories + word * model.memory();

    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < model.hidden; i += threads.count)
        x[i] = model.embeddings[std::uint64_t{token} * model.hidden + i];
    });
    for (std::uint32_t k = 0; k < model.layer_count; ++k) {
      const PlacedCheckpointLayer& layer = model.layers[k];
      normalise(threads, x, model.hidden, model.hidden, layer.attention_norm, normed);
      project(threads, layer, normed, rows);
      prepare(threads, layer, rows, memory + model.recurrent());
      recur(threads, rows, memory, out);
      normalise(threads, out, model.heads * model.value_dim, model.value_dim, layer.output_norm, normed_out);
      apply(threads, layer.output, normed_out, change);
      add(threads, x, change);
      normalise(threads, model.fused_norm ? change : x, model.hidden, model.hidden, layer.mlp_norm, normed);
      apply(threads, layer.gate, normed, gate);
      apply(threads, layer.up, normed, up);
      threads.each([&](std::uint32_t thread) {
        for (std::uint32_t i = thread; i < model.inner; i += threads.count)
          gate[i] = round(gate[i] * sigmoid(gate[i]) * up[i]);
      });
      apply(threads, layer.down, gate, change);
      add(threads, x, change);
      memory += model.recurrent() + std::uint64_t{model.convolved()} * model.older();
    }
    normalise(threads, x, model.hidden, model.hidden, model.final_norm, normed);
    apply(threads, model.head, normed, logits);
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) answers[block] = arg_max_of(logits, model.vocabulary);
    });
    return answers[block];
  }

 private:
  KROHN_HOST_DEVICE float round(float value) const { return model.is_bf16 ? round_bf16(value) : value; }
  KROHN_HOST_DEVICE static float sigmoid(float x) { return 1 / (1 + stated_exp(-x)); }

  /// arg_max of simulate/checkpoints/checkpoint_model.h.
  KROHN_HOST_DEVICE static std::uint32_t arg_max_of(const float* logits, std::uint32_t count) {
    std::uint32_t best = 0;
    bool is_shared = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (logits[i] != logits[i]) return kNone;
      if (i == 0 || logits[i] < logits[best]) continue;
      is_shared = logits[i] == logits[best];
      if (!is_shared) best = i;
    }
    return is_shared ? kNone : best;
  }

  /// `change` becomes the sum before it is rounded.
  template <class Threads>
  KROHN_HOST_DEVICE void add(const Threads& threads, float* x, float* change) const {
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < model.hidden; i += threads.count) {
        change[i] = x[i] + change[i];
        x[i] = round(change[i]);
      }
    });
  }

  /// Row by row; a weight times 0 changes no sum.
  template <class Threads>
  KROHN_HOST_DEVICE void apply(const Threads& threads, const PlacedProjection& projection, const float* from,
                               float* to) const {
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t row = thread; row < projection.rows; row += threads.count) {
        const float* const weights = projection.weights + std::uint64_t{row} * projection.columns;
        float sum = 0;
        for (std::uint32_t column = 0; column < projection.columns; ++column)
          if (from[column] != 0) sum += weights[column] * from[column];
        to[row] = round(sum);
      }
    });
  }

  /// Parts of `size` numbers by themselves, a thread each. `weights` are those of one part.
  template <class Threads>
  KROHN_HOST_DEVICE void normalise(const Threads& threads, const float* from, std::uint32_t count, std::uint32_t size,
                                   const float* weights, float* to) const {
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t first = thread * size; first < count; first += threads.count * size) {
        float sum = 0;
        for (std::uint32_t i = first; i < first + size; ++i) sum += from[i] * from[i];
        const float mean = sum / static_cast<float>(size);
        const float scale = 1 / std::sqrt(mean + model.norm_epsilon);
        for (std::uint32_t i = 0; i < size; ++i) to[first + i] = round(from[first + i] * scale * weights[i]);
      }
    });
  }

  template <class Threads>
  KROHN_HOST_DEVICE void project(const Threads& threads, const PlacedCheckpointLayer& layer, const float* from,
                                 float* rows) const {
    apply(threads, layer.query, from, rows);
    apply(threads, layer.key, from, rows + model.queries());
    apply(threads, layer.value, from, rows + model.queries() + model.keys());
    apply(threads, layer.beta, from, rows + model.convolved());
  }

  /// Convolution, SiLU, keys and queries to the norm 1, β.
  template <class Threads>
  KROHN_HOST_DEVICE void prepare(const Threads& threads, const PlacedCheckpointLayer& layer, float* rows,
                                 float* older) const {
    const std::uint32_t values = model.queries() + model.keys();
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t row = thread; row < model.convolved(); row += threads.count) {
        if (layer.taps != nullptr)
          rows[row] = convolve(rows[row], layer.taps + std::uint64_t{row} * model.taps,
                               older + std::uint64_t{row} * model.older());
        const bool silu = row >= values || model.silu_keys;
        rows[row] = round(silu ? rows[row] * sigmoid(rows[row]) : rows[row]);
      }
      for (std::uint32_t b = model.convolved() + thread; b < model.rows(); b += threads.count)
        rows[b] = round(sigmoid(rows[b])) * (model.doubles_beta ? 2.0F : 1.0F);
    });
    threads.each([&](std::uint32_t thread) {
      constexpr float kKeyEpsilon = 1e-6F;
      for (std::uint32_t first = thread * model.key_dim; first < values; first += threads.count * model.key_dim) {
        float sum = 0;
        for (std::uint32_t i = first; i < first + model.key_dim; ++i) sum += rows[i] * rows[i];
        const float scale = 1 / std::sqrt(sum + kKeyEpsilon);
        for (std::uint32_t i = first; i < first + model.key_dim; ++i) rows[i] = round(rows[i] * scale);
      }
    });
  }

  KROHN_HOST_DEVICE float convolve(float row, const float* taps, float* older) const {
    const std::uint32_t kept = model.older();
    float sum = 0;
    for (std::uint32_t tap = 0; tap < kept; ++tap) sum += taps[tap] * older[tap];
    sum += taps[kept] * row;
    for (std::uint32_t tap = 0; tap + 1 < kept; ++tap) older[tap] = older[tap + 1];
    if (kept > 0) older[kept - 1] = row;
    return sum;
  }

  /// A column of a head's S a thread.
  template <class Threads>
  KROHN_HOST_DEVICE void recur(const Threads& threads, const float* rows, float* recurrent, float* out) const {
    const std::uint32_t keys = model.key_dim, values = model.value_dim, heads = model.heads;
    const float* const all_keys = rows + model.queries();
    const float* const all_values = all_keys + model.keys();
    const float* const betas = rows + model.convolved();
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < heads * values; i += threads.count) {
        const std::uint32_t head = i / values, column = i % values;
        float* const state = recurrent + std::uint64_t{head} * keys * values + column;
        for (std::uint32_t j = 0; j < model.householders; ++j) {
          const float* const k = all_keys + (j * heads + head) * keys;
          float seen = 0;
          for (std::uint32_t row = 0; row < keys; ++row) seen += state[row * values] * k[row];
          const float update = (all_values[(j * heads + head) * values + column] - seen) * betas[j * heads + head];
          for (std::uint32_t row = 0; row < keys; ++row) state[row * values] += k[row] * update;
        }
        const float scale = 1 / std::sqrt(static_cast<float>(keys));
        float sum = 0;
        for (std::uint32_t row = 0; row < keys; ++row) sum += state[row * values] * (rows[head * keys + row] * scale);
        out[i] = round(sum);
      }
    });
  }
};

#ifdef KROHN_WITH_CUDA
/// A block a word, `blocks` at a time.
void cuda_read_checkpoint_words(const CheckpointWords& job, std::uint64_t words, std::uint32_t blocks);
#endif

}  // namespace krohn
