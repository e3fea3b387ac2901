#include "krohn/simulate/models/cell_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/groups/base/random.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/prefix_tree.h"

namespace krohn {
namespace {

std::vector<ParameterPart> parts_of(const CellShape& shape, Letter letters, std::uint32_t labels) {
  const std::uint64_t hidden = shape.hidden, rows = find_cell(shape.cell)->gates * hidden;
  const std::uint64_t biases = shape.biased ? rows : 0;
  std::vector<ParameterPart> parts{{"embedding.weight", {letters, shape.inputs}}};
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::uint64_t inputs = i > 0 ? hidden : shape.inputs == 0 ? letters : shape.inputs;
    parts.push_back({cell_tensor("weight_ih", i), {rows, inputs}});
    parts.push_back({cell_tensor("weight_hh", i), {rows, hidden}});
    parts.push_back({cell_tensor("bias_ih", i), {biases}});
    parts.push_back({cell_tensor("bias_hh", i), {biases}});
  }
  parts.push_back({"head.weight", {labels, hidden}});
  parts.push_back({"head.bias", {labels}});
  return parts;
}

/// `count` rows of the bias, or of `width` zeros where there is none.
template <class Real>
void fill_rows(std::span<const Real> bias, std::size_t width, std::size_t count, Real* to) {
  for (std::size_t row = 0; row < count; ++row, to += width)
    bias.empty() ? std::fill_n(to, width, Real{0}) : std::copy_n(bias.data(), width, to);
}

/// Adds the sum of rows as wide as `to`, which may be empty.
template <class Real>
void add_rows(std::span<const Real> rows, std::span<Real> to) {
  if (!to.empty())
    for (std::size_t first = 0; first < rows.size(); first += to.size())
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += rows[first + i];
}

/// Distinct prefixes of words, a row each, position after position: what a step does at one position it does in one
/// product for all words, and once for words that have begun alike.
struct PrefixRows {
  std::vector<std::size_t> first;       ///< position ↦ its first row, and at the end of all
  std::vector<std::uint32_t> letter;    ///< row ↦ the prefix's last letter
  std::vector<std::uint32_t> parent;    ///< row ↦ the prefix without it; none at position 0
  std::vector<std::uint32_t> of_token;  ///< row of TokenRows ↦ row here

