#include "krohn/simulate/models/bilinear_model.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/letter_recurrence.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

using Form = BilinearShape::Form;

/// First weights far below keep no digits in fp32, and at 1e-46 they are zeros, which training cannot leave.
constexpr double kLeastSpread = 1e-30, kMaxSpread = 100;

constexpr char kGrammar[] =
    "a bilinear model is `bilinear:PART,PART,…` with one of full, diagonal, rotations, block=B, rank=R, and hidden=H, "
    "inputs=D, bias, input-bias, spread=S, bias-spread=S, frozen, scale-free";

void read_form(BilinearShape& shape, ModelParts& parts) {
  int forms = parts.has("full");
  if (parts.has("diagonal")) shape.form = Form::kBlocks, ++forms;
  if (parts.has("rotations")) shape.form = Form::kRotations, ++forms;
  if (const auto block = parts.count("block")) shape.form = Form::kBlocks, shape.block = *block, ++forms;
  if (const auto rank = parts.count("rank")) shape.form = Form::kFactored, shape.rank = *rank, ++forms;
  if (forms > 1)
    parts.refuse("its matrices have more than one form; keep one of full, diagonal, rotations, block, rank");
}

}  // namespace

BilinearShape parse_bilinear_shape(std::string_view text) {
  ModelParts parts(text, kGrammar);
  BilinearShape shape;
  read_form(shape, parts);
  shape.hidden = parts.count("hidden").value_or(shape.hidden);
  shape.inputs = parts.count("inputs").value_or(shape.inputs);
  shape.bias = parts.has("bias");
  shape.input_bias = parts.has("input-bias");
  shape.spread = parts.positive("spread", kMaxSpread, kLeastSpread).value_or(0);
  shape.bias_spread = parts.positive("bias-spread", kMaxSpread, kLeastSpread).value_or(0);
  if (shape.bias_spread > 0 && !shape.bias && !shape.input_bias)
    parts.refuse(
        "bias-spread is the first size of what is added to the state; add bias or input-bias, or leave it out");
  shape.frozen = parts.has("frozen");
  shape.scale_free = parts.has("scale-free");
  if (shape.scale_free && (shape.bias || shape.input_bias))
    parts.refuse("what is added to a state gives it a scale; leave out scale-free, or bias and input-bias");
  parts.require_all_taken();
  if (shape.hidden % shape.block_size() != 0)
    parts.refuse(fmt::format("blocks of {} do not divide {} hidden units; change hidden= or block=", shape.block_size(),
                             shape.hidden));
  return shape;
}

std::string to_string(const BilinearShape& shape) {
  std::string text = "bilinear:";
  if (shape.form == Form::kFull) text += "full";
  if (shape.form == Form::kBlocks) text += shape.block == 1 ? "diagonal" : fmt::format("block={}", shape.block);
  if (shape.form == Form::kRotations) text += "rotations";
  if (shape.form == Form::kFactored) text += fmt::format("rank={}", shape.rank);
  text += fmt::format(",hidden={},inputs={}", shape.hidden, shape.inputs);
  if (shape.bias) text += ",bias";
  if (shape.input_bias) text += ",input-bias";
  if (shape.spread > 0) text += fmt::format(",spread={}", shape.spread);
  if (shape.bias_spread > 0) text += fmt::format(",bias-spread={}", shape.bias_spread);
  if (shape.frozen) text += ",frozen";
  if (shape.scale_free) text += ",scale-free";
  return text;
}

