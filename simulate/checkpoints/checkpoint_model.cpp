#include "krohn/simulate/checkpoints/checkpoint_model.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/arithmetic/stated_exp.h"

namespace krohn {
namespace {

/// A matrix by rows.
struct Rows {
  Rows(std::size_t height, std::size_t width) : width(width), numbers(height * width, 0) {}
  Rows(std::size_t width, std::vector<float> numbers) : width(width), numbers(std::move(numbers)) {}
  float* operator[](std::size_t row) { return numbers.data() + row * width; }
  const float* operator[](std::size_t row) const { return numbers.data() + row * width; }
  std::size_t height() const { return width == 0 ? 0 : numbers.size() / width; }
  std::size_t width;
  std::vector<float> numbers;
};

class Reader {
 public:
  Reader(const DeltaChunk& chunk, std::span<float> state, bool is_bf16)
      : chunk_(chunk), state_(state), is_bf16_(is_bf16), rows_(chunk.beta.size()), updates_(rows_, chunk.value_dim) {}

  std::vector<float> read() {
    const Rows before = rounded(Rows(chunk_.value_dim, {state_.begin(), state_.end()}));
    for (std::size_t first = 0; first < rows_; first += kDeltaChunk)
      read_block(first, std::min(kDeltaChunk, rows_ - first));
    return answers(before);
  }

 private:
  float round(float value) const { return is_bf16_ ? static_cast<float>(Eigen::bfloat16(value)) : value; }
  Rows rounded(Rows rows) const {
    for (float& number : rows.numbers) number = round(number);
    return rows;
  }
  const float* key(std::size_t row) const { return chunk_.key.data() + row * chunk_.key_dim; }
  const float* value(std::size_t row) const { return chunk_.value.data() + row * chunk_.value_dim; }

  float dot(const float* a, const float* b) const {
    float sum = 0;
    for (std::size_t i = 0; i < chunk_.key_dim; ++i) sum += a[i] * b[i];
    return sum;
  }

  static Rows product(const Rows& a, const Rows& b) {
    Rows c(a.height(), b.width);
    for (std::size_t i = 0; i < a.height(); ++i)
      for (std::size_t k = 0; k < a.width; ++k)
        for (std::size_t j = 0; j < b.width; ++j) c[i][j] += a[i][k] * b[k][j];
    return c;
  }

  /// Row by row of β, rounded.
  template <class Row>
  Rows scaled(std::size_t first, std::size_t count, std::size_t width, const Row& row) const {
    Rows scaled(count, width);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < width; ++j) scaled[i][j] = round(row(first + i)[j] * chunk_.beta[first + i]);
    return scaled;
  }

  /// (I + tril(βk · kᵀ, −1))⁻¹ by forward substitution, rounded.
  Rows inverse(std::size_t first, const Rows& scaled_keys) const {
    const std::size_t count = scaled_keys.height();
    Rows inverse(count, count);
    for (std::size_t i = 0; i < count; ++i) {
      inverse[i][i] = 1;
      for (std::size_t j = 0; j < i; ++j) {
        const float factor = dot(scaled_keys[i], key(first + j));
        for (std::size_t column = 0; column <= j; ++column) inverse[i][column] -= factor * inverse[j][column];
      }
    }
    return rounded(std::move(inverse));
  }

  void read_block(std::size_t first, std::size_t count) {
    const Rows keys = scaled(first, count, chunk_.key_dim, [this](std::size_t row) { return key(row); });
    const Rows values = scaled(first, count, chunk_.value_dim, [this](std::size_t row) { return value(row); });
    const Rows solved = inverse(first, keys);
    const Rows w = rounded(product(solved, keys)), u = rounded(product(solved, values));
    const Rows state = rounded(Rows(chunk_.value_dim, {state_.begin(), state_.end()}));
    const Rows seen = product(w, state);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < chunk_.value_dim; ++j) updates_[first + i][j] = round(u[i][j] - seen[i][j]);
    for (std::size_t row = 0; row < chunk_.key_dim; ++row)
      for (std::size_t j = 0; j < chunk_.value_dim; ++j) {
        float sum = 0;
        for (std::size_t i = first; i < first + count; ++i) sum += key(i)[row] * updates_[i][j];
        state_[row * chunk_.value_dim + j] += sum;
      }
  }

