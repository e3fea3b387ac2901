#include "krohn/simulate/models/stacked_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/prefix_tree.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

constexpr std::uint32_t kMaxLayers = 16, kMaxTaps = 16, kMaxUnits = 1 << 14;

constexpr char kReflectionGrammar[] =
    "a model of reflections is `deltaproduct:PART,PART,…` with layers=L, width=D, heads=H, keys=N, values=M, "
    "reflections=K (a token), signed (eigenvalues in [−1, 1], not [0, 1]), conv=TAPS, mlp=UNITS, plain (no SiLU)";
constexpr char kDiagonalGrammar[] =
    "a diagonal model is `diagonal:PART,PART,…` with layers=L, width=D, channels=C, states=N, signed (values in "
    "[−1, 1], not [0, 1]), complex (values of modulus at most 1), fixed (values that do not depend on the input), "
    "conv=TAPS, mlp=UNITS";
constexpr char kBlockGrammar[] =
    "Fan et al.'s model is `fan:PART,PART,…` with layers=L, blocks=H, size=B, norm=P, generator=UNITS, mlp=UNITS";

StackedShape reflection_shape(std::string_view text) {
  ModelParts parts(text, kReflectionGrammar);
  ReflectionShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMaxLayers).value_or(1);
  shape.width = parts.count("width").value_or(shape.width);
  shape.heads = parts.count("heads").value_or(shape.heads);
  const auto keys = parts.count("keys"), values = parts.count("values");
  if ((!keys || !values) && shape.width % shape.heads != 0)
    parts.refuse(fmt::format("{} heads do not divide the width {}; change heads= or width=, or give keys= and values=",
                             shape.heads, shape.width));
  shape.keys = keys.value_or(shape.width / shape.heads);
  shape.values = values.value_or(shape.width / shape.heads);
  shape.reflections = parts.count("reflections", 1, 64).value_or(1);
  shape.taps = parts.count("conv", 0, kMaxTaps).value_or(0);
  shape.negative = parts.has("signed");
  shape.plain = parts.has("plain");
  stacked.mlp = parts.count("mlp", 0, kMaxUnits).value_or(2 * shape.width);
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

StackedShape diagonal_shape(std::string_view text) {
  ModelParts parts(text, kDiagonalGrammar);
  DiagonalShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMaxLayers).value_or(1);
  shape.width = parts.count("width").value_or(shape.width);
  shape.channels = parts.count("channels").value_or(2 * shape.width);
  shape.states = parts.count("states", 1, 256).value_or(shape.states);
  shape.taps = parts.count("conv", 0, kMaxTaps).value_or(shape.taps);
  shape.negative = parts.has("signed");
  shape.fixed = parts.has("fixed");
  shape.complex = parts.has("complex");
  if (shape.complex && shape.negative) parts.refuse("complex values have every argument; leave signed out");
  stacked.mlp = parts.count("mlp", 0, kMaxUnits).value_or(0);
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

StackedShape block_shape(std::string_view text) {
  ModelParts parts(text, kBlockGrammar);
  BlockShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMaxLayers).value_or(1);
  shape.blocks = parts.count("blocks", 1, 1024).value_or(shape.blocks);
  shape.size = parts.count("size", 1, 128).value_or(shape.size);
  shape.norm = parts.positive("norm", 16).value_or(shape.norm);
  if (shape.norm < 1) parts.refuse(fmt::format("norm={} is below 1, so no norm", shape.norm));
  shape.generator = parts.count("generator", 0, kMaxUnits).value_or(0);
  const auto mlp = parts.count("mlp", 0, kMaxUnits);
  if (mlp.value_or(0) > 0 && stacked.layers == 1)
    parts.refuse("one layer is read out as it is; mlp= needs layers=2 or more");
  stacked.mlp = mlp.value_or(stacked.layers == 1 ? 0 : 2 * shape.width());
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

std::string parts_of(const ReflectionShape& shape) {
  return fmt::format("width={},heads={},keys={},values={},reflections={}{}{}{}", shape.width, shape.heads, shape.keys,
                     shape.values, shape.reflections, shape.negative ? ",signed" : "",
                     shape.taps > 0 ? fmt::format(",conv={}", shape.taps) : "", shape.plain ? ",plain" : "");
}

