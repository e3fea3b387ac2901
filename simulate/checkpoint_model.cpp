#include "simulate/checkpoint_model.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <cstring>

#include "groups/error.h"

namespace krohn {
namespace {

constexpr float kKeyEpsilon = 1e-6f;
/// First-layer projections are kept for all tokens up to this many numbers.
constexpr std::uint64_t kMaxCachedNumbers = std::uint64_t{1} << 26;

float to_bf16(float value) { return static_cast<float>(Eigen::bfloat16(value)); }

template <class Stored>
void read_numbers(const Tensor& tensor, std::vector<float>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<float>(stored);
  }
}

std::vector<float> numbers_of(const Checkpoint& checkpoint, const std::string& name, bool as_bf16) {
  const Tensor& tensor = checkpoint.tensors.tensors.at(name);
  std::vector<float> numbers(tensor.elements());
  if (tensor.dtype == "F32") read_numbers<float>(tensor, numbers);
  if (tensor.dtype == "F64") read_numbers<double>(tensor, numbers);
  if (tensor.dtype == "F16") read_numbers<Eigen::half>(tensor, numbers);
  if (tensor.dtype == "BF16") read_numbers<Eigen::bfloat16>(tensor, numbers);
  for (float& number : numbers) {
    if (as_bf16) number = to_bf16(number);
    if (!std::isfinite(number)) throw InputError(name, "holds a number that is not finite");
  }
  return numbers;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

CheckpointModel::CheckpointModel(const Checkpoint& checkpoint, Precision precision)
    : config_(checkpoint.config), is_bf16_(precision == Precision::kBf16) {
  if (precision != Precision::kFp32 && precision != Precision::kBf16)
    throw InputError("--precision", "checkpoints run in fp32 or bf16, as the library's layers do");
  const auto vector_of = [&](const std::string& name) { return numbers_of(checkpoint, name, is_bf16_); };
  const auto projection_of = [&](const std::string& name) {
    const auto& shape = checkpoint.tensors.tensors.at(name).shape;
    return Projection{static_cast<std::uint32_t>(shape[0]), static_cast<std::uint32_t>(shape[1]), vector_of(name)};
  };
  const std::vector<float> embeddings = vector_of("model.embeddings.weight");
  for (std::uint32_t token = 0; token < config_.vocabulary; ++token) {
    const auto row = embeddings.begin() + static_cast<std::ptrdiff_t>(std::size_t{token} * config_.hidden_size);
    embeddings_.emplace_back(row, row + config_.hidden_size);
  }
  final_norm_ = vector_of("model.norm.weight");
  head_ = projection_of("lm_head.weight");
  for (std::uint32_t i = 0; i < config_.layers; ++i) {
    const std::string prefix = fmt::format("model.layers.{}.", i), mixer = prefix + "attn.";
    Layer layer{vector_of(prefix + "attn_norm.weight"),
                vector_of(mixer + "o_norm.weight"),
                vector_of(prefix + "mlp_norm.weight"),
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
                {}};
    if (config_.convolution_taps != 0) {
      layer.query_taps = vector_of(mixer + "q_conv1d.weight");
      layer.key_taps = vector_of(mixer + "k_conv1d.weight");
      layer.value_taps = vector_of(mixer + "v_conv1d.weight");
    }
    layers_.push_back(std::move(layer));
  }
  const Layer& first = layers_.front();
  const std::uint64_t rows = first.query.rows + first.key.rows + first.value.rows + first.beta.rows;
  if (rows * config_.vocabulary > kMaxCachedNumbers) return;
  for (const auto& embedding : embeddings_)
    first_rows_.push_back(project(first, normalise(embedding, first.attention_norm)));
}

float CheckpointModel::round(float value) const { return is_bf16_ ? to_bf16(value) : value; }

CheckpointModel::Memory CheckpointModel::start() const {
  const std::size_t state = std::size_t{config_.heads} * config_.key_dim * config_.value_dim;
  const Layer& layer = layers_.front();
  const std::size_t rows = layer.query.rows + layer.key.rows + layer.value.rows;
  const std::size_t older = config_.convolution_taps == 0 ? 0 : config_.convolution_taps - 1;
  return {std::vector<float>(config_.layers * state, 0), std::vector<float>(config_.layers * rows * older, 0)};
}

std::vector<float> CheckpointModel::apply(const Projection& projection, std::span<const float> input) const {
  std::vector<float> output(projection.rows);
  for (std::size_t row = 0; row < output.size(); ++row) {
    float sum = 0;
    for (std::size_t column = 0; column < input.size(); ++column)
      sum += projection.weights[row * input.size() + column] * input[column];
    output[row] = round(sum);
  }
  return output;
}

std::vector<float> CheckpointModel::normalise(std::span<const float> input, std::span<const float> weights) const {
  float sum = 0;
  for (const float x : input) sum += x * x;
  const float mean = sum / static_cast<float>(input.size());
  const float scale = 1 / std::sqrt(mean + static_cast<float>(config_.norm_epsilon));
  std::vector<float> output(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) output[i] = round(input[i] * scale * weights[i]);
  return output;
}

std::vector<float> CheckpointModel::project(const Layer& layer, std::span<const float> input) const {
  std::vector<float> rows;
  for (const Projection* projection : {&layer.query, &layer.key, &layer.value, &layer.beta}) {
    const std::vector<float> part = apply(*projection, input);
    rows.insert(rows.end(), part.begin(), part.end());
  }
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
    rows[row] = sum;
  }
}

void CheckpointModel::normalise_keys(std::span<float> rows) const {
  for (std::size_t first = 0; first < rows.size(); first += config_.key_dim) {
    float sum = 0;
    for (const float x : rows.subspan(first, config_.key_dim)) sum += x * x;
    const float scale = 1 / std::sqrt(sum + kKeyEpsilon);
    for (float& x : rows.subspan(first, config_.key_dim)) x = round(x * scale);
  }
}

std::vector<float> CheckpointModel::mix(const Layer& layer, std::vector<float> rows, float* recurrent,
                                        float* convolution) const {
  const std::size_t keys = config_.key_dim, values = config_.value_dim, heads = config_.heads;
  const std::span<float> all(rows), query = all.subspan(0, layer.query.rows),
                                    key = all.subspan(query.size(), layer.key.rows),
                                    value = all.subspan(query.size() + key.size(), layer.value.rows),
                                    beta = all.subspan(query.size() + key.size() + value.size());
  if (config_.convolution_taps != 0) {
    const std::size_t older = config_.convolution_taps - 1;
    convolve(query, layer.query_taps, convolution);
    convolve(key, layer.key_taps, convolution + query.size() * older);
    convolve(value, layer.value_taps, convolution + (query.size() + key.size()) * older);
  }
  const auto activate = [&](std::span<float> part, bool silu) {
    for (float& x : part) x = round(silu ? x * sigmoid(x) : x);
  };
  activate(query, config_.silu_keys);
  activate(key, config_.silu_keys);
  activate(value, true);
  normalise_keys(query);
  normalise_keys(key);
  for (float& b : beta) b = round(sigmoid(b)) * (config_.negative_eigenvalues ? 2.f : 1.f);
  const float scale = 1 / std::sqrt(static_cast<float>(keys));
  std::vector<float> output;
  for (std::size_t head = 0; head < heads; ++head) {
    float* const state = recurrent + head * keys * values;
    for (std::size_t j = 0; j < config_.householders; ++j) {
      const float* const k = key.data() + (j * heads + head) * keys;
      const float* const v = value.data() + (j * heads + head) * values;
      for (std::size_t column = 0; column < values; ++column) {
        float read = 0;
        for (std::size_t row = 0; row < keys; ++row) read += state[row * values + column] * k[row];
        const float update = (v[column] - read) * beta[j * heads + head];
        for (std::size_t row = 0; row < keys; ++row) state[row * values + column] += k[row] * update;
      }
    }
    std::vector<float> out(values);
    for (std::size_t column = 0; column < values; ++column) {
      float sum = 0;
      for (std::size_t row = 0; row < keys; ++row)
        sum += state[row * values + column] * (query[head * keys + row] * scale);
      out[column] = round(sum);
    }
    const std::vector<float> normalised = normalise(out, layer.output_norm);
    output.insert(output.end(), normalised.begin(), normalised.end());
  }
  return apply(layer.output, output);
}

std::vector<float> CheckpointModel::step(std::uint32_t token, Memory& memory) const {
  std::vector<float> x = embeddings_[token];
  const std::size_t state = memory.recurrent.size() / layers_.size();
  const std::size_t older = memory.convolution.size() / layers_.size();
  const auto add = [&](const std::vector<float>& change) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = round(x[i] + change[i]);
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool is_known = i == 0 && !first_rows_.empty();
    std::vector<float> rows = is_known ? first_rows_[token] : project(layer, normalise(x, layer.attention_norm));
    add(mix(layer, std::move(rows), memory.recurrent.data() + i * state, memory.convolution.data() + i * older));
    const std::vector<float> y = normalise(x, layer.mlp_norm);
    std::vector<float> gate = apply(layer.gate, y);
    const std::vector<float> up = apply(layer.up, y);
    for (std::size_t j = 0; j < gate.size(); ++j) gate[j] = round(gate[j] * sigmoid(gate[j]) * up[j]);
    add(apply(layer.down, gate));
  }
  return apply(head_, normalise(x, final_norm_));
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

}  // namespace krohn
