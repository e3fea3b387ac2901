#include "krohn/constructions/checkpoints/checkpoint_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Family = CheckpointConfig::Family;

/// Keys before normalisation: a power of two, so large that ε = 10⁻⁶ vanishes beside its square and SiLU beside itself.
constexpr float kRaw = 64;
/// sigmoid(32) is 1 in fp32 and bf16: with negative eigenvalues β = 2. sigmoid(0) is ½: β = 1.
constexpr float kReflect = 32;
/// A decay's logarithm is −softplus of these: of −128, with its sign, zero, and of what is left of 1024, so far from
/// zero that e^x is zero. sigmoid(−128) is zero too.
constexpr float kKeepAll = -128, kForget = 1024;
/// SiLU takes it to itself, sigmoid to 1.
constexpr float kGate = 64;
/// The input that opens a unit of the MLP: SiLU maps it to itself and its negative to −0.
constexpr float kOpen = 128;
/// The greatest key of one head that the library's chunk kernels take.
constexpr std::uint32_t kMaxKeyDim = 256;
constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 27;

std::vector<float> ones(std::uint64_t count) { return std::vector<float>(count, 1); }

/// Every row passes the present token on.
std::vector<float> passing_taps(std::uint64_t rows, std::uint32_t taps) {
  std::vector<float> weights(rows * taps, 0);
  for (std::uint64_t row = 0; row < rows && taps > 0; ++row) weights[row * taps + taps - 1] = 1;
  return weights;
}

std::uint64_t numbers_of(const CheckpointConfig& c) {
  const std::uint64_t d = c.hidden_size, h = c.heads, n = c.householders;
  const std::uint64_t streams = c.streams, connections = 2 * (2 + streams) * streams * streams;
  const std::uint64_t rows =
      h * c.key_dim * (n + 1) + h * c.value_dim * (n + 1) + n * h + 3ull * c.intermediate_size + connections;
  return d * (2ull * c.vocabulary + c.layers * rows);
}

}  // namespace

std::uint32_t least_power_of_4(std::uint32_t least) {
  std::uint32_t power = 1;
  while (power < least) power *= 4;
  return power;
}

CheckpointConfig config_of(Family family) {
  CheckpointConfig config;
  config.family = family;
  config.silu_keys = family != Family::kDeltaNet;
  config.negative_eigenvalues = traits_of(family).can_reflect;
  config.fused_norm = !traits_of(family).is_hybrid;
  // Gated DeltaNet's gate is a choice.
  if (family != Family::kGatedDeltaNet) config.output_gate = traits_of(family).gate;
  if (family == Family::kOlmoHybrid) config.output_norm_epsilon = kOlmoOutputEpsilon;
  if (family == Family::kGlm5Next) {  // the class's own numbers, but for those that would round
    config.gate_lower_bound = -5;
    config.streams = 4;
    config.stream_epsilon = 0;
    config.sinkhorn_rounds = 20;
    config.swiglu_limit = kOpen;
  }
  return config;
}

CheckpointWriter::CheckpointWriter(const CheckpointConfig& config, std::uint32_t active, std::uint32_t active_later)
    : config_(config),
      scale_(std::sqrt(static_cast<float>(config.hidden_size) / static_cast<float>(active))),
      later_scale_(active_later == 0
                       ? scale_
                       : std::sqrt(static_cast<float>(config.hidden_size) / static_cast<float>(active_later))) {
  for (std::uint32_t layer = 0; traits_of(config.family).is_hybrid && layer < config.layers; ++layer)
    config_.recurrent_layers.push_back(layer);
  // The library's caches ask an attention layer how long the text is.
  if (traits_of(config.family).is_hybrid) config_.all_layers = config.layers + 1;
  const CheckpointConfig& c = config_;
  if (numbers_of(c) > kMaxNumbers)
    throw LimitError(fmt::format(
        "the checkpoint would have {} weights; krohn writes up to {}. {}targets of `krohn compile` that are "
        "no checkpoints store structure instead of matrices",
        numbers_of(c), kMaxNumbers,
        c.family == Family::kDeltaNet ? "fla-gated-deltaproduct may take fewer layers, and " : "The "));
  const std::uint64_t d = c.hidden_size, keys = std::uint64_t{c.heads} * c.key_dim;
  const std::uint64_t values = std::uint64_t{c.heads} * c.value_dim, n = c.householders, inner = c.intermediate_size;
  const auto zeros = [](std::uint64_t count) { return std::vector<float>(count, 0); };
  const std::uint64_t betas = traits_of(c.family).channel_gates ? keys : n * c.heads;
  layers_.assign(c.layers, {zeros(keys * d), zeros(n * keys * d), zeros(n * values * d), zeros(betas * d),
                            zeros(d * values), zeros(inner * d), zeros(inner * d), zeros(d * inner),
                            passing_taps(n * values, c.convolution_taps), zeros(d), zeros(d), 0});
  embeddings_ = zeros(c.vocabulary * d);
  head_ = zeros(c.vocabulary * d);
}