  explicit PrefixRows(const TokenRows& tokens)
      : first(tokens.sharing->positions + 1), letter(tokens.tokens()), parent(letter), of_token(letter) {
    each_prefix(*tokens.sharing, [&](std::size_t t, const std::uint32_t*) { ++first[t + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::size_t> next = first;
    each_prefix(*tokens.sharing, [&](std::size_t t, const std::uint32_t* path) {
      const std::size_t row = next[t]++;
      of_token[path[t]] = static_cast<std::uint32_t>(row);
      letter[row] = tokens.source[path[t]];
      if (t > 0) parent[row] = of_token[path[t - 1]];
    });
    while (first.size() > 1 && first.back() == first[first.size() - 2]) first.pop_back();  // positions of other words
  }

  /// Row ↦ the words that begin with its prefix.
  std::vector<std::uint32_t> words(const SharedTokens& sharing) const {
    std::vector<std::uint32_t> count(size(), 0);
    for (std::size_t word = 0; word < sharing.length.size(); ++word)
      for (std::size_t t = 0; t < sharing.length[word]; ++t)
        ++count[of_token[sharing.path[word * sharing.positions + t]]];
    return count;
  }

  std::size_t size() const { return letter.size(); }
  std::size_t positions() const { return first.size() - 1; }
  std::size_t count(std::size_t t) const { return first[t + 1] - first[t]; }

 private:
  template <class Body>
  static void each_prefix(const SharedTokens& words, const Body& body) {
    for (std::size_t word = 0; word < words.length.size(); ++word)
      for (std::size_t t = words.shared[word]; t < words.length[word]; ++t)
        body(t, words.path.data() + word * words.positions);
  }
};

}  // namespace

CellShape parse_cell_shape(std::string_view text) {
  ModelParts parts(text, "cells are `rnn`, `rnn-relu`, `gru`, `lstm` with layers=L,hidden=H,inputs=D,one-hot,unbiased");
  CellShape shape;
  shape.cell = parts.family();
  shape.layers = parts.count("layers", 1, 64).value_or(shape.layers);
  shape.hidden = parts.count("hidden", 1, 1 << 14).value_or(shape.hidden);
  const bool one_hot = parts.has("one-hot");
  const auto inputs = parts.count("inputs", 1, 1 << 14);
  if (one_hot && inputs) parts.refuse("one-hot inputs have no width of their own; leave inputs=… out");
  shape.inputs = one_hot ? 0 : inputs.value_or(shape.inputs);
  shape.biased = !parts.has("unbiased");
  parts.require_all_taken();
  return shape;
}

bool is_cell_model(const SequenceModel<float>& model) {
  return dynamic_cast<const CellModel<float>*>(&model) != nullptr;
}

std::string to_string(const CellShape& shape) {
  return fmt::format("{}:layers={},hidden={},{}{}", shape.cell, shape.layers, shape.hidden,
                     shape.inputs == 0 ? "one-hot" : fmt::format("inputs={}", shape.inputs),
                     shape.biased ? "" : ",unbiased");
}

template <class Real>
CellModel<Real>::CellModel(const CellShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels, parts_of(shape, letters, labels)), shape_(shape) {
  Random random(seed);
  fill_normal(part(kEmbedding), random);
  for (std::size_t i = 1; i <= head() + 1; ++i)
    fill_uniform(part(i), 1 / std::sqrt(static_cast<double>(shape.hidden)), random);
}

/// The data that all words read: weights, a row an input, and by letter W x + b of the first layer.
template <class Real>
struct CellModel<Real>::Across {
  std::vector<Numbers<Real>> input, state;
  Numbers<Real> by_letter, head;

  explicit Across(const CellModel& model) {
    const CellShape& shape = model.shape_;
    const std::size_t letters = model.letters(), hidden = shape.hidden, gates = find_cell(shape.cell)->gates * hidden;
    for (std::size_t i = 0; i < shape.layers; ++i) {
      const std::size_t inputs = i > 0 ? hidden : shape.inputs == 0 ? letters : shape.inputs;
      input.push_back(transposed(model.part(model.of_layer(i, kInput)), inputs));
      state.push_back(transposed(model.part(model.of_layer(i, kState)), hidden));
    }
    head = transposed(model.part(model.head()), hidden);
    by_letter.resize(letters * gates);
    fill_rows(model.part(model.of_layer(0, kInputBias)), gates, letters, by_letter.data());
    if (shape.inputs == 0)
      for (std::size_t i = 0; i < by_letter.size(); ++i) by_letter[i] += input[0][i];
    else
      training_kernels<Real>().add_product({letters, gates, shape.inputs, model.part(kEmbedding).data(), shape.inputs,
                                            1, input[0].data(), gates, by_letter.data(), gates});
  }
};

/// Forward and backward through some words; a row of numbers for every prefix.
template <class Real>
class CellModel<Real>::Pass {
 public:
  /// With noise as reading 0 or 1 of `twin`, or where that is null without.
  Pass(const CellModel& model, const Across& across, const PrefixRows& rows, const TwinReading* twin,
       std::uint64_t reading)
      : model_(model),
        across_(across),
        cell_(*find_cell(model.shape_.cell)),
        hidden_(model.shape_.hidden),
        gates_(cell_.gates * hidden_),
        kept_(cell_.kept * hidden_),
        rows_(rows),
        open_(twin != nullptr && twin->weight > 0 && cell_.kind == CellKind::kGru ? 3 * twin->noise / twin->weight : 0),
        layers_(model.shape_.layers) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (twin != nullptr)
        forward(i, Noise(twin->seed, reading, i, twin->noise));
      else
        forward(i, std::nullopt);
  }

  /// The loss of the answers at rows `at`, as a part of a mean over `all`, and its gradient by the read-out.
  BatchLoss answer(const DistinctTargets& asked, std::span<const std::uint32_t> at, std::uint64_t all,
                   std::span<Real> gradient) {
    const std::size_t labels = model_.labels(), head = model_.head(), count = at.size();
    Numbers<Real> outputs(count * hidden_), logits(count * labels);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(layers_.back().after.data() + at[i] * kept_, hidden_, outputs.data() + i * hidden_);
    fill_rows(model_.part(head + 1), labels, count, logits.data());
    kernels_.add_product(
        {count, labels, hidden_, outputs.data(), hidden_, 1, across_.head.data(), labels, logits.data(), labels});
    const BatchLoss result = cross_entropy<Real>(logits, model_.labels(), asked.targets, asked.counts, all);
    if (gradient.empty()) return result;

    kernels_.add_product({labels, hidden_, count, logits.data(), 1, labels, outputs.data(), hidden_,
                          model_.part_of(gradient, head).data(), hidden_});
    add_rows<Real>(logits, model_.part_of(gradient, head + 1));
    Numbers<Real> by_outputs = zeros<Real>(count * hidden_);
    by_output_ = zeros<Real>(rows_.size() * hidden_);
    kernels_.add_product({count, hidden_, labels, logits.data(), labels, 1, model_.part(head).data(), hidden_,
                          by_outputs.data(), hidden_});
    for (std::size_t i = 0; i < count; ++i) {
      Real* const to = by_output_.data() + at[i] * hidden_;
      for (std::size_t j = 0; j < hidden_; ++j) to[j] += by_outputs[i * hidden_ + j];
    }
    return result;
  }

  /// Σ share |m − m'|² over the rows and the layers.
  double distance(const Pass& other, std::span<const double> share) const {
    double sum = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (std::size_t row = 0; row < rows_.size(); ++row)
        for (std::size_t j = row * kept_; j < (row + 1) * kept_; ++j) {
          const double apart = double{layers_[i].after[j]} - double{other.layers_[i].after[j]};
          sum += share[row] * apart * apart;
        }
    return sum;
  }

  /// Σ share Σ −log(1 − z) over the rows and a GRU's units, open_ times; 1 − z counts as ε/4 where z rounds to 1.
  double shut(std::span<const double> share) const {
    constexpr double kLeast = std::numeric_limits<Real>::epsilon() / 4, kFew = 1e-200;
    double sum = 0;
    for (std::size_t i = 0; open_ > 0 && i < layers_.size(); ++i)
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        double open = 1;  // a product: logarithms are slow
        for (const Real z : update_gates(i, row)) {
          open *= std::max(1 - double{z}, kLeast);
          if (open < kFew) sum -= share[row] * stated::log(std::exchange(open, 1.0));
        }
        sum -= share[row] * stated::log(open);
      }
    return open_ * sum;
  }