std::string parts_of(const DiagonalShape& shape) {
  return fmt::format("width={},channels={},states={},conv={}{}{}{}", shape.width, shape.channels, shape.states,
                     shape.taps, shape.negative ? ",signed" : "", shape.complex ? ",complex" : "",
                     shape.fixed ? ",fixed" : "");
}

std::string parts_of(const BlockShape& shape) {
  return fmt::format("blocks={},size={},norm={}{}", shape.blocks, shape.size, shape.norm,
                     shape.generator > 0 ? fmt::format(",generator={}", shape.generator) : "");
}

}  // namespace

StackedShape parse_stacked_shape(std::string_view text) {
  const std::string_view family = text.substr(0, text.find(':'));
  if (family == "deltaproduct") return reflection_shape(text);
  if (family == "diagonal") return diagonal_shape(text);
  return block_shape(text);
}

std::string to_string(const StackedShape& shape) {
  constexpr const char* kFamilies[] = {"deltaproduct", "diagonal", "fan"};
  static_assert(std::size(kFamilies) == std::variant_size_v<decltype(shape.mixer)>, "every mixer has a name");
  return fmt::format("{}:layers={},{}{}", kFamilies[shape.mixer.index()], shape.layers,
                     std::visit([](const auto& mixer) { return parts_of(mixer); }, shape.mixer),
                     shape.is_bare() ? "" : fmt::format(",mlp={}", shape.mlp));
}

namespace {

/// For words whose tokens are shared: longer ones share little, and sums by letter go over all of a word.
constexpr std::size_t kMaxSharedPositions = 1024;

template <class Real>
std::unique_ptr<Mixer<Real>> make_mixer(const StackedShape& shape) {
  if (const auto* reflections = std::get_if<ReflectionShape>(&shape.mixer)) return reflection_mixer<Real>(*reflections);
  if (const auto* diagonal = std::get_if<DiagonalShape>(&shape.mixer)) return diagonal_mixer<Real>(*diagonal);
  return block_mixer<Real>(std::get<BlockShape>(shape.mixer));
}

TokenRows with_own_rows(const TokenRows& rows) {
  TokenRows own = rows;
  own.sources = rows.tokens();
  for (std::size_t i = 0; i < own.sources; ++i) own.source[i] = static_cast<std::uint32_t>(i);
  return own;
}

/// Rows that are one row of the table's end, by the letter, and a combination of those before it.
template <class Real>
Combinations<Real> combinations(const TokenRows& rows, const Combined<Real>& made, const Numbers<Real>& table,
                                std::size_t columns) {
  return {rows.tokens(),
          columns,
          made.terms,
          rows.source.data(),
          made.by.data(),
          table.data(),
          table.data() + made.terms * columns};
}

template <class Real>
Numbers<Real> gathered(std::span<const Real> x, std::size_t width, const TokenRows& rows) {
  Numbers<Real> result(rows.tokens() * width);
  for (std::size_t token = 0; token < rows.tokens(); ++token)
    std::copy_n(x.data() + rows.source[token] * width, width, result.data() + token * width);
  return result;
}

template <class Real>
void scatter(std::span<const Real> by_rows, std::size_t width, const TokenRows& rows, std::span<Real> by_x) {
  for (std::size_t token = 0; token < rows.tokens(); ++token)
    for (std::size_t i = 0; i < width; ++i) by_x[rows.source[token] * width + i] += by_rows[token * width + i];
}

}  // namespace

std::uint32_t StackedShape::width() const {
  if (const auto* blocks = std::get_if<BlockShape>(&mixer)) return blocks->width();
  if (const auto* diagonal = std::get_if<DiagonalShape>(&mixer)) return diagonal->width;
  return std::get<ReflectionShape>(mixer).width;
}

template <class Real>
struct StackedModel<Real>::Forward {
  TokenRows letters, own;  ///< rows of the first layer, and of the others
  bool gathered = false;   ///< whether the first layer had to have its own rows too
  std::vector<Layer> layers;
  Numbers<Real> y;

  const TokenRows& rows(std::size_t layer) const { return layer == 0 && !gathered ? letters : own; }
};