void CheckpointWriter::set_key(std::uint32_t layer, std::uint32_t input, std::uint32_t householder, std::uint32_t head,
                               std::uint32_t coordinate, float sign) {
  const std::size_t row = (std::size_t{householder} * config_.heads + head) * config_.key_dim + coordinate;
  layers_[layer].key[row * config_.hidden_size + input] = sign * kRaw / scale_;
}

void CheckpointWriter::set_query(std::uint32_t layer, std::uint32_t input, std::uint32_t head,
                                 std::uint32_t coordinate) {
  const std::size_t row = std::size_t{head} * config_.key_dim + coordinate;
  layers_[layer].query[row * config_.hidden_size + input] = kRaw / scale_;
}

void CheckpointWriter::reflect(std::uint32_t layer, std::uint32_t input, std::uint32_t householder,
                               std::uint32_t head) {
  set_beta(layer, input, householder, head, kReflect);
}

void CheckpointWriter::set_beta(std::uint32_t layer, std::uint32_t input, std::uint32_t householder, std::uint32_t head,
                                float logit) {
  const std::size_t row = std::size_t{householder} * config_.heads + head;
  layers_[layer].beta[row * config_.hidden_size + input] = logit / scale_;
}

void CheckpointWriter::set_erase(std::uint32_t layer, std::uint32_t input, std::uint32_t head, std::uint32_t coordinate,
                                 bool all) {
  const std::size_t row = std::size_t{head} * config_.key_dim + coordinate;
  layers_[layer].beta[row * config_.hidden_size + input] = (all ? kReflect : kKeepAll) / scale_;
}

void CheckpointWriter::empty(std::uint32_t layer, std::uint32_t input) {
  layers_[layer].decay[input] = kForget / scale_;
}

void CheckpointWriter::set_decay(std::uint32_t layer, std::uint32_t input, float logit) {
  layers_[layer].decay[input] = (logit - kKeepAll) / scale_;
}

void CheckpointWriter::open_gates(std::uint32_t layer, std::span<const std::uint32_t> inputs) {
  for (const std::uint32_t input : inputs) layers_[layer].output_gate[input] = kGate / scale_;
}

void CheckpointWriter::forget_sign(std::uint32_t layer, std::uint32_t coordinate,
                                   std::span<const std::uint32_t> always) {
  const Term negative{coordinate, -1}, twice{coordinate, 2};
  add_unit(layer, {&negative, 1}, always, {&twice, 1});
}

float CheckpointWriter::unit_output() const {
  return kActive / open_gate() / std::sqrt(static_cast<float>(config_.value_dim));
}

float CheckpointWriter::open_gate() const { return config_.output_gate == OutputGate::kSilu ? kGate : 1; }

void CheckpointWriter::set_value(std::uint32_t layer, std::uint32_t input, std::uint32_t head, std::uint32_t coordinate,
                                 float value) {
  const std::size_t row = std::size_t{head} * config_.value_dim + coordinate;
  layers_[layer].value[row * config_.hidden_size + input] = value / scale_;
}