  std::vector<float> answers(const Rows& before) const {
    const float scale = 1 / std::sqrt(static_cast<float>(chunk_.key_dim));
    const Rows query(chunk_.key_dim, chunk_.query);
    Rows answers = product(query, before);
    for (std::size_t token = 0; token < query.height(); ++token) {
      std::vector<float> inside(chunk_.value_dim, 0);
      for (std::size_t row = 0; row < (token + 1) * chunk_.householders; ++row) {
        const float weight = round(dot(query[token], key(row)));
        for (std::size_t j = 0; j < chunk_.value_dim; ++j) inside[j] += weight * updates_[row][j];
      }
      for (std::size_t j = 0; j < chunk_.value_dim; ++j)
        answers[token][j] = answers[token][j] * scale + inside[j] * scale;
    }
    return std::move(answers.numbers);
  }

  const DeltaChunk& chunk_;
  std::span<float> state_;
  bool is_bf16_;
  std::size_t rows_;
  Rows updates_;  ///< v̂
};

}  // namespace

std::vector<float> read_delta_chunk(const DeltaChunk& chunk, std::span<float> state, bool is_bf16) {
  return Reader(chunk, state, is_bf16).read();
}

namespace {

constexpr float kKeyEpsilon = 1e-6f;
/// First-layer projections are kept for all tokens up to this many numbers.
constexpr std::uint64_t kMaxCachedNumbers = std::uint64_t{1} << 26;

float to_bf16(float value) { return static_cast<float>(Eigen::bfloat16(value)); }

std::vector<float> numbers_of(const Checkpoint& checkpoint, const std::string& name, bool as_bf16) {
  const auto stored = floating_numbers(checkpoint.tensors.tensors.at(name));
  std::vector<float> numbers;
  for (const double number : stored.value()) numbers.push_back(static_cast<float>(number));
  for (float& number : numbers) {
    if (as_bf16) number = to_bf16(number);
    if (!std::isfinite(number)) throw InputError(name, "holds a number that is not finite");
  }
  return numbers;
}

float sigmoid(float x) { return 1 / (1 + stated_exp(-x)); }
float softplus(float x) { return x > 20 ? x : static_cast<float>(stated::log1p(double{stated_exp(x)})); }

}  // namespace

CheckpointModel::CheckpointModel(const Checkpoint& checkpoint, Precision precision)
    : config_(checkpoint.config), traits_(traits_of(config_.family)), is_bf16_(precision == Precision::kBf16) {
  if (precision != Precision::kFp32 && precision != Precision::kBf16)
    throw InputError("--precision", "checkpoints run in fp32 or bf16, as the library's layers do");
  const auto vector_of = [&](const std::string& name) { return numbers_of(checkpoint, name, is_bf16_); };
  // Qwen3-Next's norms multiply by 1 + weight, a head's norm excepted.
  const auto norm_of = [&](const std::string& name) {
    std::vector<float> weights = vector_of(name);
    for (float& weight : weights) weight = traits_.has_centred_norms ? 1 + weight : weight;
    return weights;
  };
  const auto projection_of = [&](const std::string& name) {
    const auto& shape = checkpoint.tensors.tensors.at(name).shape;
    return Projection{static_cast<std::uint32_t>(shape[0]), static_cast<std::uint32_t>(shape[1]), vector_of(name)};
  };
  const std::vector<float> embeddings = vector_of("model.embeddings.weight");
  for (std::uint32_t token = 0; token < config_.vocabulary; ++token) {
    const auto row = embeddings.begin() + static_cast<std::ptrdiff_t>(std::size_t{token} * config_.hidden_size);
    embeddings_.emplace_back(row, row + config_.hidden_size);
  }
  final_norm_ = norm_of("model.norm.weight");
  head_ = projection_of("lm_head.weight");
  for (std::uint32_t i = 0; i < config_.layers; ++i) {
    const std::string prefix = fmt::format("model.layers.{}.", i), mixer = prefix + "attn.";
    Layer layer{norm_of(prefix + "attn_norm.weight"),
                vector_of(mixer + "o_norm.weight"),
                norm_of(prefix + "mlp_norm.weight"),
                projection_of(mixer + "q_proj.weight"),
                projection_of(mixer + "k_proj.weight"),
                projection_of(mixer + "v_proj.weight"),
                projection_of(mixer + "b_proj.weight"),
                projection_of(mixer + "o_proj.weight"),
                projection_of(prefix + "mlp.gate_proj.weight"),
                projection_of(prefix + "mlp.up_proj.weight"),
                projection_of(prefix + "mlp.down_proj.weight"),
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {}};
    if (traits_.channel_gates) layer.write = projection_of(mixer + "w_proj.weight");
    if (traits_.decay == Decay::kHead) layer.decay = projection_of(mixer + "a_proj.weight");
    if (traits_.decay == Decay::kChannel) {
      layer.decay_first = projection_of(mixer + "f_proj.0.weight");
      layer.decay = projection_of(mixer + "f_proj.1.weight");
    }
    if (traits_.decay != Decay::kNone) {
      layer.rates = vector_of(mixer + "A_log");
      for (float& rate : layer.rates) rate = stated_exp(rate);
      layer.decay_bias = vector_of(mixer + "dt_bias");
    }
    if (config_.output_gate != OutputGate::kNone && traits_.low_rank_gates) {
      layer.output_gate_first = projection_of(mixer + "g_proj.0.weight");
      layer.output_gate = projection_of(mixer + "g_proj.1.weight");
      layer.output_gate_bias = vector_of(mixer + "g_proj.1.bias");
    } else if (config_.output_gate != OutputGate::kNone) {
      layer.output_gate = projection_of(mixer + "g_proj.weight");
    }
    if (config_.convolution_taps != 0) {
      layer.query_taps = vector_of(mixer + "q_conv1d.weight");
      layer.key_taps = vector_of(mixer + "k_conv1d.weight");
      layer.value_taps = vector_of(mixer + "v_conv1d.weight");
    }
    layers_.push_back(std::move(layer));
  }
  if (has_gates()) forget_zero_taps();
  const Layer& first = layers_.front();
  const std::uint64_t rows = first.query.rows + first.key.rows + first.value.rows + first.beta.rows;
  if (rows * config_.vocabulary > kMaxCachedNumbers) return;
  for (const auto& embedding : embeddings_)
    first_rows_.push_back(project(first, normalise(embedding, first.attention_norm)));
}

