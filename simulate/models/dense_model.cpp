#include "krohn/simulate/models/dense_model.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <cmath>

#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

template <class Real>
Real norm_of(std::span<const Real> state) {
  return Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>(state.data(), static_cast<Eigen::Index>(state.size()))
      .matrix()
      .norm();
}

/// The state divided by max(1, its norm).
template <class Real>
void project(std::span<const Real> state, std::span<Real> to) {
  const Real scale = 1 / std::max(Real{1}, norm_of(state));
  for (std::size_t i = 0; i < state.size(); ++i) to[i] = scale * state[i];
}

template <class Real>
void project_adjoint(std::span<const Real> state, std::span<const Real> by, std::span<Real> by_state) {
  const Real norm = norm_of(state), scale = 1 / std::max(Real{1}, norm);
  Real along = 0;
  if (norm > 1) {
    for (std::size_t i = 0; i < state.size(); ++i) along += state[i] * by[i];
    along *= scale * scale * scale;
  }
  for (std::size_t i = 0; i < state.size(); ++i) by_state[i] += scale * by[i] - along * state[i];
}

}  // namespace

DenseShape parse_dense_shape(std::string_view text) {
  ModelParts parts(text, "the full-matrix model is `dense:size=N`, with N×N matrices");
  DenseShape shape;
  shape.size = parts.count("size", 1, 512).value_or(shape.size);
  parts.require_all_taken();
  return shape;
}

std::string to_string(const DenseShape& shape) { return fmt::format("dense:size={}", shape.size); }

template <class Real>
DenseModel<Real>::DenseModel(const DenseShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels,
            {{"matrices", {letters, shape.size, shape.size}},
             {"readout", {std::uint64_t{shape.size} * shape.size, labels}},
             {"readout_bias", {labels}}}),
      shape_(shape) {
  Random random(seed);
  const double size = shape.size;
  fill_normal(part(kMatrices), random, 0.2 / std::sqrt(size));
  for (Letter letter = 0; letter < letters; ++letter)
    for (std::size_t i = 0; i < shape.size; ++i)
      part(kMatrices)[letter * state_size() + i * (shape.size + 1)] += Real{1};
  fill_uniform(part(kReadout), 1.0, random);  // projected states have norm 1
}

template <class Real>
void DenseModel<Real>::step(Letter letter, std::span<const Real> from, std::span<Real> to) const {
  const std::size_t n = shape_.size;
  std::ranges::fill(to, Real{0});
  training_kernels<Real>().add_product({n, n, n, matrix(letter).data(), n, 1, from.data(), n, to.data(), n});
}

template <class Real>
std::vector<Real> DenseModel<Real>::logits(std::span<const Real> projected) const {
  std::vector<Real> result;
  for (std::size_t row = 0; row < projected.size() / state_size(); ++row)
    result.insert(result.end(), part(kReadoutBias).begin(), part(kReadoutBias).end());
  TokenLayers<Real>::linear(projected, part(kReadout), state_size(), result);
  return result;
}

template <class Real>
BatchLoss DenseModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading*, std::span<Real> gradient) const {
  const std::size_t n = shape_.size, size = state_size(), words = batch.words;
  // The state before position t of a word at (t · words + word) · size.
  std::vector<Real> states((std::size_t{batch.positions} + 1) * words * size, 0);
  const auto state = [&](std::vector<Real>& all, std::size_t t, std::size_t word) {
    return std::span<Real>(all).subspan((t * words + word) * size, size);
  };
  for (std::size_t word = 0; word < words; ++word) {
    for (std::size_t i = 0; i < n; ++i) state(states, 0, word)[i * (n + 1)] = 1;
    for (std::size_t t = 0; t < batch.lengths[word]; ++t)
      step(batch.letters[t * words + word], state(states, t, word), state(states, t + 1, word));
  }
  std::vector<Real> projected(batch.targets.size() * size);
  const auto row = [&](std::vector<Real>& all, std::size_t i) { return std::span<Real>(all).subspan(i * size, size); };
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    project<Real>(state(states, batch.targets[i].position + 1, batch.targets[i].word), row(projected, i));
  std::vector<Real> by_logits = logits(projected);
  const BatchLoss result = cross_entropy<Real>(by_logits, Model::labels(), batch.targets);
  if (gradient.empty()) return result;

  std::vector<Real> by_projected(projected.size(), 0), by_states(states.size(), 0);
  TokenLayers<Real>::linear_adjoint(projected, part(kReadout), size, by_logits, by_projected,
                                    part_of(gradient, kReadout));
  const std::span<Real> by_bias = part_of(gradient, kReadoutBias);
  for (std::size_t i = 0; i < by_logits.size(); ++i) by_bias[i % by_bias.size()] += by_logits[i];
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    const std::size_t t = batch.targets[i].position + 1, word = batch.targets[i].word;
    project_adjoint<Real>(state(states, t, word), row(by_projected, i), state(by_states, t, word));
  }
  const auto& kernels = training_kernels<Real>();
  std::vector<Real> across(size);
  for (std::size_t word = 0; word < words; ++word)
    for (std::size_t t = batch.lengths[word]; t-- > 0;) {
      const Letter letter = batch.letters[t * words + word];
      const std::span<const Real> from = state(states, t, word), by_to = state(by_states, t + 1, word);
      transpose(from.data(), n, n, across.data(), n);
      Real* const by_matrix = part_of(gradient, kMatrices).data() + letter * size;
      kernels.add_product({n, n, n, by_to.data(), n, 1, across.data(), n, by_matrix, n});
      kernels.add_product({n, n, n, matrix(letter).data(), 1, n, by_to.data(), n, state(by_states, t, word).data(), n});
    }
  return result;
}

template class DenseModel<float>;
template class DenseModel<double>;

}  // namespace krohn