template <class Real>
std::vector<ParameterPart> StackedModel<Real>::parts(const StackedShape& shape, Letter letters, std::uint32_t labels) {
  const std::uint64_t width = shape.width(), normed = shape.is_bare() ? 0 : width;
  std::vector<ParameterPart> result = {{"embedding", {letters, width}}};
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = fmt::format("layer{}.", layer);
    result.push_back({prefix + "norm", {normed}});
    for (ParameterPart part : make_mixer<Real>(shape)->parts()) {
      part.name = prefix + "mixer." + part.name;
      result.push_back(std::move(part));
    }
    result.push_back({prefix + "mlp.norm", {shape.mlp > 0 ? width : 0}});
    result.push_back({prefix + "mlp.in", {width, 2 * shape.mlp}});
    result.push_back({prefix + "mlp.out", {shape.mlp, width}});
  }
  result.push_back({"norm", {normed}});
  result.push_back({"readout", {width, labels}});
  result.push_back({"readout_bias", {labels}});
  return result;
}

template <class Real>
StackedModel<Real>::StackedModel(const StackedShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels, parts(shape, letters, labels)),
      shape_(shape),
      mixer_(make_mixer<Real>(shape)),
      mixer_parts_(mixer_->parts().size()) {
  Random random(seed);
  const double width = shape.width();
  fill_normal(part(0), random);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    std::ranges::fill(part(part_of_layer(layer)), Real{1});
    mixer_->initialise(mixer_parts(Model::parameters(), layer), random);
    const std::size_t mlp = part_of_mlp(layer);
    std::ranges::fill(part(mlp + kMlpNorm), Real{1});
    fill_normal(part(mlp + kMlpIn), random, 1 / std::sqrt(width));
    fill_normal(part(mlp + kMlpOut), random, 1 / std::sqrt(std::max(1.0, static_cast<double>(shape.mlp))));
  }
  std::ranges::fill(part(part_at_end() + kFinalNorm), Real{1});
  fill_uniform(part(part_at_end() + kReadout), 1 / std::sqrt(width), random);
}

template <class Real>
template <class Number>
std::vector<std::span<Number>> StackedModel<Real>::mixer_parts(std::span<Number> all, std::size_t layer) const {
  std::vector<std::span<Number>> result;
  for (std::size_t i = 0; i < mixer_parts_; ++i) result.push_back(part_of(all, part_of_layer(layer) + 1 + i));
  return result;
}

template <class Real>
Numbers<Real> StackedModel<Real>::run_layer(std::size_t index, const TokenRows& rows, Layer& layer) const {
  const std::size_t width = shape_.width(), mlp = part_of_mlp(index);
  if (shape_.is_bare()) {
    layer.normed = layer.x;
    layer.middle.assign(rows.tokens() * width, 0);
  } else {
    layer.normed.resize(layer.x.size());
    L::rms_norm(layer.x, part(part_of_layer(index)), layer.normed);
    layer.middle = gathered<Real>(layer.x, width, rows);
  }
  layer.memory = mixer_->run(mixer_parts(Model::parameters(), index), rows, layer.normed, layer.middle);
  Numbers<Real> y = layer.middle;
  if (shape_.mlp == 0) return y;
  layer.mlp_normed.resize(y.size());
  L::rms_norm(layer.middle, part(mlp + kMlpNorm), layer.mlp_normed);
  layer.hidden.assign(rows.tokens() * 2 * shape_.mlp, 0);
  L::linear(layer.mlp_normed, part(mlp + kMlpIn), width, layer.hidden);
  layer.gated.resize(rows.tokens() * shape_.mlp);
  L::gate(layer.hidden, shape_.mlp, layer.gated);
  L::linear(layer.gated, part(mlp + kMlpOut), shape_.mlp, y);
  return y;
}

