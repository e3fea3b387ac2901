#include "krohn/simulate/models/cell_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/cross_entropy.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/linear_model_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/recurrence/prefix_tree.h"
#include "krohn/simulate/models/token_layers.h"

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
  const std::string name = model.name();
  return find_cell(name.substr(0, name.find(':'))) != nullptr;
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
  Pass(const CellModel& model, const Across& across, const PrefixRows& rows)
      : model_(model),
        across_(across),
        cell_(*find_cell(model.shape_.cell)),
        hidden_(model.shape_.hidden),
        gates_(cell_.gates * hidden_),
        kept_(cell_.kept * hidden_),
        rows_(rows),
        layers_(model.shape_.layers) {
    for (std::size_t i = 0; i < layers_.size(); ++i) forward(i);
  }

  /// The last layer's output after a row's prefix.
  const Real* output(std::size_t row) const { return layers_.back().after.data() + row * kept_; }

  /// By that, `hidden` numbers a row.
  void adjoint(Numbers<Real> by_output, std::span<Real> gradient) {
    for (std::size_t i = layers_.size(); i-- > 0;) by_output = layer_adjoint(i, by_output, gradient);
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

  void forward(std::size_t i) {
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
        kernels_.add_product({count, gates_, hidden_, own.before.data() + first * kept_, kept_, 1,
                              across_.state[i].data(), gates_, state, gates_});
      }
      CellRows<Real> cells = this->cells(i, t);
      cells.after = own.after.data() + first * kept_;
      kernels_.step_cells(cells);
    }
  }

  /// Gives the gradient by what the layer below gives, nothing in the first one.
  Numbers<Real> layer_adjoint(std::size_t i, const Numbers<Real>& by_output, std::span<Real> gradient) {
    Layer& own = layers_[i];
    const std::span<const Real> weights = part(i, kState);
    Numbers<Real> by_memory = zeros<Real>(rows_.size() * kept_), apart(cell_.sums ? 0 : own.state.size());
    const Numbers<Real>&by_state = own.state, &by_input = cell_.sums ? by_state : apart;
    for (std::size_t t = rows_.positions(); t-- > 0;) {
      const std::size_t first = rows_.first[t];
      Real* const by_own = by_memory.data() + first * kept_;
      kernels_.step_cells_adjoint(cells(i, t), {by_output.data() + first * hidden_, by_own,
                                                apart.empty() ? nullptr : apart.data() + first * gates_});
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
  std::vector<Layer> layers_;
};

template <class Real>
BatchLoss CellModel<Real>::loss(const TrainingBatch& batch, std::span<Real> gradient) const {
  const PrefixOrder order = prefix_order(batch);
  const Across across(*this);
  return loss_of_slices<Real>(
      batch, slices_of(batch, order.words, order.shared, Model::parameters().size()), Model::threads(), gradient,
      [&](const Slice& slice, std::span<const TrainingBatch::Target> targets, std::span<Real> own) {
        return slice_loss(shared_rows_of(batch, slice, Model::letters()), across, targets, batch.targets.size(), own);
      });
}

template <class Real>
BatchLoss CellModel<Real>::slice_loss(const TokenRows& tokens, const Across& across,
                                      std::span<const TrainingBatch::Target> targets, std::uint64_t all,
                                      std::span<Real> gradient) const {
  const PrefixRows rows(tokens);
  Pass pass(*this, across, rows);
  const DistinctTargets asked = distinct_targets(targets, tokens);
  const std::size_t labels = Model::labels(), hidden = shape_.hidden, count = asked.rows.size();
  const auto& kernels = training_kernels<Real>();

  Numbers<Real> outputs(count * hidden), logits(count * labels);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(pass.output(rows.of_token[asked.rows[i]]), hidden, outputs.data() + i * hidden);
  fill_rows(part(head() + 1), labels, count, logits.data());
  kernels.add_product(
      {count, labels, hidden, outputs.data(), hidden, 1, across.head.data(), labels, logits.data(), labels});
  const BatchLoss result = cross_entropy<Real>(logits, Model::labels(), asked.targets, asked.counts, all);
  if (gradient.empty()) return result;

  kernels.add_product({labels, hidden, count, logits.data(), 1, labels, outputs.data(), hidden,
                       part_of(gradient, head()).data(), hidden});
  add_rows<Real>(logits, part_of(gradient, head() + 1));
  Numbers<Real> by_outputs = zeros<Real>(count * hidden), by_rows = zeros<Real>(rows.size() * hidden);
  kernels.add_product(
      {count, hidden, labels, logits.data(), labels, 1, part(head()).data(), hidden, by_outputs.data(), hidden});
  for (std::size_t i = 0; i < count; ++i) {
    Real* const to = by_rows.data() + rows.of_token[asked.rows[i]] * hidden;
    for (std::size_t j = 0; j < hidden; ++j) to[j] += by_outputs[i * hidden + j];
  }
  pass.adjoint(std::move(by_rows), gradient);
  return result;
}

template class CellModel<float>;
template class CellModel<double>;

}  // namespace krohn