  /// The gradient of the answers, and where there is another reading those of the distance to it and of what is shut.
  void adjoint(const Pass* other, std::span<const double> share, std::span<Real> gradient) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      Numbers<Real> by_memory = zeros<Real>(rows_.size() * kept_);
      if (other != nullptr)
        for (std::size_t j = 0; j < by_memory.size(); ++j)
          by_memory[j] = static_cast<Real>(2 * share[j / kept_]) * (layers_[i].after[j] - other->layers_[i].after[j]);
      by_output_ = layer_adjoint(i, std::move(by_memory), share, gradient);
    }
  }

 private:
  /// Memories before and after a prefix's last letter, and the products in between, in `state` what became of them; the
  /// first layer's input is by letter.
  struct Layer {
    Numbers<Real> before, input, state, after;
  };

  std::span<const Real> part(std::size_t layer, std::size_t which) const {
    return model_.part(model_.of_layer(layer, which));
  }
  std::span<Real> part_of(std::span<Real> gradient, std::size_t layer, std::size_t which) const {
    return model_.part_of(gradient, model_.of_layer(layer, which));
  }

  /// A row's z, of a GRU.
  std::span<const Real> update_gates(std::size_t layer, std::size_t row) const {
    return std::span(layers_[layer].state).subspan(row * gates_ + hidden_, hidden_);
  }

  CellRows<Real> cells(std::size_t layer, std::size_t t) {
    Layer& own = layers_[layer];
    const std::size_t first = rows_.first[t];
    return {cell_.kind,
            rows_.count(t),
            hidden_,
            layer == 0 ? rows_.letter.data() + first : nullptr,
            layer == 0 ? across_.by_letter.data() : own.input.data() + first * gates_,
            own.state.data() + first * gates_,
            t == 0 ? nullptr : own.before.data() + first * kept_,
            nullptr};
  }

  void forward(std::size_t i, std::optional<Noise> noise) {
    Layer& own = layers_[i];
    own.before.resize(rows_.size() * kept_), own.after.resize(rows_.size() * kept_);
    own.state.resize(rows_.size() * gates_);
    if (i > 0) {
      own.input.resize(rows_.size() * gates_);
      fill_rows(part(i, kInputBias), gates_, rows_.size(), own.input.data());
      kernels_.add_product({rows_.size(), gates_, hidden_, layers_[i - 1].after.data(), kept_, 1,
                            across_.input[i].data(), gates_, own.input.data(), gates_});
    }
    for (std::size_t t = 0; t < rows_.positions(); ++t) {
      const std::size_t first = rows_.first[t], count = rows_.count(t);
      Real* const state = own.state.data() + first * gates_;
      fill_rows(part(i, kStateBias), gates_, count, state);
      if (t > 0) {
        for (std::size_t row = first; row < first + count; ++row)
          std::copy_n(own.after.data() + rows_.parent[row] * kept_, kept_, own.before.data() + row * kept_);
        if (noise) noise->add_to(own.before.data() + first * kept_, count * kept_);
        kernels_.add_product({count, gates_, hidden_, own.before.data() + first * kept_, kept_, 1,
                              across_.state[i].data(), gates_, state, gates_});
      }
      CellRows<Real> cells = this->cells(i, t);
      cells.after = own.after.data() + first * kept_;
      kernels_.step_cells(cells);
    }
  }

  /// `by_memory`: of each row's own; the letters that follow add theirs. Gives the gradient by what the layer below
  /// gives, nothing in the first one.
  Numbers<Real> layer_adjoint(std::size_t i, Numbers<Real> by_memory, std::span<const double> share,
                              std::span<Real> gradient) {
    Layer& own = layers_[i];
    const std::span<const Real> weights = part(i, kState);
    Numbers<Real> apart(cell_.sums ? 0 : own.state.size()), gates;
    const Numbers<Real>&by_state = own.state, &by_input = cell_.sums ? by_state : apart;
    for (std::size_t t = rows_.positions(); t-- > 0;) {
      const std::size_t first = rows_.first[t];
      Real* const by_own = by_memory.data() + first * kept_;
      gates.clear();
      for (std::size_t row = first; open_ > 0 && row < rows_.first[t + 1]; ++row)
        gates.insert(gates.end(), update_gates(i, row).begin(), update_gates(i, row).end());
      kernels_.step_cells_adjoint(cells(i, t), {by_output_.data() + first * hidden_, by_own,
                                                apart.empty() ? nullptr : apart.data() + first * gates_});
      const Real* z = gates.data();
      for (std::size_t row = first; !gates.empty() && row < rows_.first[t + 1]; ++row) {
        const auto slope = static_cast<Real>(open_ * share[row]);  // times z: d/du −log(1 − σ(u)) = σ(u)
        for (std::size_t j = row * gates_ + hidden_; j < row * gates_ + 2 * hidden_; ++j, ++z)
          own.state[j] += slope * *z, apart[j] += slope * *z;
      }
      if (t == 0) break;
      kernels_.add_product({rows_.count(t), hidden_, gates_, by_state.data() + first * gates_, gates_, 1,
                            weights.data(), hidden_, by_own, kept_});
      for (std::size_t row = first; row < rows_.first[t + 1]; ++row) {
        const Real* const from = by_memory.data() + row * kept_;
        Real* const to = by_memory.data() + rows_.parent[row] * kept_;
        for (std::size_t j = 0; j < kept_; ++j) to[j] += from[j];
      }
    }
    if (rows_.positions() > 1) {
      const std::size_t first = rows_.first[1];
      kernels_.add_product({gates_, hidden_, rows_.size() - first, by_state.data() + first * gates_, 1, gates_,
                            own.before.data() + first * kept_, kept_, part_of(gradient, i, kState).data(), hidden_});
    }
    add_rows<Real>(by_state, part_of(gradient, i, kStateBias));
    if (i == 0) {
      letters_adjoint(by_input, gradient);
      return {};
    }
    add_rows<Real>(by_input, part_of(gradient, i, kInputBias));
    kernels_.add_product({gates_, hidden_, rows_.size(), by_input.data(), 1, gates_, layers_[i - 1].after.data(), kept_,
                          part_of(gradient, i, kInput).data(), hidden_});
    Numbers<Real> by_below = zeros<Real>(rows_.size() * hidden_);
    kernels_.add_product({rows_.size(), hidden_, gates_, by_input.data(), gates_, 1, part(i, kInput).data(), hidden_,
                          by_below.data(), hidden_});
    return by_below;
  }

  void letters_adjoint(const Numbers<Real>& by_input, std::span<Real> gradient) const {
    const std::size_t letters = model_.letters(), width = model_.shape_.inputs;
    Numbers<Real> by_table = zeros<Real>(letters * gates_);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (std::size_t j = 0; j < gates_; ++j) by_table[rows_.letter[row] * gates_ + j] += by_input[row * gates_ + j];
    add_rows<Real>(by_table, part_of(gradient, 0, kInputBias));
    const std::span<Real> by_weights = part_of(gradient, 0, kInput);
    if (width == 0) {
      for (std::size_t letter = 0; letter < letters; ++letter)
        for (std::size_t j = 0; j < gates_; ++j) by_weights[j * letters + letter] += by_table[letter * gates_ + j];
      return;
    }
    const std::span<const Real> embedding = model_.part(kEmbedding);
    kernels_.add_product(
        {gates_, width, letters, by_table.data(), 1, gates_, embedding.data(), width, by_weights.data(), width});
    kernels_.add_product({letters, width, gates_, by_table.data(), gates_, 1, part(0, kInput).data(), width,
                          model_.part_of(gradient, kEmbedding).data(), width});
  }

  const CellModel& model_;
  const Across& across_;
  const TrainingKernels<Real>& kernels_ = training_kernels<Real>();
  const Cell& cell_;
  std::size_t hidden_, gates_, kept_;
  const PrefixRows& rows_;
  double open_;  ///< what a GRU's shut gates cost beside a distance
  std::vector<Layer> layers_;
  Numbers<Real> by_output_;  ///< the gradient by the outputs of the layer at hand, `hidden` numbers a row
};