/// Tokens that no tap looks at need not be remembered: zero times them adds nothing.
void CheckpointModel::forget_zero_taps() {
  const std::uint32_t taps = config_.convolution_taps;
  std::uint32_t first = taps == 0 ? 0 : taps - 1;
  for (const Layer& layer : layers_)
    for (const std::vector<float>* part : {&layer.query_taps, &layer.key_taps, &layer.value_taps})
      for (std::size_t i = 0; i < part->size(); ++i)
        if ((*part)[i] != 0) first = std::min(first, static_cast<std::uint32_t>(i % taps));
  if (first == 0) return;
  config_.convolution_taps = taps - first;
  for (Layer& layer : layers_)
    for (std::vector<float>* part : {&layer.query_taps, &layer.key_taps, &layer.value_taps}) {
      std::vector<float> kept;
      for (std::size_t i = 0; i < part->size(); ++i)
        if (i % taps >= first) kept.push_back((*part)[i]);
      *part = std::move(kept);
    }
}

float CheckpointModel::round(float value) const { return is_bf16_ ? to_bf16(value) : value; }

CheckpointModel::Memory CheckpointModel::start() const {
  const std::size_t state = std::size_t{config_.heads} * config_.key_dim * config_.value_dim;
  const Layer& layer = layers_.front();
  const std::size_t rows = layer.query.rows + layer.key.rows + layer.value.rows;
  const std::size_t older = config_.convolution_taps == 0 ? 0 : config_.convolution_taps - 1;
  return {std::vector<float>(config_.layers * state, 0), std::vector<float>(config_.layers * rows * older, 0)};
}

std::vector<float> CheckpointModel::apply(const Projection& projection, std::span<const float> input,
                                          std::span<const float> bias) const {
  // Weights are finite: a zero times them adds a zero to a sum that is never −0. krohn's own inputs are mostly zeros.
  std::vector<std::size_t> nonzero;
  for (std::size_t column = 0; column < input.size(); ++column)
    if (input[column] != 0) nonzero.push_back(column);
  std::vector<float> output(projection.rows);
  for (std::size_t row = 0; row < output.size(); ++row) {
    float sum = 0;
    for (const std::size_t column : nonzero) sum += projection.weights[row * input.size() + column] * input[column];
    output[row] = round(bias.empty() ? sum : sum + bias[row]);
  }
  return output;
}

std::vector<float> CheckpointModel::normalise(std::span<const float> input, std::span<const float> weights) const {
  std::vector<float> output = normalise(input, weights, config_.norm_epsilon);
  for (float& x : output) x = round(x);
  return output;
}

