#include "krohn/simulate/models/released_model.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

/// y = x W + b, W with a row an input.
template <class Real>
Numbers<Real> affine(std::span<const Real> x, std::span<const Real> weights, std::span<const Real> bias) {
  const std::size_t outputs = bias.size(), inputs = weights.size() / outputs;
  Numbers<Real> y(x.size() / inputs * outputs);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = bias[i % outputs];
  TokenLayers<Real>::linear(x, weights, inputs, y);
  return y;
}

template <class Real>
Numbers<Real> affine_adjoint(std::span<const Real> x, std::span<const Real> weights, std::span<const Real> by_y,
                             std::span<Real> by_weights, std::span<Real> by_bias) {
  const std::size_t outputs = by_bias.size();
  Numbers<Real> by_x(x.size(), 0);
  for (std::size_t i = 0; i < by_y.size(); ++i) by_bias[i % outputs] += by_y[i];
  TokenLayers<Real>::linear_adjoint(x, weights, weights.size() / outputs, by_y, by_x, by_weights);
  return by_x;
}

template <class Real>
void relu(Numbers<Real>& x) {
  for (Real& each : x) each = std::max(each, Real{0});
}

/// `y` is what relu gave.
template <class Real>
void relu_adjoint(const Numbers<Real>& y, Numbers<Real>& by) {
  for (std::size_t i = 0; i < by.size(); ++i)
    if (!(y[i] > 0)) by[i] = 0;
}

/// gain ∘ (x − mean) / √(variance + 10⁻⁵) + bias; `unit` keeps it before the gain, `scale` 1/√….
template <class Real>
struct LayerNorm {
  Numbers<Real> unit, scale;

  Numbers<Real> run(std::span<const Real> x, std::span<const Real> gain, std::span<const Real> bias) {
    const std::size_t width = gain.size(), rows = x.size() / width;
    unit.resize(x.size());
    scale.resize(rows);
    Numbers<Real> y(x.size());
    for (std::size_t row = 0; row < rows; ++row) {
      const auto own = x.subspan(row * width, width);
      Real mean = 0, variance = 0;
      for (const Real each : own) mean += each;
      mean /= static_cast<Real>(width);
      for (const Real each : own) variance += (each - mean) * (each - mean);
      scale[row] = 1 / std::sqrt(variance / static_cast<Real>(width) + Real(1e-5));
      for (std::size_t i = 0; i < width; ++i) {
        unit[row * width + i] = (own[i] - mean) * scale[row];
        y[row * width + i] = gain[i] * unit[row * width + i] + bias[i];
      }
    }
    return y;
  }

  Numbers<Real> adjoint(const Numbers<Real>& by_y, std::span<const Real> gain, std::span<Real> by_gain,
                        std::span<Real> by_bias) const {
    const std::size_t width = gain.size();
    Numbers<Real> by_x(by_y.size());
    for (std::size_t row = 0; row < scale.size(); ++row) {
      Real mean = 0, along = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const Real u = unit[row * width + i], by = by_y[row * width + i];
        by_gain[i] += by * u;
        by_bias[i] += by;
        mean += by * gain[i] / static_cast<Real>(width);
        along += by * gain[i] * u / static_cast<Real>(width);
      }
      for (std::size_t i = 0; i < width; ++i)
        by_x[row * width + i] = scale[row] * (by_y[row * width + i] * gain[i] - mean - unit[row * width + i] * along);
    }
    return by_x;
  }
};

/// A block of `size` columns of as many numbers: every column less its mean, all over the greatest p-norm of a column;
/// 0 where all columns are constant.
template <class Real>
class BlockNorm {
 public:
  BlockNorm(std::size_t size, double p) : size_(static_cast<Eigen::Index>(size)), p_(static_cast<Real>(p)) {}

  /// Turns what was generated into a block.
  void run(Real* block) const {
    Map numbers(block, size_, size_);
    numbers.rowwise() -= numbers.colwise().mean().eval();
    if (is_zero(numbers)) return;
    numbers /= greatest_norm(numbers).second;
  }