template <class Real>
Numbers<Real> StackedModel<Real>::run_layer_adjoint(std::size_t index, const TokenRows& rows, Layer& layer,
                                                    Numbers<Real> by_y, std::span<Real> gradient) const {
  const std::size_t width = shape_.width(), mlp = part_of_mlp(index);
  Numbers<Real> by_middle = std::move(by_y);
  if (shape_.mlp > 0) {
    Numbers<Real> by_gated(layer.gated.size(), 0), by_hidden(layer.hidden.size(), 0), by_normed(by_middle.size(), 0);
    L::linear_adjoint(layer.gated, part(mlp + kMlpOut), shape_.mlp, by_middle, by_gated,
                      part_of(gradient, mlp + kMlpOut));
    L::gate_adjoint(layer.hidden, shape_.mlp, by_gated, by_hidden);
    L::linear_adjoint(layer.mlp_normed, part(mlp + kMlpIn), width, by_hidden, by_normed,
                      part_of(gradient, mlp + kMlpIn));
    L::rms_norm_adjoint(layer.middle, part(mlp + kMlpNorm), by_normed, by_middle, part_of(gradient, mlp + kMlpNorm));
  }
  Numbers<Real> by_normed(layer.x.size(), 0);
  mixer_->run_adjoint(mixer_parts(Model::parameters(), index), rows, layer.normed, layer.memory, by_middle, by_normed,
                      mixer_parts(gradient, index));
  if (shape_.is_bare()) return by_normed;
  Numbers<Real> by_x(layer.x.size(), 0);
  scatter<Real>(by_middle, width, rows, by_x);
  const std::size_t norm = part_of_layer(index);
  L::rms_norm_adjoint(layer.x, part(norm), by_normed, by_x, part_of(gradient, norm));
  return by_x;
}

template <class Real>
Numbers<Real> StackedModel<Real>::run_combined(const TokenRows& rows, Layer& layer) const {
  const std::size_t width = shape_.width(), mlp = part_of_mlp(0), hidden = 2 * shape_.mlp;
  const auto& kernels = training_kernels<Real>();
  layer.normed.resize(layer.x.size());
  L::rms_norm(layer.x, part(part_of_layer(0)), layer.normed);
  layer.memory = mixer_->combine(mixer_parts(Model::parameters(), 0), rows, layer.normed, layer.made);
  const std::size_t terms = layer.made.terms;
  layer.table = layer.made.table;
  layer.table.insert(layer.table.end(), layer.x.begin(), layer.x.end());
  layer.middle.resize(rows.tokens() * width);
  kernels.combine(combinations(rows, layer.made, layer.table, width), layer.middle.data());
  Numbers<Real> y = layer.middle;
  if (shape_.mlp == 0) return y;
  const std::span<const Real> gain = part(mlp + kMlpNorm);
  layer.gained = layer.table;
  for (std::size_t first = 0; first < layer.gained.size(); first += width)
    for (std::size_t i = 0; i < width; ++i) layer.gained[first + i] *= gain[i];
  layer.hidden_table.resize((terms + rows.sources) * hidden, 0);
  L::linear(layer.gained, part(mlp + kMlpIn), width, layer.hidden_table);
  layer.hidden.resize(rows.tokens() * hidden);
  kernels.combine(combinations(rows, layer.made, layer.hidden_table, hidden), layer.hidden.data());
  layer.scale.resize(rows.tokens());
  kernels.rms_scales({rows.tokens(), width, layer.middle.data()}, layer.scale.data());
  layer.gated.resize(rows.tokens() * shape_.mlp);
  layer.logistics.resize(layer.gated.size());
  kernels.scaled_gate({rows.tokens(), hidden, layer.hidden.data()}, layer.scale.data(), layer.logistics.data(),
                      layer.gated.data());
  L::linear(layer.gated, part(mlp + kMlpOut), shape_.mlp, y);
  return y;
}