/// Not rounded yet.
std::vector<float> CheckpointModel::normalise(std::span<const float> input, std::span<const float> weights,
                                              double epsilon) const {
  float sum = 0;
  for (const float x : input) sum += x * x;
  const float mean = sum / static_cast<float>(input.size());
  const float scale = 1 / std::sqrt(mean + static_cast<float>(epsilon));
  std::vector<float> output(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) output[i] = input[i] * scale * weights[i];
  return output;
}

std::vector<float> CheckpointModel::project(const Layer& layer, std::span<const float> input) const {
  std::vector<float> rows;
  for (const Projection* projection : {&layer.query, &layer.key, &layer.value, &layer.beta}) {
    const std::vector<float> part = apply(*projection, input);
    rows.insert(rows.end(), part.begin(), part.end());
  }
  const auto append = [&](const Projection& first, const Projection& second, std::span<const float> bias) {
    const std::vector<float> part =
        apply(second, first.rows == 0 ? std::vector(input.begin(), input.end()) : apply(first, input), bias);
    rows.insert(rows.end(), part.begin(), part.end());
  };
  if (layer.decay.rows != 0) append(layer.decay_first, layer.decay, {});
  if (layer.output_gate.rows != 0) append(layer.output_gate_first, layer.output_gate, layer.output_gate_bias);
  if (layer.write.rows != 0) append({}, layer.write, {});
  return rows;
}

/// Row r: taps · (older tokens, this one), the last tap being this token's. Then the older tokens move up by one.
void CheckpointModel::convolve(std::span<float> rows, std::span<const float> taps, float* older) const {
  const std::size_t count = config_.convolution_taps, kept = count - 1;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    float* const memory = older + row * kept;
    float sum = 0;
    for (std::size_t tap = 0; tap < kept; ++tap) sum += taps[row * count + tap] * memory[tap];
    sum += taps[row * count + kept] * rows[row];
    for (std::size_t tap = 0; tap + 1 < kept; ++tap) memory[tap] = memory[tap + 1];
    if (kept > 0) memory[kept - 1] = rows[row];
    rows[row] = traits_.is_hybrid ? round(sum) : sum;
  }
}

void CheckpointModel::normalise_keys(std::span<float> rows) const {
  for (std::size_t first = 0; first < rows.size(); first += config_.key_dim) {
    float sum = 0;
    for (const float x : rows.subspan(first, config_.key_dim)) sum += x * x;
    const float scale = 1 / std::sqrt(sum + kKeyEpsilon);
    for (float& x : rows.subspan(first, config_.key_dim)) x = has_gates() ? x * scale : round(x * scale);
  }
}

CheckpointModel::Read::Read(std::vector<float> all, const Layer& layer) : rows(std::move(all)) {
  std::size_t i = 0;
  for (const Projection* part :
       {&layer.query, &layer.key, &layer.value, &layer.beta, &layer.decay, &layer.output_gate, &layer.write}) {
    ends[i + 1] = ends[i] + part->rows;
    ++i;
  }
}

float CheckpointModel::silu(float x) const { return traits_.is_hybrid ? x / (1 + stated_exp(-x)) : x * sigmoid(x); }

/// The logarithms g of the factors α in place of their projections.
void CheckpointModel::log_decay(const Layer& layer, std::span<float> decays) const {
  const std::size_t per_head = decays.size() / config_.heads;
  const auto bound = static_cast<float>(config_.gate_lower_bound);
  for (std::size_t i = 0; i < decays.size(); ++i) {
    const float x = decays[i] + layer.decay_bias[i], rate = layer.rates[i / per_head];
    decays[i] = bound < 0 ? bound * sigmoid(rate * x) : -rate * softplus(x);
  }
}

CheckpointModel::Read CheckpointModel::prepare(const Layer& layer, std::vector<float> rows, float* convolution) const {
  Read read(std::move(rows), layer);
  if (config_.convolution_taps != 0) {
    const std::size_t older = config_.convolution_taps - 1, keys = layer.query.rows, values = keys + layer.key.rows;
    convolve(read.query(), layer.query_taps, convolution);
    convolve(read.key(), layer.key_taps, convolution + keys * older);
    convolve(read.value(), layer.value_taps, convolution + values * older);
  }
  const auto activate = [&](std::span<float> part, bool has_silu) {
    for (float& x : part) x = round(has_silu ? silu(x) : x);
  };
  activate(read.query(), config_.silu_keys);
  activate(read.key(), config_.silu_keys);
  activate(read.value(), true);
  normalise_keys(read.query());
  normalise_keys(read.key());
  // The kernels of gated DeltaNet and KDA take β's sigmoid themselves, in fp32.
  const bool rounds_beta = !has_gates() || traits_.is_hybrid || traits_.channel_gates;
  for (float& b : read.beta())
    b = (rounds_beta ? round(sigmoid(b)) : sigmoid(b)) * (config_.negative_eigenvalues ? 2.f : 1.f);
  if (has_gates()) log_decay(layer, read.decay());
  for (float& w : read.write()) w = round(sigmoid(w));
  return read;
}