namespace {

/// The share of work that a thread takes at a time: columns of the weights, and rows.
constexpr std::size_t kStretch = 1024, kInputs = 16;

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

/// Divides rows by their Euclidean norms, and returns the inverses of these; a row of zeros, which has no direction,
/// stays as it is.
template <class Real>
Numbers<Real> keep_directions(std::span<Real> rows, std::size_t width) {
  Numbers<Real> inverses(rows.size() / width);
  for (std::size_t row = 0; row < inverses.size(); ++row) {
    const std::span<Real> own = rows.subspan(row * width, width);
    double squares = 0;
    for (const Real x : own) squares += static_cast<double>(x) * static_cast<double>(x);
    inverses[row] = squares > 0 ? static_cast<Real>(1 / std::sqrt(squares)) : 0;
    for (Real& x : own) x *= inverses[row];
  }
  return inverses;
}

/// u = h / ‖h‖ turns by what the gradient has at right angles to u.
template <class Real>
void by_directions_to_by_states(std::span<const Real> directions, std::span<const Real> inverse_norms,
                                std::size_t width, std::span<Real> by) {
  for (std::size_t row = 0; row < inverse_norms.size(); ++row) {
    const std::span<const Real> u = directions.subspan(row * width, width);
    const std::span<Real> own = by.subspan(row * width, width);
    Real along = 0;
    for (std::size_t i = 0; i < width; ++i) along += u[i] * own[i];
    for (std::size_t i = 0; i < width; ++i) own[i] = (own[i] - along * u[i]) * inverse_norms[row];
  }
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

std::uint32_t BilinearShape::generated() const {
  if (form == Form::kFactored) return rank;
  if (form == Form::kRotations) return hidden / 2;
  return hidden * block_size();
}

template <class Real>
std::vector<ParameterPart> BilinearModel<Real>::parts(const BilinearShape& shape, Letter letters,
                                                      std::uint32_t labels) {
  const std::uint64_t hidden = shape.hidden, inputs = shape.inputs;
  const std::uint64_t rank = shape.form == Form::kFactored ? shape.rank : 0;
  return {{"embedding", {letters, inputs}},
          {"weights", {inputs, shape.generated()}},
          {"left", {hidden, rank}},
          {"right", {hidden, rank}},
          {"bias", {shape.bias ? hidden : 0}},
          {"input_bias", {shape.input_bias ? inputs : 0, hidden}},
          {"initial", {hidden}},
          {"readout", {labels, hidden}},
          {"readout_bias", {shape.scale_free ? 0 : labels}}};
}

template <class Real>
BilinearModel<Real>::BilinearModel(const BilinearShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels, parts(shape, letters, labels)), shape_(shape) {
  Random random(seed);
  // Entries of variance spread²/3 · D in an s×s matrix: its spectral radius is about spread · √(D s / 3).
  const double fan_in = shape.inputs * static_cast<double>(shape.block_size());
  const double spread = shape.spread > 0 ? shape.spread : std::sqrt(3 / fan_in);
  fill_normal(part(kEmbedding), random);
  fill_uniform(
      part(kWeights),
      shape.form == Form::kRotations && shape.spread == 0 ? std::numbers::pi / std::sqrt(shape.inputs) : spread,
      random);
  const double factor =
      shape.spread > 0 ? shape.spread : std::sqrt(3.0 / std::sqrt(double{1} * shape.rank * shape.hidden));
  fill_uniform(part(kLeft), factor, random);
  fill_uniform(part(kRight), factor, random);
  const double added = shape.bias_spread > 0 ? shape.bias_spread : spread;
  fill_uniform(part(kBias), added, random);
  fill_uniform(part(kInputBias), added, random);
  fill_normal(part(kInitial), random);
  const double readout = 1 / std::sqrt(static_cast<double>(shape.hidden));
  fill_uniform(part(kReadout), readout, random);
  fill_uniform(part(kReadoutBias), readout, random);
}

template <class Real>
std::size_t BilinearModel<Real>::first_trained() const {
  return shape_.frozen ? Model::begin_of(kReadout) : 0;
}

template <class Real>
typename BilinearModel<Real>::Letters BilinearModel<Real>::letter_matrices() const {
  const std::size_t hidden = shape_.hidden, size = shape_.block_size(), count = Model::letters();
  Letters letters;
  const auto embedding = matrix(part(kEmbedding), count);
  Numbers<Real> numbers = generated();
  const auto given = matrix(std::span<const Real>(numbers), count);
  switch (shape_.form) {
    case Form::kFull:
    case Form::kBlocks:
      letters.matrices = std::move(numbers);
      break;
    case Form::kRotations:
      letters.matrices.resize(count * hidden * size);
      for (std::size_t letter = 0; letter < count; ++letter)
        for (Eigen::Index k = 0; k < given.cols(); ++k) {
          const Real c = std::cos(given(letter, k)), s = std::sin(given(letter, k));
          Real* const block = letters.matrices.data() + (letter * hidden / 2 + static_cast<std::size_t>(k)) * 4;
          block[0] = c, block[1] = -s, block[2] = s, block[3] = c;
        }
      break;
    case Form::kFactored: {
      const auto left = matrix(part(kLeft), hidden), right = matrix(part(kRight), hidden);
      letters.matrices.resize(count * hidden * size);
      for (std::size_t letter = 0; letter < count; ++letter)
        matrix(std::span<Real>(letters.matrices).subspan(letter * hidden * hidden, hidden * hidden), hidden) =
            left * given.row(letter).asDiagonal() * right.transpose();
      break;
    }
  }
  if (!shape_.bias && !shape_.input_bias) return letters;
  letters.additions.assign(count * hidden, 0);
  MapOf<Real> additions = matrix(std::span<Real>(letters.additions), count);
  if (shape_.input_bias) additions = embedding * matrix(part(kInputBias), shape_.inputs);
  if (shape_.bias) additions.rowwise() += matrix(part(kBias), 1).row(0);
  return letters;
}

/// The adjoint of letter_matrices: gradients by matrices and additions become gradients by the parameters.
template <class Real>
void BilinearModel<Real>::add_generator_gradient(const Letters& letters, Letters gradient, std::span<Real> parameters,
                                                 OuterGradient<Real>* weights) const {
  const std::size_t hidden = shape_.hidden, count = Model::letters();
  const auto embedding = matrix(part(kEmbedding), count);
  auto embedding_gradient = matrix(part_of(parameters, kEmbedding), count);
  if (!gradient.additions.empty()) {
    const auto by_addition = matrix(std::span<const Real>(gradient.additions), count);
    if (shape_.bias) matrix(part_of(parameters, kBias), 1) += by_addition.colwise().sum();
    if (shape_.input_bias) {
      matrix(part_of(parameters, kInputBias), shape_.inputs).noalias() += embedding.transpose() * by_addition;
      embedding_gradient.noalias() += by_addition * matrix(part(kInputBias), shape_.inputs).transpose();
    }
  }
  RowMajor<Real> by_numbers;  // of the forms that make their matrices out of fewer numbers
  if (shape_.form == Form::kRotations) {
    by_numbers.resize(static_cast<Eigen::Index>(count), shape_.generated());
    for (std::size_t letter = 0; letter < count; ++letter)
      for (std::size_t k = 0; k < hidden / 2; ++k) {
        const std::size_t at = (letter * hidden / 2 + k) * 4;
        const Real* const block = letters.matrices.data() + at;
        const Real* const by_block = gradient.matrices.data() + at;
        const Real c = block[0], s = block[2];
        by_numbers(static_cast<Eigen::Index>(letter), static_cast<Eigen::Index>(k)) =
            c * (by_block[2] - by_block[1]) - s * (by_block[0] + by_block[3]);
      }
  }
  if (shape_.form == Form::kFactored) {
    const auto left = matrix(part(kLeft), hidden), right = matrix(part(kRight), hidden);
    auto left_gradient = matrix(part_of(parameters, kLeft), hidden);
    auto right_gradient = matrix(part_of(parameters, kRight), hidden);
    const Numbers<Real> numbers = generated();
    const auto given = matrix(std::span<const Real>(numbers), count);
    by_numbers.resize(static_cast<Eigen::Index>(count), shape_.generated());
    for (std::size_t letter = 0; letter < count; ++letter) {
      const auto by_matrix =
          matrix(std::span<const Real>(gradient.matrices).subspan(letter * hidden * hidden, hidden * hidden), hidden);
      const RowMajor<Real> by_right = by_matrix * right;  // H×R
      const RowMajor<Real> by_left = by_matrix.transpose() * left;
      by_numbers.row(letter) = left.cwiseProduct(by_right).colwise().sum();
      left_gradient += by_right * given.row(letter).asDiagonal();
      right_gradient += by_left * given.row(letter).asDiagonal();
    }
  }
  const Real* const by_given = by_numbers.size() > 0 ? by_numbers.data() : gradient.matrices.data();
  const std::size_t width = shape_.generated(), inputs = shape_.inputs;
  const auto& kernels = training_kernels<Real>();
  const std::size_t stretches = (width + kStretch - 1) / kStretch, groups = (inputs + kInputs - 1) / kInputs;
  const bool apart = weights != nullptr && by_numbers.size() == 0;
  parallel_for(stretches + groups, Model::threads(), [&](std::size_t i) {
    if (i < stretches) {
      if (apart) return;
      const std::size_t first = i * kStretch;
      kernels.add_product({inputs, std::min(kStretch, width - first), count, part(kEmbedding).data(), 1, inputs,
                           by_given + first, width, part_of(parameters, kWeights).data() + first, width});
    } else {
      const std::size_t first = (i - stretches) * kInputs;
      kernels.add_dots({count, std::min(kInputs, inputs - first), width, by_given, width,
                        part(kWeights).data() + first * width, width, part_of(parameters, kEmbedding).data() + first,
                        inputs, 1});
    }
  });
  if (!apart) return;
  const std::span<const Real> given = part(kEmbedding);
  *weights = {Model::begin_of(kWeights),   inputs, width, count, Numbers<Real>(given.begin(), given.end()),
              std::move(gradient.matrices)};
}

/// embedding · weights.
template <class Real>
Numbers<Real> BilinearModel<Real>::generated() const {
  const std::size_t width = shape_.generated(), inputs = shape_.inputs, count = Model::letters();
  Numbers<Real> rows = zeros<Real>(count * width);
  const auto make_stretch = [&](std::size_t i) {
    const std::size_t first = i * kStretch;
    training_kernels<Real>().add_product({count, std::min(kStretch, width - first), inputs, part(kEmbedding).data(),
                                          inputs, 1, part(kWeights).data() + first, width, rows.data() + first, width});
  };
  parallel_for((width + kStretch - 1) / kStretch, Model::threads(), make_stretch, Sharing::kSame);
  return rows;
}

template <class Real>
BatchLoss BilinearModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading*, std::span<Real> gradient) const {
  return loss_with(batch, gradient, nullptr);
}
template <class Real>
BatchLoss BilinearModel<Real>::loss(const TrainingBatch& batch, std::span<Real> gradient,
                                    OuterGradient<Real>& weights) const {
  return loss_with(batch, gradient, &weights);
}

template <class Real>
BatchLoss BilinearModel<Real>::loss_with(const TrainingBatch& batch, std::span<Real> gradient,
                                         OuterGradient<Real>* weights) const {
  const Letters letters = letter_matrices();
  if (shape_.block_size() == shape_.hidden)
    return loss_through(LetterRecurrence<Real>(batch, shape_.hidden, letters.matrices, letters.additions,
                                               Model::used_threads(), shape_.scale_free),
                        letters, batch.targets, gradient, weights);
  return loss_through(BlockRecurrence<Real>(batch, shape_.hidden, shape_.block_size(), letters.matrices,
                                            letters.additions, shape_.scale_free),
                      letters, batch.targets, gradient, weights);
}

template <class Real>
template <class Recurrence>
BatchLoss BilinearModel<Real>::loss_through(Recurrence recurrence, const Letters& letters,
                                            std::span<const TrainingBatch::Target> targets, std::span<Real> gradient,
                                            OuterGradient<Real>* weights_gradient) const {
  const auto& kernels = training_kernels<Real>();
  const std::size_t hidden = shape_.hidden, labels = Model::labels(), count = targets.size();
  recurrence.run(part(kInitial));
  Numbers<Real> read(count * hidden), logits(count * labels, 0);
  const std::span<const Real> bias = part(kReadoutBias);
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::copy(recurrence.state(targets[i].word, targets[i].position), read.data() + i * hidden);
    std::ranges::copy(bias, logits.data() + i * labels);
  }
  Numbers<Real> inverse_norms;
  if (shape_.scale_free) inverse_norms = keep_directions(std::span<Real>(read), hidden);
  const Real* const weights = part(kReadout).data();
  kernels.add_dots({labels, count, hidden, weights, hidden, read.data(), hidden, logits.data(), 1, labels});
  const BatchLoss result = cross_entropy(std::span<Real>(logits), Model::labels(), targets);
  if (gradient.empty()) return result;