void CheckpointWriter::delay_value(std::uint32_t layer, std::uint32_t head, std::uint32_t coordinate) {
  const std::size_t taps = config_.convolution_taps, row = std::size_t{head} * config_.value_dim + coordinate;
  float* const first = layers_[layer].value_taps.data() + row * taps;
  first[taps - 1] = 0;
  first[taps - 2] = 1;
}

void CheckpointWriter::set_output(std::uint32_t layer, std::uint32_t head, std::uint32_t coordinate,
                                  std::uint32_t output, float value) {
  const std::size_t columns = std::size_t{config_.heads} * config_.value_dim;
  const std::size_t column = std::size_t{head} * config_.value_dim + coordinate;
  layers_[layer].output[output * columns + column] = value;
}

void CheckpointWriter::add_unit(std::uint32_t layer, std::span<const Term> when, std::span<const std::uint32_t> always,
                                std::span<const Term> change) {
  Layer& own = layers_[layer];
  const std::size_t d = config_.hidden_size, unit = own.units++;
  for (const Term& term : when) own.gate[unit * d + term.coordinate] = term.factor * kOpen / later_scale_;
  for (const std::uint32_t coordinate : always) own.up[unit * d + coordinate] = 1 / later_scale_;
  for (const Term& term : change)
    own.down[term.coordinate * std::size_t{config_.intermediate_size} + unit] += term.factor * kActive / kOpen;
}

void CheckpointWriter::set_embedding(std::uint32_t token, std::uint32_t coordinate) {
  embeddings_[std::size_t{token} * config_.hidden_size + coordinate] = kActive;
}

void CheckpointWriter::set_logit(std::uint32_t token, std::uint32_t coordinate, float weight) {
  head_[std::size_t{token} * config_.hidden_size + coordinate] = weight;
}