void CheckpointModel::forget(Read& read, std::size_t head, float* state) const {
  const std::size_t keys = config_.key_dim, values = config_.value_dim;
  for (std::size_t row = 0; row < keys; ++row) {
    const float factor = stated_exp(read.decay()[traits_.decay == Decay::kHead ? head : head * keys + row]);
    for (std::size_t column = 0; column < values; ++column) state[row * values + column] *= factor;
  }
}

void CheckpointModel::recur(Read& read, std::size_t head, float* state, std::span<float> out) const {
  const std::size_t keys = config_.key_dim, values = config_.value_dim, heads = config_.heads;
  if (has_gates()) forget(read, head, state);
  for (std::size_t j = 0; j < config_.householders; ++j) {
    const float* const k = read.key().data() + (j * heads + head) * keys;
    const float* const v = read.value().data() + (j * heads + head) * values;
    for (std::size_t column = 0; column < values; ++column) {
      const float* const b = read.beta().data() + (traits_.channel_gates ? head * keys : j * heads + head);
      float seen = 0;
      for (std::size_t row = 0; row < keys; ++row)
        seen += state[row * values + column] * (traits_.channel_gates ? b[row] * k[row] : k[row]);
      const float update =
          traits_.channel_gates ? read.write()[head * values + column] * v[column] - seen : (v[column] - seen) * *b;
      for (std::size_t row = 0; row < keys; ++row) state[row * values + column] += k[row] * update;
    }
  }
  const float root = std::sqrt(static_cast<float>(keys)), scale = 1 / root;
  for (std::size_t column = 0; column < values; ++column) {
    float sum = 0;
    for (std::size_t row = 0; row < keys; ++row) {
      const float query = read.query()[head * keys + row];
      sum += state[row * values + column] * (traits_.is_hybrid ? query / root : query * scale);
    }
    out[column] = round(sum);
  }
}

DeltaChunk CheckpointModel::chunk_of(std::span<Read> reads, std::size_t head) const {
  const std::size_t keys = config_.key_dim, values = config_.value_dim, heads = config_.heads;
  DeltaChunk chunk{keys, values, config_.householders, {}, {}, {}, {}};
  const auto append = [](std::vector<float>& all, std::span<const float> part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (Read& read : reads) {
    append(chunk.query, read.query().subspan(head * keys, keys));
    for (std::size_t j = 0; j < config_.householders; ++j) {
      append(chunk.key, read.key().subspan((j * heads + head) * keys, keys));
      append(chunk.value, read.value().subspan((j * heads + head) * values, values));
      chunk.beta.push_back(read.beta()[j * heads + head]);
    }
  }
  return chunk;
}

/// The heads' outputs, normalised, gated and projected.
std::vector<float> CheckpointModel::project_out(const Layer& layer, Read& read, std::span<const float> out) const {
  const std::vector<float> ones(layer.output_norm.size(), 1);
  const std::span<float> gates = read.output_gate();
  std::vector<float> output;
  for (std::size_t first = 0; first < out.size(); first += config_.value_dim) {
    // transformers rounds before the weight and after it; the other library once, after the gate.
    std::vector<float> part = normalise(out.subspan(first, config_.value_dim),
                                        traits_.is_hybrid ? ones : layer.output_norm, config_.output_norm_epsilon);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (traits_.is_hybrid) part[i] = round(layer.output_norm[i] * round(part[i]));
      if (!gates.empty())
        part[i] *= config_.output_gate == OutputGate::kSilu ? silu(gates[first + i]) : sigmoid(gates[first + i]);
      output.push_back(round(part[i]));
    }
  }
  return apply(layer.output, output);
}

void CheckpointModel::mix(const Layer& layer, std::span<Read> reads, float* recurrent, bool in_chunks,
                          std::span<std::vector<float>> changes) const {
  const std::size_t values = config_.value_dim, numbers = std::size_t{config_.key_dim} * values;
  std::vector<std::vector<float>> out(reads.size(), std::vector<float>(config_.heads * values));
  for (std::size_t head = 0; head < config_.heads; ++head) {
    float* const state = recurrent + head * numbers;
    if (!in_chunks) {
      for (std::size_t t = 0; t < reads.size(); ++t)
        recur(reads[t], head, state, std::span(out[t]).subspan(head * values, values));
      continue;
    }
    const std::vector<float> answers = read_delta_chunk(chunk_of(reads, head), {state, numbers}, is_bf16_);
    for (std::size_t i = 0; i < answers.size(); ++i) out[i / values][head * values + i % values] = round(answers[i]);
  }
  for (std::size_t t = 0; t < reads.size(); ++t) changes[t] = project_out(layer, reads[t], out[t]);
}

