#include "krohn/simulate/checkpoints/checkpoint_model.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/error.h"
#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/arithmetic/stated_exp.h"

namespace krohn {
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
  for (std::size_t i = 0; i < decays.size(); ++i)
    decays[i] = -layer.rates[i / per_head] * softplus(decays[i] + layer.decay_bias[i]);
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

/// What the heads read, normalised, gated and projected.
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

}  // namespace krohn