  /// Turns the gradient by the block into that by `raw`, which was generated.
  void adjoint(const Real* raw, Real* by_block) const {
    Columns centred = Eigen::Map<const Columns>(raw, size_, size_);
    centred.rowwise() -= centred.colwise().mean().eval();
    Map by(by_block, size_, size_);
    if (is_zero(centred)) return void(by.setZero());
    const auto [column, norm] = greatest_norm(centred);
    const Real along = (centred * by).sum() / (norm * norm);
    by /= norm;
    // ∂‖v‖/∂v = sign(v) |v|^{p−1} ‖v‖^{1−p}
    by.col(column) -=
        along * centred.col(column).sign() * (centred.col(column).abs() / norm).max(kLeast).pow(p_ - Real{1});
    by.rowwise() -= by.colwise().mean().eval();
  }

 private:
  using Columns = Eigen::Array<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Map = Eigen::Map<Columns>;
  static constexpr Real kLeast = Real(1e-30);  ///< whose logarithm is finite

  /// All columns were constant: there is nothing to divide by, and no direction to learn in.
  static bool is_zero(const auto& block) { return (block == Real{0}).all(); }

  /// The first column of the greatest norm, and that.
  std::pair<Eigen::Index, Real> greatest_norm(const auto& block) const {
    Eigen::Index column = 0;
    const Real sum = (block.abs().max(kLeast).log() * p_).exp().colwise().sum().maxCoeff(&column);
    return {column, std::pow(sum, 1 / p_)};
  }

  Eigen::Index size_;
  Real p_;
};

}  // namespace

ReleasedShape parse_released_shape(std::string_view text) {
  ModelParts parts(text,
                   "the model of Fan et al.'s code is `fan-released:PART,…` with layers=L, blocks=H, size=B, norm=P");
  ReleasedShape shape;
  shape.layers = parts.count("layers", 1, 16).value_or(shape.layers);
  shape.blocks = parts.count("blocks", 1, 1024).value_or(shape.blocks);
  shape.size = parts.count("size", 2, 128).value_or(shape.size);
  shape.norm = parts.positive("norm", 16).value_or(shape.norm);
  if (shape.norm < 1) parts.refuse(fmt::format("norm={} is below 1, so no norm", shape.norm));
  parts.require_all_taken();
  return shape;
}

std::string to_string(const ReleasedShape& shape) {
  return fmt::format("fan-released:layers={},blocks={},size={},norm={}", shape.layers, shape.blocks, shape.size,
                     shape.norm);
}

template <class Real>
std::vector<ParameterPart> ReleasedModel<Real>::parts(const ReleasedShape& shape, Letter letters,
                                                      std::uint32_t labels) {
  const std::uint64_t width = shape.width(), numbers = width * shape.size;
  std::vector<ParameterPart> result{{"embedding", {letters, width}}};
  const auto map = [&](const std::string& name, std::uint64_t inputs, std::uint64_t outputs) {
    result.push_back({name, {inputs, outputs}});
    result.push_back({name + "_bias", {outputs}});
  };
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string prefix = fmt::format("layer{}.", i);
    result.push_back({prefix + "norm", {width}});
    result.push_back({prefix + "norm_bias", {width}});
    map(prefix + "block_in", width, numbers);
    map(prefix + "block_out", numbers, numbers);
    map(prefix + "value_in", width, width);
    map(prefix + "value_out", width, width);
    result.push_back({prefix + "start", {width}});
  }
  result.push_back({"norm", {width}});
  result.push_back({"norm_bias", {width}});
  map("head", width, width);
  map("readout", width, labels);
  return result;
}

template <class Real>
ReleasedModel<Real>::ReleasedModel(const ReleasedShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels, parts(shape, letters, labels)), shape_(shape) {
  Random random(seed);
  const auto map = [&](std::size_t at, std::size_t inputs) {
    for (const std::size_t each : {at, at + 1})
      fill_uniform(part(each), 1 / std::sqrt(static_cast<double>(inputs)), random);
  };
  const std::size_t width = shape.width();
  fill_normal(part(0), random);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const std::size_t own = layer_part(i);
    std::ranges::fill(part(own + kNorm), Real{1});
    map(own + kBlockIn, width);
    map(own + kBlockOut, width * shape.size);
    map(own + kValueIn, width);
    map(own + kValueOut, width);
    fill_normal(part(own + kStart), random);
  }
  std::ranges::fill(part(end_part() + kFinalNorm), Real{1});
  map(end_part() + kHead, width);
  map(end_part() + kReadout, width);
}