/// down(swish(gate(y)) · up(y))
std::vector<float> CheckpointModel::look_up(const Layer& layer, std::span<const float> y) const {
  std::vector<float> gate = apply(layer.gate, y);
  const std::vector<float> up = apply(layer.up, y);
  for (std::size_t j = 0; j < gate.size(); ++j)
    gate[j] = round((traits_.is_hybrid ? round(silu(gate[j])) : silu(gate[j])) * up[j]);
  return apply(layer.down, gate);
}

std::vector<std::vector<float>> CheckpointModel::read(std::span<const std::uint32_t> tokens, Memory& memory,
                                                      bool in_chunks) const {
  const std::size_t state = memory.recurrent.size() / layers_.size();
  const std::size_t older = memory.convolution.size() / layers_.size();
  std::vector<std::vector<float>> hidden, changes(tokens.size());
  for (const std::uint32_t token : tokens) hidden.push_back(embeddings_[token]);
  const auto add = [&](std::vector<float>& x, const std::vector<float>& change) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = round(x[i] + change[i]);
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool is_known = i == 0 && !first_rows_.empty();
    std::vector<Read> reads;
    for (std::size_t t = 0; t < tokens.size(); ++t)
      reads.push_back(
          prepare(layer, is_known ? first_rows_[tokens[t]] : project(layer, normalise(hidden[t], layer.attention_norm)),
                  memory.convolution.data() + i * older));
    mix(layer, reads, memory.recurrent.data() + i * state, in_chunks, changes);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      std::vector<float> sum = hidden[t];
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += changes[t][j];
      add(hidden[t], changes[t]);
      add(hidden[t], look_up(layer, normalise(config_.fused_norm ? sum : hidden[t], layer.mlp_norm)));
    }
  }
  for (std::vector<float>& x : hidden) x = apply(head_, normalise(x, final_norm_));
  return hidden;
}

CheckpointModel::FirstStep CheckpointModel::first_step(std::uint32_t token) const {
  const Layer& layer = layers_.front();
  Memory memory = start();
  Read read =
      prepare(layer, project(layer, normalise(embeddings_[token], layer.attention_norm)), memory.convolution.data());
  const auto copy = [](std::span<const float> part) { return std::vector<float>(part.begin(), part.end()); };
  return {copy(read.query()), copy(read.key()), copy(read.value()), copy(read.beta()), copy(read.decay())};
}

std::vector<CheckpointModel::HeadMap> CheckpointModel::first_maps(std::uint32_t token) const {
  const Layer& layer = layers_.front();
  const std::size_t keys = config_.key_dim, values = config_.value_dim, taps = config_.convolution_taps;
  for (std::size_t i = 0; i < layer.key_taps.size(); ++i)
    if (layer.key_taps[i] != 0 && i % taps != taps - 1)
      throw InputError("the keys of its first layer look at tokens before, so that no one matrix is a letter's");
  Memory memory = start();
  Read read =
      prepare(layer, project(layer, normalise(embeddings_[token], layer.attention_norm)), memory.convolution.data());
  for (float& value : read.value()) value = 0;
  std::vector<HeadMap> maps(config_.heads);
  const std::size_t betas = read.beta().size() / config_.heads;
  for (std::size_t head = 0; head < config_.heads; ++head) {
    maps[head].matrix.resize(keys * keys);
    for (std::size_t column = 0; column < keys; ++column) {
      std::vector<float> state(keys * values, 0), out(values);
      state[column * values] = 1;
      recur(read, head, state.data(), out);
      for (std::size_t row = 0; row < keys; ++row) maps[head].matrix[row * keys + column] = state[row * values];
    }
    // Of Householders, one for each; of channels, those of the head.
    for (std::size_t i = 0; i < betas; ++i)
      maps[head].betas.push_back(read.beta()[traits_.channel_gates ? head * keys + i : i * config_.heads + head]);
  }
  return maps;
}