  kernels.add_product({labels, hidden, count, logits.data(), 1, labels, read.data(), hidden,
                       part_of(gradient, kReadout).data(), hidden});
  const std::span<Real> by_bias = part_of(gradient, kReadoutBias);
  for (std::size_t first = 0; first < logits.size(); first += labels)
    for (std::size_t i = 0; i < by_bias.size(); ++i) by_bias[i] += logits[first + i];
  if (shape_.frozen) return result;
  Numbers<Real> by_read(count * hidden, 0);
  kernels.add_product({count, hidden, labels, logits.data(), labels, 1, weights, hidden, by_read.data(), hidden});
  if (shape_.scale_free) by_directions_to_by_states<Real>(read, inverse_norms, hidden, by_read);
  recurrence.begin_adjoint();
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<Real> by_state = recurrence.by_state(targets[i].word, targets[i].position);
    for (std::size_t j = 0; j < hidden; ++j) by_state[j] += by_read[i * hidden + j];
  }
  Letters by_letters{zeros<Real>(letters.matrices.size()), zeros<Real>(letters.additions.size())};
  recurrence.run_adjoint(by_letters.matrices, by_letters.additions, part_of(gradient, kInitial));
  add_generator_gradient(letters, std::move(by_letters), gradient, weights_gradient);
  return result;
}

