#include "krohn/simulate/models/cell_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/simulate/models/cross_entropy.h"
#include "krohn/simulate/models/initialise.h"
#include "krohn/simulate/models/linear_model_step.h"
#include "krohn/simulate/models/model_parts.h"

namespace krohn {
namespace {

std::vector<ParameterPart> parts_of(const CellShape& shape, Letter letters, std::uint32_t labels) {
  const std::uint64_t hidden = shape.hidden, rows = find_cell<float>(shape.cell)->gates * hidden;
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

/// For y = W x + b with W rows × columns: adds to the gradients by W and b, and to that by x unless null.
template <class Real>
void affine_adjoint(std::span<const Real> by_y, std::span<const Real> weights, const Real* x, std::size_t columns,
                    std::span<Real> by_weights, std::span<Real> by_bias, Real* by_x) {
  for (std::size_t i = 0; i < by_y.size(); ++i) {
    const Real by = by_y[i];
    if (!by_bias.empty()) by_bias[i] += by;
    Real* const row = by_weights.data() + i * columns;
    for (std::size_t j = 0; j < columns; ++j) row[j] += by * x[j];
    if (by_x == nullptr) continue;
    const Real* const w = weights.data() + i * columns;
    for (std::size_t j = 0; j < columns; ++j) by_x[j] += by * w[j];
  }
}

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

/// Backwards through one word, whose memories and products the forward has left.
template <class Real>
class CellModel<Real>::Adjoint {
 public:
  Adjoint(const CellModel& model, std::span<Real> gradient)
      : model_(model), cell_(*find_cell<Real>(model.shape_.cell)), gradient_(gradient) {}

  /// memories[t] before letter t; by_memories[t + 1] holds what the read-out asks for after it.
  void run(const std::vector<Letter>& letters, const std::vector<std::vector<Real>>& memories,
           const std::vector<std::vector<Real>>& products, std::vector<std::vector<Real>>& by_memories) const {
    for (std::size_t t = letters.size(); t-- > 0;)
      step(letters[t], memories[t], memories[t + 1], products[t], by_memories[t + 1], by_memories[t]);
  }

 private:
  std::span<Real> by(std::size_t part) const { return model_.part_of(gradient_, part); }

  void step(Letter letter, const std::vector<Real>& before, const std::vector<Real>& after,
            const std::vector<Real>& products, std::vector<Real>& by_after, std::vector<Real>& by_before) const {
    const std::size_t hidden = model_.shape_.hidden, rows = cell_.gates * hidden, kept = cell_.kept * hidden;
    std::vector<Real> by_products(2 * rows);
    const std::span<const Real> by_input(by_products.data(), rows), by_state(by_products.data() + rows, rows);
    for (std::size_t i = model_.shape_.layers; i-- > 0;) {
      const std::size_t own = i * kept;
      cell_.adjoint(hidden, products.data() + 2 * rows * i, products.data() + 2 * rows * i + rows, before.data() + own,
                    by_after.data() + own, by_products.data(), by_products.data() + rows, by_before.data() + own);
      affine_adjoint<Real>(by_state, model_.part(model_.of_layer(i, kState)), before.data() + own, hidden,
                           by(model_.of_layer(i, kState)), by(model_.of_layer(i, kStateBias)), by_before.data() + own);
      if (i > 0)
        affine_adjoint<Real>(by_input, model_.part(model_.of_layer(i, kInput)), after.data() + own - kept, hidden,
                             by(model_.of_layer(i, kInput)), by(model_.of_layer(i, kInputBias)),
                             by_after.data() + own - kept);
      else
        first_layer(letter, by_input);
    }
  }

  void first_layer(Letter letter, std::span<const Real> by_input) const {
    const std::size_t width = model_.shape_.inputs;
    if (width > 0)
      return affine_adjoint<Real>(by_input, model_.part(kInput), model_.part(kEmbedding).data() + letter * width, width,
                                  by(kInput), by(kInputBias), by(kEmbedding).data() + letter * width);
    const std::span<Real> by_weights = by(kInput), by_bias = by(kInputBias);
    for (std::size_t i = 0; i < by_input.size(); ++i) {
      by_weights[i * model_.letters() + letter] += by_input[i];
      if (!by_bias.empty()) by_bias[i] += by_input[i];
    }
  }

  const CellModel& model_;
  const Cell<Real>& cell_;
  std::span<Real> gradient_;
};

template <class Real>
BatchLoss CellModel<Real>::loss(const TrainingBatch& batch, std::span<Real> gradient) const {
  const CellNetwork<Real> network(shape_, Model::letters(), Model::tensors());
  const std::size_t labels = Model::labels();
  // By word: the memory before every letter and after the last, and the products in between.
  std::vector<std::vector<std::vector<Real>>> memories(batch.words), products(batch.words);
  std::vector<std::vector<Letter>> letters(batch.words);
  for (std::uint32_t word = 0; word < batch.words; ++word) {
    memories[word].emplace_back(network.memory(), Real{0});
    for (std::size_t t = 0; t < batch.lengths[word]; ++t) {
      letters[word].push_back(batch.letters[t * batch.words + word]);
      memories[word].push_back(memories[word].back());
      network.read(letters[word].back(), memories[word].back(), &products[word].emplace_back());
    }
  }
  std::vector<Real> logits(batch.targets.size() * labels);
  const auto after = [&](const TrainingBatch::Target& target) -> const std::vector<Real>& {
    return memories[target.word][target.position + 1];
  };
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    network.answer(after(batch.targets[i]), std::span(logits).subspan(i * labels, labels));
  const BatchLoss result = cross_entropy<Real>(logits, Model::labels(), batch.targets);
  if (gradient.empty()) return result;

  std::vector<std::vector<std::vector<Real>>> by_memories(batch.words);
  for (std::uint32_t word = 0; word < batch.words; ++word)
    by_memories[word].assign(memories[word].size(), std::vector<Real>(network.memory(), 0));
  const std::size_t top = network.memory() - network.kept();  // where the last layer's output begins
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    const TrainingBatch::Target& target = batch.targets[i];
    affine_adjoint<Real>(std::span(logits).subspan(i * labels, labels), part(head()), after(target).data() + top,
                         shape_.hidden, part_of(gradient, head()), part_of(gradient, head() + 1),
                         by_memories[target.word][target.position + 1].data() + top);
  }
  const Adjoint adjoint(*this, gradient);
  for (std::uint32_t word = 0; word < batch.words; ++word)
    adjoint.run(letters[word], memories[word], products[word], by_memories[word]);
  return result;
}

template <class Real>
class CellModel<Real>::Reader : public ModelReader {
 public:
  Reader(std::shared_ptr<const CellNetwork<Real>> network, std::uint32_t labels, std::uint32_t words)
      : network_(std::move(network)), logits_(labels), memories_(words * network_->memory(), 0) {}