/// One layer's numbers on the way up; sources are letters in the first layer, tokens in the others.
template <class Real>
struct ReleasedModel<Real>::Layer {
  TokenRows rows;
  LayerNorm<Real> norm;
  Numbers<Real> normed, hidden, raw, matrices, value_hidden, values, states;

  BlockScan<Real> scan(const ReleasedShape& shape, std::size_t word, const Real* start) {
    BlockScan<Real> run{};
    run.tokens = rows.length(word);
    run.blocks = shape.blocks;
    run.size = shape.size;
    run.source = rows.source.data() + rows.first[word];
    run.a = matrices.data();
    run.u = values.data();
    run.start = start;
    run.x = states.data() + rows.first[word] * shape.width();
    return run;
  }
};

template <class Real>
struct ReleasedModel<Real>::Forward {
  TokenRows letters;
  std::vector<Layer> layers;
  LayerNorm<Real> norm;
  Numbers<Real> normed, head;  ///< a row a target
};

template <class Real>
typename ReleasedModel<Real>::Forward ReleasedModel<Real>::forward(const TrainingBatch& batch) const {
  const std::size_t width = shape_.width(), block = std::size_t{shape_.size} * shape_.size;
  const BlockNorm<Real> divided(shape_.size, shape_.norm);
  Forward all;
  all.letters.sources = Model::letters();
  for (std::uint32_t word = 0; word < batch.words; ++word) {
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t)
      all.letters.source.push_back(batch.letters[std::size_t{t} * batch.words + word]);
    all.letters.first.push_back(all.letters.source.size());
  }
  Numbers<Real> x(part(0).begin(), part(0).end());
  for (std::size_t i = 0; i < shape_.layers; ++i) {
    Layer& layer = all.layers.emplace_back();
    layer.rows = all.letters;
    if (i > 0) {
      layer.rows.sources = layer.rows.tokens();
      for (std::size_t token = 0; token < layer.rows.tokens(); ++token)
        layer.rows.source[token] = static_cast<std::uint32_t>(token);
    }
    const std::size_t own = layer_part(i);
    layer.normed = layer.norm.run(x, part(own + kNorm), part(own + kNormBias));
    layer.hidden = affine<Real>(layer.normed, part(own + kBlockIn), part(own + kBlockIn + 1));
    relu(layer.hidden);
    layer.raw = affine<Real>(layer.hidden, part(own + kBlockOut), part(own + kBlockOut + 1));
    layer.matrices = layer.raw;
    for (std::size_t first = 0; first < layer.matrices.size(); first += block)
      divided.run(layer.matrices.data() + first);
    layer.value_hidden = affine<Real>(layer.normed, part(own + kValueIn), part(own + kValueIn + 1));
    relu(layer.value_hidden);
    layer.values = affine<Real>(layer.value_hidden, part(own + kValueOut), part(own + kValueOut + 1));
    layer.states.resize(layer.rows.tokens() * width);
    for (std::size_t word = 0; word < batch.words; ++word)
      training_kernels<Real>().scan_blocks(layer.scan(shape_, word, part(own + kStart).data()));
    if (i + 1 == shape_.layers) break;
    Numbers<Real> next = layer.states;
    for (std::size_t token = 0; token < layer.rows.tokens(); ++token)
      for (std::size_t j = 0; j < width; ++j) next[token * width + j] += x[layer.rows.source[token] * width + j];
    x = std::move(next);
  }
  return all;
}

