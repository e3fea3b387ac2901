#include "simulate/bilinear_model.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <numbers>

#include "constructions/tensor_values.h"
#include "groups/error.h"
#include "groups/random.h"
#include "simulate/block_recurrence.h"

namespace krohn {
namespace {

using Form = BilinearShape::Form;

template <class Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using MapOf = Eigen::Map<RowMajor<Real>>;
template <class Real>
using ConstMapOf = Eigen::Map<const RowMajor<Real>>;

template <class Real>
ConstMapOf<Real> matrix(std::span<const Real> numbers, std::size_t rows) {
  return {numbers.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(numbers.size() / rows)};
}
template <class Real>
MapOf<Real> matrix(std::span<Real> numbers, std::size_t rows) {
  return {numbers.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(numbers.size() / rows)};
}

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// Box and Muller (1958).
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * uniform(random));
}

std::uint64_t count_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

std::uint32_t BilinearShape::block_size() const {
  switch (form) {
    case Form::kBlocks:
      return block;
    case Form::kRotations:
      return 2;
    default:
      return hidden;
  }
}

template <class Real>
const char* BilinearModel<Real>::name_of(Part part) {
  constexpr const char* kNames[] = {"embedding",  "weights", "left",    "right",       "bias",
                                    "input_bias", "initial", "readout", "readout_bias"};
  return kNames[part];
}

template <class Real>
std::uint32_t BilinearModel<Real>::generated() const {
  if (shape_.form == Form::kFactored) return shape_.rank;
  if (shape_.form == Form::kRotations) return shape_.hidden / 2;
  return shape_.hidden * shape_.block_size();
}

template <class Real>
std::vector<std::uint64_t> BilinearModel<Real>::shape_of(Part part) const {
  const std::uint64_t hidden = shape_.hidden;
  const bool factored = shape_.form == Form::kFactored;
  switch (part) {
    case kEmbedding:
      return {letters_, shape_.inputs};
    case kWeights:
      return {shape_.inputs, generated()};
    case kLeft:
    case kRight:
      return {hidden, factored ? shape_.rank : 0};
    case kBias:
      return {shape_.bias ? hidden : 0};
    case kInputBias:
      return {shape_.input_bias ? shape_.inputs : 0, hidden};
    case kInitial:
      return {hidden};
    case kReadout:
      return {labels_, hidden};
    default:
      return {labels_};
  }
}