/// The same row `count` times.
static std::vector<float> repeated(std::span<const float> row, std::uint64_t count) {
  std::vector<float> rows;
  for (std::uint64_t i = 0; i < count; ++i) rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

void CheckpointWriter::add_gates(const Layer& layer, const std::string& mixer, const AddTensor& add) const {
  const std::uint64_t d = config_.hidden_size, h = config_.heads, k = config_.key_dim, v = config_.value_dim;
  const FamilyTraits& traits = traits_of(config_.family);
  const auto numbers = [](std::uint64_t count, float value) { return std::vector<float>(count, value); };
  // Through the first of `value_dim` numbers, where a projection goes through them.
  const auto narrow = [&](const std::vector<float>& row) {
    std::vector<float> first(v * d, 0);
    std::copy(row.begin(), row.end(), first.begin());
    return first;
  };
  const auto wide = [&](std::uint64_t rows) {
    std::vector<float> all(rows * v, 0);
    for (std::uint64_t row = 0; row < rows; ++row) all[row * v] = 1;
    return all;
  };
  if (traits.channel_gates) add(mixer + "w_proj.weight", repeated(layer.output_gate, h * v), {h * v, d});
  if (traits.decay == Decay::kHead) add(mixer + "a_proj.weight", repeated(layer.decay, h), {h, d});
  if (traits.decay == Decay::kChannel) {
    add(mixer + "f_proj.0.weight", narrow(layer.decay), {v, d});
    add(mixer + "f_proj.1.weight", wide(h * k), {h * k, v});
  }
  if (traits.decay != Decay::kNone) {
    const std::uint64_t factors = traits.decay == Decay::kHead ? h : h * k;
    add(mixer + "A_log", numbers(h, 0), config_.family == Family::kKimiLinear ? Shape{1, 1, h, 1} : Shape{h});
    add(mixer + "dt_bias", numbers(factors, kKeepAll), {factors});
  }
  if (config_.output_gate == OutputGate::kNone) return;
  if (!traits.low_rank_gates) return add(mixer + "g_proj.weight", repeated(layer.output_gate, h * v), {h * v, d});
  if (traits.is_kimi) {
    add(mixer + "g_proj.0.weight", narrow(layer.output_gate), {v, d});
    return add(mixer + "g_proj.1.weight", wide(h * v), {h * v, v});
  }
  add(mixer + "g_proj.0.weight", numbers(v * d, 0), {v, d});
  add(mixer + "g_proj.1.weight", numbers(h * v * v, 0), {h * v, v});
  add(mixer + "g_proj.1.bias", numbers(h * v, kGate), {h * v});
}

Checkpoint CheckpointWriter::finish() const {
  Checkpoint checkpoint;
  checkpoint.config = config_;
  const std::uint64_t d = config_.hidden_size, h = config_.heads, k = config_.key_dim, v = config_.value_dim;
  const std::uint64_t n = config_.householders, inner = config_.intermediate_size, taps = config_.convolution_taps;
  const auto add = [&](const std::string& name, const std::vector<float>& values, Shape shape) {
    checkpoint.tensors.tensors.emplace(name, make_tensor(values, std::move(shape)));
  };
  const FamilyTraits& traits = traits_of(config_.family);
  // Norms that multiply by 1 + weight begin with 0.
  const auto norm = [&](std::uint64_t count) { return std::vector<float>(count, traits.has_centred_norms ? 0 : 1); };
  add("model.embeddings.weight", embeddings_, {config_.vocabulary, d});
  for (std::uint32_t i = 0; i < config_.layers; ++i) {
    const Layer& layer = layers_[i];
    const std::string name = fmt::format("model.layers.{}.", i);
    add(name + "attn_norm.weight", norm(d), {d});
    add(name + "attn.q_proj.weight", layer.query, {h * k, d});
    add(name + "attn.k_proj.weight", layer.key, {n * h * k, d});
    add(name + "attn.v_proj.weight", layer.value, {n * h * v, d});
    add(name + "attn.b_proj.weight", layer.beta, {traits.channel_gates ? h * k : n * h, d});
    add_gates(layer, name + "attn.", add);
    add(name + "attn.o_norm.weight", ones(v), {v});
    add(name + "attn.o_proj.weight", layer.output, {d, h * v});
    add(name + "mlp_norm.weight", norm(d), {d});
    add(name + "mlp.gate_proj.weight", layer.gate, {inner, d});
    add(name + "mlp.up_proj.weight", layer.up, {inner, d});
    add(name + "mlp.down_proj.weight", layer.down, {d, inner});
    for (const char* const connection : {"attn_hc.", "mlp_hc."}) {
      const std::vector<float> base = plain_connection(config_.streams);
      if (base.empty()) continue;
      add(name + connection + "fn", std::vector<float>(base.size() * config_.streams * d, 0),
          {base.size(), config_.streams * d});
      add(name + connection + "base", base, {base.size()});
      add(name + connection + "scale", ones(3), {3});
    }
    if (taps == 0) continue;
    add(name + "attn.q_conv1d.weight", passing_taps(h * k, config_.convolution_taps), {h * k, 1, taps});
    add(name + "attn.k_conv1d.weight", passing_taps(n * h * k, config_.convolution_taps), {n * h * k, 1, taps});
    add(name + "attn.v_conv1d.weight", layer.value_taps, {n * h * v, 1, taps});
  }
  add("model.norm.weight", norm(d), {d});
  add("lm_head.weight", head_, {config_.vocabulary, d});
  return checkpoint;
}

Checkpoint with_automaton(Checkpoint checkpoint, const Dfa& automaton, const TrackedStates& tracked) {
  checkpoint.automaton = automaton;
  TokenTable& tokens = checkpoint.tokens;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) tokens.of_letter.push_back(letter);
  tokens.begin = automaton.letters();
  tokens.of_state.assign(automaton.states(), TokenTable::kNone);
  for (Label label = 0; label < tracked.count(); ++label)
    tokens.of_state[tracked.states[label]] = automaton.letters() + 1 + label;
  return checkpoint;
}

std::uint32_t key_dim_for_points(Family family, Point n, std::uint32_t starts) {
  return family == Family::kGatedDeltaProduct ? 4 * n + least_power_of_4(4 * starts) - 2
                                              : 2 * n + least_power_of_4(2 * starts) - 2;
}