std::vector<std::vector<float>> CheckpointModel::read_chunk(std::span<const std::uint32_t> tokens,
                                                            Memory& memory) const {
  if (has_gates()) throw InputError("layers that forget are read token by token, not in chunks");
  if (tokens.size() > kDeltaChunk)
    throw InputError(fmt::format("a chunk has at most {} tokens, not {}", kDeltaChunk, tokens.size()));
  return read(tokens, memory, true);
}

std::vector<float> CheckpointModel::step(std::uint32_t token, Memory& memory) const {
  return std::move(read({&token, 1}, memory, false).front());
}

std::optional<std::uint32_t> arg_max(std::span<const float> logits) {
  std::uint32_t best = 0;
  bool is_shared = false;
  for (std::uint32_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) return std::nullopt;
    if (i == 0 || logits[i] < logits[best]) continue;
    is_shared = logits[i] == logits[best];
    if (!is_shared) best = i;
  }
  if (logits.empty() || is_shared) return std::nullopt;
  return best;
}

namespace {

constexpr double kWhole = 0x1p24;          ///< whole numbers up to here are floats
constexpr double kLeastNormal = 0x1p-126;  ///< whole numbers of grains from here on neither vanish nor are flushed
constexpr double kLargestGrain = 0x1p103;  ///< 2^24 of these are finite floats
constexpr double kEmpties = -128;  ///< e^x is zero in fp32 from −104 on, and by whatever algorithm from here on
constexpr std::uint64_t kMostProducts = std::uint64_t{1} << 30;

bool is_whole(double x) { return x == std::floor(x); }

/// The greatest power of two of which the number is a multiple. Not of zero.
double grain_of(double x) {
  int exponent = 0;
  double mantissa = std::frexp(std::abs(x), &exponent);
  while (!is_whole(mantissa)) mantissa *= 2, --exponent;
  double grain = std::ldexp(1.0, exponent);
  while (is_whole(x / (2 * grain))) grain *= 2;
  return grain;
}

/// The least grain and the greatest size of some numbers; zero has neither.
struct Extent {
  double grain = INFINITY, size = 0;
  void add(double x) {
    if (x == 0) return;
    grain = std::min(grain, grain_of(x));
    size = std::max(size, std::abs(x));
  }
  double grains() const { return size == 0 ? 0 : size / grain; }
};

/// One head of the first layer, token by token.
struct Step {
  std::uint32_t token = 0;
  std::span<const float> key, value, query;
  double beta = 0, log_decay = 0;
  bool empties() const { return log_decay != 0; }
  bool writes() const {
    const auto is_not_zero = [](float x) { return x != 0; };
    return beta != 0 && std::ranges::any_of(key, is_not_zero) && std::ranges::any_of(value, is_not_zero);
  }
};

/// Numbers are dyadic floats of few bits here, or the sum of products is not exact and not whole either way: then it is
/// refused.
std::optional<double> product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double term = double{a[i]} * double{b[i]}, next = sum + term;
    if (next - sum != term || next - term != sum) return std::nullopt;
    sum = next;
  }
  return sum;
}

std::string refusal(const Step& step, const std::string& what) {
  return fmt::format("of token {} {}", step.token, what);
}

/// The condition among 1 to 4 that fails; empty when all hold.
std::string refusal_of(const std::vector<Step>& steps, std::uint32_t chunk) {
  bool reflects = false, keeps_writing = false;
  for (const Step& step : steps) {
    if (step.beta != 0 && step.beta != 1 && step.beta != 2) return refusal(step, "β is neither 0, 1 nor 2");
    if (!is_whole(step.log_decay) || step.log_decay > 0 || -step.log_decay * chunk >= kWhole)
      return refusal(step, "the decay's logarithm is no whole number, or too large for a chunk");
    if (step.empties() && step.log_decay > kEmpties) return refusal(step, "the decay is neither 1 nor safely 0");
    const auto length = product(step.key, step.key);
    if (!length || *length > 1) return refusal(step, "the key is longer than 1, or rounds");
    reflects = reflects || (step.beta != 0 && step.beta != 1 && *length != 0) || (*length != 0 && *length != 1);
    keeps_writing = keeps_writing || (step.writes() && !step.empties());
  }
  for (const Step& step : steps) {
    if (step.empties()) continue;
    for (const Step& other : steps) {
      const auto both = product(step.key, other.key);
      if (!both || !is_whole(step.beta * *both))
        return refusal(step, fmt::format("the key meets that of token {} in no whole number", other.token));
      if (keeps_writing && (reflects || (*both != 0 && *both != 1)))
        return refusal(step, "the head is written to without being emptied, and its keys are not orthonormal");
    }
  }
  return {};
}