template <class Real>
Numbers<Real> StackedModel<Real>::run_combined_adjoint(const TokenRows& rows, Layer& layer, Numbers<Real> by_y,
                                                       std::span<Real> gradient) const {
  const std::size_t width = shape_.width(), mlp = part_of_mlp(0), hidden = 2 * shape_.mlp, tokens = rows.tokens();
  const auto& kernels = training_kernels<Real>();
  const std::size_t terms = layer.made.terms, own = terms * width;
  Numbers<Real> by_middle = std::move(by_y), by_table = zeros<Real>(layer.table.size());
  Combined<Real> by{terms, zeros<Real>(tokens * terms), {}};
  const auto through = [&](const Numbers<Real>& table, std::size_t columns, const Numbers<Real>& by_rows,
                           Numbers<Real>& by_own_table) {
    kernels.combine_adjoint(combinations(rows, layer.made, table, columns), by_rows.data(), by.by.data(),
                            by_own_table.data(), by_own_table.data() + terms * columns);
  };
  if (shape_.mlp > 0) {
    Numbers<Real> by_gated(layer.gated.size()), by_hidden(layer.hidden.size()), by_scale(tokens),
        by_hidden_table = zeros<Real>(layer.hidden_table.size()), by_gained = zeros<Real>(layer.gained.size());
    L::linear_adjoint(layer.gated, part(mlp + kMlpOut), shape_.mlp, by_middle, by_gated,
                      part_of(gradient, mlp + kMlpOut), true);
    kernels.scaled_gate_adjoint({tokens, hidden, layer.hidden.data()}, layer.scale.data(), layer.logistics.data(),
                                by_gated.data(), by_hidden.data(), by_scale.data());
    through(layer.hidden_table, hidden, by_hidden, by_hidden_table);
    L::linear_adjoint(layer.gained, part(mlp + kMlpIn), width, by_hidden_table, by_gained,
                      part_of(gradient, mlp + kMlpIn));
    const std::span<const Real> gain = part(mlp + kMlpNorm);
    const std::span<Real> by_gain = part_of(gradient, mlp + kMlpNorm);
    for (std::size_t first = 0; first < by_gained.size(); first += width)
      for (std::size_t i = 0; i < width; ++i) {
        by_gain[i] += by_gained[first + i] * layer.table[first + i];
        by_table[first + i] = by_gained[first + i] * gain[i];
      }
    kernels.rms_scales_adjoint({tokens, width, layer.middle.data()}, layer.scale.data(), by_scale.data(),
                               by_middle.data());
  }
  through(layer.table, width, by_middle, by_table);
  by.table.assign(by_table.begin(), by_table.begin() + static_cast<std::ptrdiff_t>(own));
  Numbers<Real> by_x(by_table.begin() + static_cast<std::ptrdiff_t>(own), by_table.end()), by_normed(by_x.size(), 0);
  mixer_->combine_adjoint(mixer_parts(Model::parameters(), 0), rows, layer.normed, layer.memory, by, by_normed,
                          mixer_parts(gradient, 0));
  const std::size_t norm = part_of_layer(0);
  L::rms_norm_adjoint(layer.x, part(norm), by_normed, by_x, part_of(gradient, norm));
  return by_x;
}

template <class Real>
typename StackedModel<Real>::Forward StackedModel<Real>::forward(TokenRows letters) const {
  Forward result;
  result.letters = std::move(letters);
  if (shape_.layers > 1 || mixer_->needs_own_rows()) result.own = with_own_rows(result.letters);
  result.gathered = mixer_->needs_own_rows();
  result.layers.resize(shape_.layers);
  const std::span<const Real> embedding = part(0);
  result.y = result.gathered ? gathered<Real>(embedding, shape_.width(), result.letters)
                             : Numbers<Real>(embedding.begin(), embedding.end());
  for (std::size_t i = 0; i < shape_.layers; ++i) {
    Layer& layer = result.layers[i];
    layer.x = std::move(result.y);
    result.y = result.letters.sharing ? run_combined(result.letters, layer) : run_layer(i, result.rows(i), layer);
  }
  return result;
}

template <class Real>
Numbers<Real> StackedModel<Real>::read(const Forward& forward, std::span<const std::size_t> rows) const {
  const std::size_t width = shape_.width();
  Numbers<Real> result(rows.size() * width);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(forward.y.data() + rows[i] * width, width, result.data() + i * width);
  return result;
}

template <class Real>
Numbers<Real> StackedModel<Real>::final_norm(std::span<const Real> read) const {
  if (shape_.is_bare()) return {read.begin(), read.end()};
  Numbers<Real> normed(read.size());
  L::rms_norm(read, part(part_at_end() + kFinalNorm), normed);
  return normed;
}

template <class Real>
Numbers<Real> StackedModel<Real>::logits(std::span<const Real> normed) const {
  const std::span<const Real> bias = part(part_at_end() + kReadoutBias);
  Numbers<Real> result(normed.size() / shape_.width() * bias.size());
  for (std::size_t first = 0; first < result.size(); first += bias.size())
    std::copy_n(bias.data(), bias.size(), result.data() + first);
  L::linear(normed, part(part_at_end() + kReadout), shape_.width(), result);
  return result;
}