std::uint32_t householders_for_points(Family family, std::size_t swaps, std::uint32_t starts) {
  return family == Family::kGatedDeltaProduct ? std::max(1 + starts, static_cast<std::uint32_t>(2 * swaps)) : 1;
}

void write_erasure(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                   Point point, bool all) {
  for (const std::uint32_t coordinate : {point, n + point}) writer.set_erase(layer, input, head, coordinate, all);
}

namespace {

void write_doubled_swap(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                        const Transposition& swap) {
  const float second = writer.config().silu_keys ? 1 : -1;
  writer.set_key(layer, input, 0, head, swap.first);
  writer.set_key(layer, input, 0, head, n + swap.first);
  writer.set_key(layer, input, 0, head, swap.second, second);
  writer.set_key(layer, input, 0, head, n + swap.second, second);
  if (!traits_of(writer.config().family).channel_gates) return writer.reflect(layer, input, 0, head);
  for (const Point point : {swap.first, swap.second}) write_erasure(writer, layer, input, head, n, point, true);
}

/// One key of 4^j equal entries: the points' own, and spare coordinates.
void write_doubled_start(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head,
                         Point n, std::span<const Point> points) {
  for (const Point point : points) {
    writer.set_key(layer, input, 0, head, point);
    writer.set_key(layer, input, 0, head, n + point);
  }
  const auto active = static_cast<std::uint32_t>(2 * points.size());
  for (std::uint32_t spare = 0; spare < least_power_of_4(active) - active; ++spare)
    writer.set_key(layer, input, 0, head, 2 * n + spare);
}

/// One write of a_i, c_i, a pair of spare coordinates per point and more spares up to 4^j equal entries, then for every
/// point a reflection that turns its spare pair into −b_i, −d_i.
void write_signed_start(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                        std::span<const Point> points) {
  const auto count = static_cast<std::uint32_t>(points.size());
  for (const Point point : points) {
    writer.set_key(layer, input, 0, head, point);
    writer.set_key(layer, input, 0, head, 2 * n + point);
  }
  for (std::uint32_t spare = 0; spare < least_power_of_4(4 * count) - 2 * count; ++spare)
    writer.set_key(layer, input, 0, head, 4 * n + spare);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t coordinate : {n + points[i], 3 * n + points[i], 4 * n + 2 * i, 4 * n + 2 * i + 1})
      writer.set_key(layer, input, 1 + i, head, coordinate);
    writer.reflect(layer, input, 1 + i, head);
  }
}

}  // namespace

void write_swaps(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                 std::span<const Transposition> swaps) {
  if (writer.config().family != Family::kGatedDeltaProduct) {
    for (const Transposition& swap : swaps) write_doubled_swap(writer, layer, input, head, n, swap);
    return;
  }
  std::uint32_t householder = 0;
  const auto reflect = [&](Point first, Point second) {
    for (const std::uint32_t coordinate : {first, n + second, 2 * n + first, 3 * n + second})
      writer.set_key(layer, input, householder, head, coordinate);
    writer.reflect(layer, input, householder++, head);
  };
  for (const Transposition& swap : swaps) {
    reflect(swap.first, swap.second);
    reflect(swap.second, swap.first);
  }
}

void write_start(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                 std::span<const Point> points, float value) {
  if (writer.config().family != Family::kGatedDeltaProduct)
    write_doubled_start(writer, layer, input, head, n, points);
  else
    write_signed_start(writer, layer, input, head, n, points);
  writer.set_value(layer, input, head, 0, value);
}

void require_key_dim(std::uint64_t key_dim, Point points) {
  if (key_dim > kMaxKeyDim)
    throw LimitError(
        fmt::format("a head's key would have {} for {}, and the library's kernels take "
                    "{}; the other targets of `krohn compile` have no such limit",
                    counted(key_dim, "coordinate"), counted(points, "point"), kMaxKeyDim));
}

}  // namespace krohn