/// Where 1 to 4 hold: the grains of the greatest sum; infinity where 6 does not.
double grains_of(const std::vector<Step>& steps, double chunk) {
  Extent keys, values, queries;
  for (const Step& step : steps) {
    for (const float x : step.key) keys.add(double{x});
    for (const float x : step.query) queries.add(double{x});
    for (const float x : step.value) values.add(step.beta * double{x});
  }
  if (keys.size == 0) return 0;
  const double width = static_cast<double>(steps.front().key.size());
  // No sum has more factors than four numbers of keys, one of values and one of queries over √K.
  const double four = std::pow(keys.grain, 4), query = queries.size == 0 ? 1 : queries.grain / std::sqrt(width);
  const double value = values.size == 0 ? 1 : values.grain;
  const double finest = std::min(four, 1.0) * std::min(query, 1.0) * std::min(value, 1.0),
               coarsest = std::max(four, 1.0) * std::max(query, 1.0) * std::max(value, 1.0);
  if (finest < kLeastNormal || coarsest > kLargestGrain) return INFINITY;
  const double key = 2 * keys.grains(), written = values.grains();  // of β k, and of β v
  const double met = 2 / (keys.grain * keys.grain);                 // β k·k' in parts
  const double solving = 1 + 2 * chunk * (2 * chunk);            // r_i − Σ A_im x_m, where |x| ≤ 2 · chunk · |r|
  const double inverting = 2 * chunk * solving;                  // and where blocks of T stand for those of A
  const double state = std::sqrt(width) * written / keys.grain;  // S, of grains of keys and values
  const double read = width * (2 * chunk * key) * state;         // Y S in parts, of grains of keys² and values
  const double update = read + inverting * written / (keys.grain * keys.grain);  // X − Y S in parts
  const double u = 2 * (1 + std::sqrt(width)) * written;  // |u| ≤ β (|v| + |S|), whole by the values
  const double added = state + chunk * key * u;           // S + Kᵀ u
  const double answer = width * queries.grains() * (state + chunk * key * u);  // q S + (q·k) u
  return std::max({met, inverting * key, inverting * written, read, update, added, answer});
}

}  // namespace

ChunkBound bound_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model, std::uint32_t chunk) {
  const CheckpointConfig& config = model.config();
  ChunkBound bound;
  const auto no = [&](std::string why) {
    bound.why_not = std::move(why);
    return bound;
  };
  if (config.layers != 1) return no("there are several layers");
  if (traits_of(config.family).decay != Decay::kHead) return no("its layers do not have one decay for each head");
  if (config.convolution_taps > 1) return no("a convolution looks at tokens before");
  std::set<std::uint32_t> tokens(checkpoint.tokens.of_letter.begin(), checkpoint.tokens.of_letter.end());
  if (checkpoint.tokens.begin) tokens.insert(*checkpoint.tokens.begin);
  const std::size_t keys = config.key_dim, values = config.value_dim;
  if (std::popcount(keys) != 1 || std::countr_zero(keys) % 2 != 0) return no("√K is no power of two");
  if (tokens.size() * tokens.size() * config.heads * keys > kMostProducts) return no("there are too many letters");
  std::vector<CheckpointModel::FirstStep> rows;
  for (const std::uint32_t token : tokens) rows.push_back(model.first_step(token));
  for (std::size_t head = 0; head < config.heads; ++head) {
    std::vector<Step> steps;
    auto token = tokens.begin();
    for (const CheckpointModel::FirstStep& row : rows) {
      steps.push_back(
          {*token++, std::span(row.key).subspan(head * keys, keys), std::span(row.value).subspan(head * values, values),
           std::span(row.query).subspan(head * keys, keys), double{row.beta[head]}, double{row.log_decay[head]}});
      // Of a key that is zero nothing comes, whatever its β.
      if (std::ranges::all_of(steps.back().key, [](float x) { return x == 0; })) steps.back().beta = 0;
    }
    if (std::string why = refusal_of(steps, chunk); !why.empty()) return no(std::move(why));
    bound.grains = std::max(bound.grains, grains_of(steps, chunk));
  }
  bound.is_exact = bound.grains < kWhole;
  if (std::isinf(bound.grains)) return no("its numbers, multiplied, leave the range of fp32");
  if (!bound.is_exact) bound.why_not = fmt::format("a sum may have {:.0f} grains, and 2^24 are exact", bound.grains);
  return bound;
}

}  // namespace krohn