template <class Real>
BilinearModel<Real>::BilinearModel(const BilinearShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : shape_(shape), letters_(letters), labels_(labels), begin_{0} {
  for (int i = 0; i < kParts; ++i) begin_.push_back(begin_.back() + count_of(shape_of(static_cast<Part>(i))));
  parameters_.resize(begin_.back());
  Random random(seed);
  const auto fill = [&](Part part, auto&& draw) {
    for (Real& number : part_of(parameters_, part)) number = static_cast<Real>(draw());
  };
  const auto within = [&](double spread) { return [&random, spread] { return spread * (2 * uniform(random) - 1); }; };
  // Entries of variance spread²/3 · D in an s×s matrix: its spectral radius is about spread · √(D s / 3).
  const double fan_in = shape.inputs * static_cast<double>(shape.block_size());
  const double spread = shape.spread > 0 ? shape.spread : std::sqrt(3 / fan_in);
  fill(kEmbedding, [&] { return normal(random); });
  fill(kWeights, shape.form == Form::kRotations && shape.spread == 0
                     ? within(std::numbers::pi / std::sqrt(shape.inputs))
                     : within(spread));
  const double factor =
      shape.spread > 0 ? shape.spread : std::sqrt(3.0 / std::sqrt(double{1} * shape.rank * shape.hidden));
  fill(kLeft, within(factor));
  fill(kRight, within(factor));
  fill(kBias, within(spread));
  fill(kInputBias, within(spread));
  fill(kInitial, [&] { return normal(random); });
  const double readout = 1 / std::sqrt(static_cast<double>(shape.hidden));
  fill(kReadout, within(readout));
  fill(kReadoutBias, within(readout));
}

template <class Real>
std::size_t BilinearModel<Real>::first_trained() const {
  return shape_.frozen ? begin_[kReadout] : 0;
}

template <class Real>
typename BilinearModel<Real>::Letters BilinearModel<Real>::letter_matrices() const {
  const std::size_t hidden = shape_.hidden, size = shape_.block_size();
  Letters letters;
  letters.matrices.resize(letters_ * hidden * size);
  const auto embedding = matrix(part(kEmbedding), letters_);
  const RowMajor<Real> given = embedding * matrix(part(kWeights), shape_.inputs);
  MapOf<Real> out = matrix(std::span<Real>(letters.matrices), letters_);
  switch (shape_.form) {
    case Form::kFull:
    case Form::kBlocks:
      out = given;
      break;
    case Form::kRotations:
      for (Letter letter = 0; letter < letters_; ++letter)
        for (Eigen::Index k = 0; k < given.cols(); ++k) {
          const Real c = std::cos(given(letter, k)), s = std::sin(given(letter, k));
          Real* const block = letters.matrices.data() + (letter * hidden / 2 + static_cast<std::size_t>(k)) * 4;
          block[0] = c, block[1] = -s, block[2] = s, block[3] = c;
        }
      break;
    case Form::kFactored: {
      const auto left = matrix(part(kLeft), hidden), right = matrix(part(kRight), hidden);
      for (Letter letter = 0; letter < letters_; ++letter)
        matrix(std::span<Real>(letters.matrices).subspan(letter * hidden * hidden, hidden * hidden), hidden) =
            left * given.row(letter).asDiagonal() * right.transpose();
      break;
    }
  }
  if (!shape_.bias && !shape_.input_bias) return letters;
  letters.additions.assign(letters_ * hidden, 0);
  MapOf<Real> additions = matrix(std::span<Real>(letters.additions), letters_);
  if (shape_.input_bias) additions = embedding * matrix(part(kInputBias), shape_.inputs);
  if (shape_.bias) additions.rowwise() += matrix(part(kBias), 1).row(0);
  return letters;
}

/// The adjoint of letter_matrices: gradients by matrices and additions become gradients by the parameters.
template <class Real>
void BilinearModel<Real>::add_generator_gradient(const Letters& letters, const Letters& gradient,
                                                 std::span<Real> parameters) const {
  const std::size_t hidden = shape_.hidden;
  const auto embedding = matrix(part(kEmbedding), letters_);
  auto embedding_gradient = matrix(part_of(parameters, kEmbedding), letters_);
  if (!gradient.additions.empty()) {
    const auto by_addition = matrix(std::span<const Real>(gradient.additions), letters_);
    if (shape_.bias) matrix(part_of(parameters, kBias), 1) += by_addition.colwise().sum();
    if (shape_.input_bias) {
      matrix(part_of(parameters, kInputBias), shape_.inputs).noalias() += embedding.transpose() * by_addition;
      embedding_gradient.noalias() += by_addition * matrix(part(kInputBias), shape_.inputs).transpose();
    }
  }
  RowMajor<Real> by_given = matrix(std::span<const Real>(gradient.matrices), letters_);
  if (shape_.form == Form::kRotations) {
    by_given.resize(letters_, generated());
    for (Letter letter = 0; letter < letters_; ++letter)
      for (std::size_t k = 0; k < hidden / 2; ++k) {
        const std::size_t at = (letter * hidden / 2 + k) * 4;
        const Real* const block = letters.matrices.data() + at;
        const Real* const by_block = gradient.matrices.data() + at;
        const Real c = block[0], s = block[2];
        by_given(letter, static_cast<Eigen::Index>(k)) =
            c * (by_block[2] - by_block[1]) - s * (by_block[0] + by_block[3]);
      }
  }
  if (shape_.form == Form::kFactored) {
    const auto left = matrix(part(kLeft), hidden), right = matrix(part(kRight), hidden);
    auto left_gradient = matrix(part_of(parameters, kLeft), hidden);
    auto right_gradient = matrix(part_of(parameters, kRight), hidden);
    const RowMajor<Real> given = embedding * matrix(part(kWeights), shape_.inputs);
    by_given.resize(letters_, generated());
    for (Letter letter = 0; letter < letters_; ++letter) {
      const auto by_matrix =
          matrix(std::span<const Real>(gradient.matrices).subspan(letter * hidden * hidden, hidden * hidden), hidden);
      const RowMajor<Real> by_right = by_matrix * right;  // H×R
      const RowMajor<Real> by_left = by_matrix.transpose() * left;
      by_given.row(letter) = left.cwiseProduct(by_right).colwise().sum();
      left_gradient += by_right * given.row(letter).asDiagonal();
      right_gradient += by_left * given.row(letter).asDiagonal();
    }
  }
  matrix(part_of(parameters, kWeights), shape_.inputs).noalias() += embedding.transpose() * by_given;
  embedding_gradient.noalias() += by_given * matrix(part(kWeights), shape_.inputs).transpose();
}

template <class Real>
BatchLoss BilinearModel<Real>::loss(const TrainingBatch& batch, std::span<Real> gradient) const {
  const auto hidden = static_cast<Eigen::Index>(shape_.hidden);
  const auto targets = static_cast<Eigen::Index>(batch.targets.size());
  const Letters letters = letter_matrices();
  const BlockRecurrence<Real> recurrence{shape_.hidden, shape_.block_size(), letters.matrices, letters.additions};
  std::vector<Real> states = recurrence.run(batch, initial_state());
  const std::size_t step = std::size_t{batch.words} * shape_.hidden;
  const auto state_at = [&](std::vector<Real>& all, const TrainingBatch::Target& target) {
    return Eigen::Map<Eigen::Matrix<Real, 1, Eigen::Dynamic>>(
        all.data() + (target.position + 1) * step + std::size_t{target.word} * shape_.hidden, hidden);
  };

  RowMajor<Real> read(targets, hidden);
  for (Eigen::Index i = 0; i < targets; ++i) read.row(i) = state_at(states, batch.targets[static_cast<std::size_t>(i)]);
  const auto weights = matrix(readout(), labels_);
  RowMajor<Real> logits = read * weights.transpose();
  logits.rowwise() += matrix(readout_bias(), 1).row(0);

  BatchLoss result;
  result.targets = batch.targets.size();
  for (Eigen::Index i = 0; i < targets; ++i) {  // logits become their gradient: softmax − one-hot, over the mean
    const auto label = static_cast<Eigen::Index>(batch.targets[static_cast<std::size_t>(i)].label);
    Eigen::Index best = 0;
    const Real greatest = logits.row(i).maxCoeff(&best);
    const Real shifted = logits(i, label) - greatest;
    logits.row(i) = (logits.row(i).array() - greatest).exp();
    const Real sum = logits.row(i).sum();
    result.loss += static_cast<double>(std::log(sum) - shifted);
    result.right += best == label;
    logits.row(i) /= sum;
    logits(i, label) -= 1;
  }
  result.loss /= static_cast<double>(std::max<Eigen::Index>(targets, 1));
  if (gradient.empty()) return result;

  logits /= static_cast<Real>(std::max<Eigen::Index>(targets, 1));
  matrix(part_of(gradient, kReadout), labels_).noalias() += logits.transpose() * read;
  matrix(part_of(gradient, kReadoutBias), 1) += logits.colwise().sum();
  if (shape_.frozen) return result;
  const RowMajor<Real> by_read = logits * weights;
  std::vector<Real> by_state(states.size(), 0);
  for (Eigen::Index i = 0; i < targets; ++i)
    state_at(by_state, batch.targets[static_cast<std::size_t>(i)]) += by_read.row(i);
  Letters by_letters{std::vector<Real>(letters.matrices.size(), 0), std::vector<Real>(letters.additions.size(), 0)};
  recurrence.run_adjoint(batch, states, by_state, by_letters.matrices, by_letters.additions);
  matrix(part_of(gradient, kInitial), 1) +=
      matrix(std::span<const Real>(by_state).first(step), batch.words).colwise().sum();
  add_generator_gradient(letters, by_letters, gradient);
  return result;
}

template <class Real>
TensorFile BilinearModel<Real>::tensors() const {
  TensorFile file;
  for (int i = 0; i < kParts; ++i) {
    const auto which = static_cast<Part>(i);
    if (part(which).empty()) continue;
    file.tensors.emplace(name_of(which),
                         make_tensor(std::vector<Real>(part(which).begin(), part(which).end()), shape_of(which)));
  }
  return file;
}

template <class Real>
void BilinearModel<Real>::load(const TensorFile& file) {
  TensorReader reader(file);
  for (int i = 0; i < kParts; ++i) {
    const auto which = static_cast<Part>(i);
    const std::span<Real> own = part_of(parameters_, which);
    if (own.empty()) continue;
    const std::vector<Real> values = reader.values<Real>(name_of(which), shape_of(which));
    std::ranges::copy(values, own.begin());
  }
}

template class BilinearModel<float>;
template class BilinearModel<double>;

}  // namespace krohn