template <class Real>
BatchLoss StackedModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading*, std::span<Real> gradient) const {
  // Only the first layer's mixer reads letters.
  const bool shares =
      shape_.layers == 1 && batch.positions <= kMaxSharedPositions && mixer_->combines(Model::letters());
  PrefixOrder order;
  if (shares) {
    order = prefix_order(batch);
  } else {
    order.words.resize(batch.words);
    std::iota(order.words.begin(), order.words.end(), 0U);
  }
  return loss_of_slices<Real>(
      batch, slices_of(batch, order.words, order.shared, Model::parameters().size()), Model::threads(), gradient,
      [&](const Slice& slice, std::span<const TrainingBatch::Target> targets, std::span<Real> own) {
        return slice_loss(
            shares ? shared_rows_of(batch, slice, Model::letters()) : rows_of(batch, slice.words, Model::letters()),
            targets, batch.targets.size(), own);
      });
}

template <class Real>
BatchLoss StackedModel<Real>::slice_loss(const TokenRows& rows, std::span<const TrainingBatch::Target> targets,
                                         std::uint64_t all, std::span<Real> gradient) const {
  const std::size_t width = shape_.width(), end = part_at_end();
  Forward up = forward(rows);
  const DistinctTargets asked = distinct_targets(targets, up.letters);
  const bool in_place = asked.is_range();
  const std::size_t first = in_place ? asked.rows.front() * width : 0;
  const Numbers<Real> copied = in_place ? Numbers<Real>() : read(up, asked.rows);
  const std::span<const Real> seen =
      in_place ? std::span<const Real>(up.y).subspan(first, asked.rows.size() * width) : copied;
  const Numbers<Real> normed = final_norm(seen);
  Numbers<Real> by_logits = logits(normed);
  const BatchLoss result = cross_entropy<Real>(by_logits, Model::labels(), asked.targets, asked.counts, all);
  if (gradient.empty()) return result;

  Numbers<Real> by_normed(normed.size()), by_y = zeros<Real>(up.y.size()), by_copied = zeros<Real>(copied.size());
  const std::span<Real> by_seen = in_place ? std::span<Real>(by_y).subspan(first, seen.size()) : by_copied;
  L::linear_adjoint(normed, part(end + kReadout), width, by_logits, by_normed, part_of(gradient, end + kReadout), true);
  const std::span<Real> by_bias = part_of(gradient, end + kReadoutBias);
  for (std::size_t at = 0; at < by_logits.size(); at += by_bias.size())
    for (std::size_t i = 0; i < by_bias.size(); ++i) by_bias[i] += by_logits[at + i];
  if (shape_.is_bare())
    std::ranges::copy(by_normed, by_seen.begin());
  else
    L::rms_norm_adjoint(seen, part(end + kFinalNorm), by_normed, by_seen, part_of(gradient, end + kFinalNorm));
  if (!in_place)
    for (std::size_t i = 0; i < asked.rows.size(); ++i) {
      Real* const row = by_y.data() + asked.rows[i] * width;
      for (std::size_t j = 0; j < width; ++j) row[j] += by_seen[i * width + j];
    }
  for (std::size_t i = shape_.layers; i-- > 0;)
    by_y = up.letters.sharing ? run_combined_adjoint(up.letters, up.layers[i], std::move(by_y), gradient)
                              : run_layer_adjoint(i, up.rows(i), up.layers[i], std::move(by_y), gradient);
  const std::span<Real> by_embedding = part_of(gradient, 0);
  if (up.gathered)
    scatter<Real>(by_y, width, up.letters, by_embedding);
  else
    for (std::size_t i = 0; i < by_y.size(); ++i) by_embedding[i] += by_y[i];
  return result;
}

template <class Real>
std::optional<LinearModel> StackedModel<Real>::linear_view() const {
  if (!shape_.is_bare()) return std::nullopt;
  std::optional<LinearModel> view = mixer_->linear_view(mixer_parts(Model::parameters(), 0), part(0));
  view->labels = Model::labels();
  const std::span<const Real> readout = part(part_at_end() + kReadout), bias = part(part_at_end() + kReadoutBias);
  for (std::size_t label = 0; label < view->labels; ++label)
    for (std::size_t i = 0; i < view->hidden; ++i)
      view->readout.push_back(static_cast<float>(readout[i * view->labels + label]));
  view->readout_bias.assign(bias.begin(), bias.end());
  return view;
}

template class StackedModel<float>;
template class StackedModel<double>;

}  // namespace krohn