template <class Real>
std::vector<Real> ReleasedModel<Real>::logits(Forward& forward, const TrainingBatch& batch) const {
  const std::size_t width = shape_.width(), end = end_part();
  Numbers<Real> seen(batch.targets.size() * width);
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    std::copy_n(forward.layers.back().states.data() +
                    (forward.letters.first[batch.targets[i].word] + batch.targets[i].position) * width,
                width, seen.data() + i * width);
  forward.normed = forward.norm.run(seen, part(end + kFinalNorm), part(end + kFinalNormBias));
  forward.head = affine<Real>(forward.normed, part(end + kHead), part(end + kHead + 1));
  relu(forward.head);
  const Numbers<Real> result = affine<Real>(forward.head, part(end + kReadout), part(end + kReadout + 1));
  return {result.begin(), result.end()};
}

template <class Real>
BatchLoss ReleasedModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading*, std::span<Real> gradient) const {
  const std::size_t width = shape_.width(), end = end_part(), block = std::size_t{shape_.size} * shape_.size;
  Forward up = forward(batch);
  std::vector<Real> by_logits = logits(up, batch);
  const BatchLoss result = cross_entropy<Real>(by_logits, Model::labels(), batch.targets);
  if (gradient.empty()) return result;

  const auto map_adjoint = [&](const Numbers<Real>& x, std::size_t at, std::span<const Real> by_y) {
    return affine_adjoint<Real>(x, part(at), by_y, part_of(gradient, at), part_of(gradient, at + 1));
  };
  const auto norm_adjoint = [&](const LayerNorm<Real>& norm, std::size_t at, const Numbers<Real>& by_y) {
    return norm.adjoint(by_y, part(at), part_of(gradient, at), part_of(gradient, at + 1));
  };
  Numbers<Real> by_head = map_adjoint(up.head, end + kReadout, by_logits);
  relu_adjoint(up.head, by_head);
  const Numbers<Real> by_seen = norm_adjoint(up.norm, end + kFinalNorm, map_adjoint(up.normed, end + kHead, by_head));
  Numbers<Real> by_y(up.letters.tokens() * width, 0);
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    Real* const row = by_y.data() + (up.letters.first[batch.targets[i].word] + batch.targets[i].position) * width;
    for (std::size_t j = 0; j < width; ++j) row[j] += by_seen[i * width + j];
  }

  const BlockNorm<Real> divided(shape_.size, shape_.norm);
  for (std::size_t i = shape_.layers; i-- > 0;) {
    Layer& layer = up.layers[i];
    const std::size_t own = layer_part(i);
    Numbers<Real> by_states = by_y, by_matrices(layer.matrices.size(), 0), by_values(layer.values.size(), 0);
    for (std::size_t word = 0; word < layer.rows.words(); ++word)
      training_kernels<Real>().scan_blocks_adjoint(
          layer.scan(shape_, word, part(own + kStart).data()),
          {by_states.data() + layer.rows.first[word] * width, by_matrices.data(), by_values.data(),
           part_of(gradient, own + kStart).data()});
    for (std::size_t first = 0; first < by_matrices.size(); first += block)
      divided.adjoint(layer.raw.data() + first, by_matrices.data() + first);
    Numbers<Real> by_hidden = map_adjoint(layer.hidden, own + kBlockOut, by_matrices);
    relu_adjoint(layer.hidden, by_hidden);
    Numbers<Real> by_normed = map_adjoint(layer.normed, own + kBlockIn, by_hidden);
    Numbers<Real> by_value = map_adjoint(layer.value_hidden, own + kValueOut, by_values);
    relu_adjoint(layer.value_hidden, by_value);
    const Numbers<Real> by_values_normed = map_adjoint(layer.normed, own + kValueIn, by_value);
    for (std::size_t j = 0; j < by_normed.size(); ++j) by_normed[j] += by_values_normed[j];
    Numbers<Real> by_x = norm_adjoint(layer.norm, own + kNorm, by_normed);
    if (i + 1 < shape_.layers)
      for (std::size_t token = 0; token < layer.rows.tokens(); ++token)
        for (std::size_t j = 0; j < width; ++j) by_x[layer.rows.source[token] * width + j] += by_y[token * width + j];
    by_y = std::move(by_x);
  }
  const std::span<Real> by_embedding = part_of(gradient, 0);
  for (std::size_t i = 0; i < by_y.size(); ++i) by_embedding[i] += by_y[i];
  return result;
}

template class ReleasedModel<float>;
template class ReleasedModel<double>;

}  // namespace krohn