  void read(const TrainingBatch& batch, std::span<TaskLabel> answers) override {
    std::size_t target = 0;
    for (std::uint32_t t = 0; t < batch.positions; ++t) {
      for (std::uint32_t word = 0; word < batch.words; ++word)
        if (t < batch.lengths[word]) network_->read(batch.letters[std::size_t{t} * batch.words + word], memory(word));
      for (; target < batch.targets.size() && batch.targets[target].position == t; ++target) {
        network_->answer(memory(batch.targets[target].word), logits_);
        answers[target] = answer_of(logits_.data(), static_cast<std::uint32_t>(logits_.size()));
      }
    }
  }

 private:
  std::span<Real> memory(std::size_t word) {
    return std::span(memories_).subspan(word * network_->memory(), network_->memory());
  }

  std::shared_ptr<const CellNetwork<Real>> network_;
  std::vector<Real> logits_, memories_;
};

template <class Real>
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> CellModel<Real>::readers(bool) const {
  const auto network = std::make_shared<const CellNetwork<Real>>(shape_, Model::letters(), Model::tensors());
  return [network, labels = Model::labels()](std::uint32_t words) {
    return std::make_unique<Reader>(network, labels, words);
  };
}

template class CellModel<float>;
template class CellModel<double>;

}  // namespace krohn