template <class Real>
BatchLoss CellModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading* twin,
                                   std::span<Real> gradient) const {
  const PrefixOrder order = prefix_order(batch);
  const Across across(*this);
  const All all{batch.targets.size(), std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::uint64_t{0})};
  return loss_of_slices<Real>(
      batch, slices_of(batch, order.words, order.shared, Model::parameters().size()), Model::threads(), gradient,
      [&](const Slice& slice, std::span<const TrainingBatch::Target> targets, std::span<Real> own) {
        std::optional<TwinReading> of_slice;
        if (twin != nullptr) of_slice = {twin->weight, twin->noise, Random(twin->seed).next() + slice.words.front()};
        return slice_loss(shared_rows_of(batch, slice, Model::letters()), across, targets, all,
                          of_slice ? &*of_slice : nullptr, own);
      });
}

template <class Real>
BatchLoss CellModel<Real>::slice_loss(const TokenRows& tokens, const Across& across,
                                      std::span<const TrainingBatch::Target> targets, const All& all,
                                      const TwinReading* twin, std::span<Real> gradient) const {
  const PrefixRows rows(tokens);
  const DistinctTargets asked = distinct_targets(targets, tokens);
  std::vector<std::uint32_t> at;
  for (const std::size_t row : asked.rows) at.push_back(rows.of_token[row]);
  std::vector<double> share;
  if (twin != nullptr)
    for (const std::uint32_t words : rows.words(*tokens.sharing))
      share.push_back(twin->weight * words / static_cast<double>(all.letters));

  std::vector<Pass> readings;
  readings.reserve(2);
  for (std::uint64_t reading = 0; reading < (twin == nullptr ? 1 : 2); ++reading)
    readings.emplace_back(*this, across, rows, twin, reading);
  BatchLoss result;
  for (Pass& reading : readings) {
    const BatchLoss own = reading.answer(asked, at, all.targets * readings.size(), gradient);
    result = {result.loss + own.loss, result.right + own.right, result.targets + own.targets};
  }
  if (twin != nullptr)
    result.loss += readings[0].distance(readings[1], share) + readings[0].shut(share) + readings[1].shut(share);
  if (gradient.empty()) return result;
  readings[0].adjoint(twin == nullptr ? nullptr : &readings[1], share, gradient);
  if (twin != nullptr) readings[1].adjoint(&readings[0], share, gradient);
  return result;
}

template class CellModel<float>;
template class CellModel<double>;

}  // namespace krohn