template <class Real>
std::optional<LinearModel> BilinearModel<Real>::linear_view() const {
  const Letters own = letter_matrices();
  const auto floats = [](std::span<const Real> numbers) { return std::vector<float>(numbers.begin(), numbers.end()); };
  std::vector<float> bias = floats(part(kReadoutBias));
  bias.resize(Model::labels(), 0);
  return LinearModel{shape_.hidden,          shape_.block_size(),
                     Model::letters(),       Model::labels(),
                     floats(own.matrices),   floats(own.additions),
                     floats(part(kInitial)), floats(part(kReadout)),
                     std::move(bias),        "Ebrahimi & Memisevic 2025, eq. 2"};
}

template <class Real>
void BilinearModel<Real>::settle(const TrainingBatch& words) {
  if (!settles()) return;
  const LinearModel view = *linear_view();
  const std::size_t hidden = view.hidden, block = view.block;
  std::vector<double> growth(view.letters, 0), seen(view.letters, 0), next(hidden);
  for (std::uint32_t word = 0; word < words.words; ++word) {
    std::vector<double> state(view.initial.begin(), view.initial.end());
    for (std::uint32_t t = 0; t < words.lengths[word]; ++t) {
      const Letter letter = words.letters[std::size_t{t} * words.words + word];
      double before = 0, after = 0;
      for (std::size_t row = 0; row < hidden; ++row) {
        next[row] = 0;
        for (std::size_t column = 0; column < block; ++column)
          next[row] += static_cast<double>(view.matrices[(letter * hidden + row) * block + column]) *
                       state[row / block * block + column];
        before += state[row] * state[row], after += next[row] * next[row];
      }
      if (!(before > 0 && after > 0 && std::isfinite(after))) return;
      growth[letter] += std::log(after / before) / 2, seen[letter] += 1;
      for (std::size_t i = 0; i < hidden; ++i) state[i] = next[i] / std::sqrt(after);
    }
  }
  const std::span<Real> embedding = part(kEmbedding);
  for (Letter letter = 0; letter < view.letters; ++letter)
    if (seen[letter] > 0)
      for (Real& x : embedding.subspan(letter * std::size_t{shape_.inputs}, shape_.inputs))
        x = static_cast<Real>(static_cast<double>(x) * std::exp(-growth[letter] / seen[letter]));
}

template class BilinearModel<float>;
template class BilinearModel<double>;

}  // namespace krohn
