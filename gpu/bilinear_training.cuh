// gpu/bilinear_training.cuh — one step of training of many bilinear models at once (simulate/bilinear_model.h):
// letters' matrices, recurrence, loss, adjoint and AdamW as items that each make one number, summed in one order, so
// that a step has the same bits every time. For the processor and for CUDA devices.
//
// Arrays hold one model after another. Sums run left to right in float; where they go over a whole matrix they are cut
// into parts of kPart terms, which are added in double.
#pragma once

#include <cmath>
#include <cstdint>

#include "simulate/host_device.h"

namespace krohn {

/// What all models have in common, and where their parameters lie.
struct BilinearPlan {
  std::uint32_t letters = 0, labels = 0, hidden = 0, block = 0, inputs = 0;
  std::uint32_t generated = 0;  ///< numbers that the embedding gives linearly, per letter
  std::uint32_t rank = 0;       ///< 0: not factored
  bool rotations = false, bias = false, input_bias = false, frozen = false;
  std::uint64_t embedding = 0, weights = 0, left = 0, right = 0, bias_at = 0, input_bias_at = 0, initial = 0,
                readout = 0, readout_bias = 0, parameters = 0;
  std::uint64_t first_trained = 0;

  KROHN_HOST_DEVICE std::uint64_t matrix_numbers() const { return std::uint64_t{letters} * hidden * block; }
  KROHN_HOST_DEVICE bool adds() const { return bias || input_bias; }
  KROHN_HOST_DEVICE bool gives_matrices() const { return rank == 0 && !rotations; }
};

struct DeviceTarget {
  std::uint32_t position, word, label;
  float smoothing;  ///< as in simulate/training_batch.h
};

/// Everything that a step works with. A batch is the models' words, position t of word w at [t · words + w].
struct BilinearTraining {
  static constexpr std::uint64_t kPart = 1024;

  BilinearPlan p;
  std::uint32_t models = 0, words = 0, positions = 0, most_targets = 0;
  float *parameters = nullptr, *gradient = nullptr, *mean = nullptr, *square = nullptr;
  float *given = nullptr, *by_given = nullptr;          ///< [letter][generated]
  float *matrices = nullptr, *by_matrices = nullptr;    ///< row r of letter σ from (σ · hidden + r) · block on
  float* columns = nullptr;                             ///< the same by columns: [letter][column of a block][row]
  float *additions = nullptr, *by_additions = nullptr;  ///< [letter][hidden]
  float *states = nullptr, *by_states = nullptr;        ///< [position + 1][word][hidden]
  float* logits = nullptr;                              ///< [target][label]; then the gradient by them
  double* losses = nullptr;                             ///< by target
  std::uint32_t* right = nullptr;
  double *embedding_parts = nullptr, *norm_parts = nullptr, *norms = nullptr;
  std::uint32_t* failed = nullptr;  ///< by model: a gradient was not finite, and nothing moves any more

  // The batch of every model.
  const std::uint32_t *words_letters = nullptr, *lengths = nullptr, *target_counts = nullptr;
  const DeviceTarget* targets = nullptr;
  const std::uint32_t* readers = nullptr;         ///< t · words + w of all letters read, by letter
  const std::uint32_t* first_reader = nullptr;    ///< of each letter; one more at the end
  const float *rates = nullptr, *kept = nullptr;  ///< by model
  float clip = 0;

  KROHN_HOST_DEVICE std::uint64_t step_numbers() const { return std::uint64_t{words} * p.hidden; }
  KROHN_HOST_DEVICE std::uint64_t state_numbers() const { return (positions + std::uint64_t{1}) * step_numbers(); }
  KROHN_HOST_DEVICE std::uint64_t parts_of(std::uint64_t terms) const { return (terms + kPart - 1) / kPart; }
  KROHN_HOST_DEVICE const float* model(std::uint64_t m) const { return parameters + m * p.parameters; }
  KROHN_HOST_DEVICE float* gradient_of(std::uint64_t m) const { return gradient + m * p.parameters; }
  KROHN_HOST_DEVICE std::uint32_t letter_at(std::uint64_t m, std::uint32_t t, std::uint32_t w) const {
    return words_letters[(m * positions + t) * words + w];
  }

  /// Item: model, letter, generated number.
  KROHN_HOST_DEVICE void make_given(std::uint64_t item) const {
    const std::uint64_t g = item % p.generated, letter = item / p.generated % p.letters,
                        m = item / p.generated / p.letters;
    const float *const e = model(m) + p.embedding + letter * p.inputs, *const w = model(m) + p.weights + g;
    float sum = 0;
    for (std::uint32_t d = 0; d < p.inputs; ++d) sum += e[d] * w[std::uint64_t{d} * p.generated];
    given[item] = sum;
  }

  /// Item: model, letter, row, column of a block. Both layouts.
  KROHN_HOST_DEVICE void make_matrix(std::uint64_t item) const {
    const std::uint64_t column = item % p.block, row = item / p.block % p.hidden,
                        letter_of_model = item / p.block / p.hidden, m = letter_of_model / p.letters;
    const float* const own = given + letter_of_model * p.generated;
    float entry = 0;
    if (p.rotations) {
      const float angle = own[row / 2];
      entry = row % 2 == column ? cosf(angle) : row % 2 == 0 ? -sinf(angle) : sinf(angle);
    } else if (p.rank > 0) {
      const float *const left = model(m) + p.left + row * p.rank, *const right = model(m) + p.right + column * p.rank;
      for (std::uint32_t r = 0; r < p.rank; ++r) entry += left[r] * own[r] * right[r];
    } else {
      entry = own[row * p.block + column];
    }
    matrices[item] = entry;
    columns[(letter_of_model * p.block + column) * p.hidden + row] = entry;
  }

  /// Item: model, letter, row.
  KROHN_HOST_DEVICE void make_addition(std::uint64_t item) const {
    const std::uint64_t row = item % p.hidden, letter = item / p.hidden % p.letters, m = item / p.hidden / p.letters;
    float sum = 0;
    if (p.input_bias) {
      const float *const e = model(m) + p.embedding + letter * p.inputs, *const b = model(m) + p.input_bias_at + row;
      for (std::uint32_t d = 0; d < p.inputs; ++d) sum += e[d] * b[std::uint64_t{d} * p.hidden];
    }
    additions[item] = p.bias ? sum + model(m)[p.bias_at + row] : sum;
  }

  /// Item: model, word, state number.
  KROHN_HOST_DEVICE void start_forward(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, word = item / p.hidden % words, m = item / p.hidden / words;
    states[m * state_numbers() + word * p.hidden + i] = model(m)[p.initial + i];
  }

  /// Item: model, word; a thread a row. The state after position t. A word that has ended keeps its state.
  KROHN_HOST_DEVICE void step_forward(std::uint64_t item, std::uint32_t t, std::uint32_t row) const {
    const std::uint64_t m = item / words;
    const auto word = static_cast<std::uint32_t>(item % words);
    const float* const from = states + m * state_numbers() + t * step_numbers() + std::uint64_t{word} * p.hidden;
    float* const to = const_cast<float*>(from) + step_numbers();
    if (t >= lengths[m * words + word]) {
      to[row] = from[row];
      return;
    }
    const std::uint64_t letter = m * p.letters + letter_at(m, t, word);
    const float *const a = columns + letter * p.block * p.hidden + row, *const x = from + row / p.block * p.block;
    float sum = 0;
    for (std::uint32_t column = 0; column < p.block; ++column) sum += a[std::uint64_t{column} * p.hidden] * x[column];
    to[row] = p.adds() ? sum + additions[letter * p.hidden + row] : sum;
  }

  /// Item: model, target, label.
  KROHN_HOST_DEVICE void make_logit(std::uint64_t item) const {
    const std::uint64_t label = item % p.labels, place = item / p.labels, m = place / most_targets;
    if (place % most_targets >= target_counts[m]) return;
    const float *const h = state_of(states, m, targets[place]), *const w = model(m) + p.readout + label * p.hidden;
    float sum = 0;
    for (std::uint32_t i = 0; i < p.hidden; ++i) sum += w[i] * h[i];
    logits[item] = sum + model(m)[p.readout_bias + label];
  }

  KROHN_HOST_DEVICE float* state_of(float* all, std::uint64_t m, const DeviceTarget& target) const {
    return all + m * state_numbers() + (target.position + std::uint64_t{1}) * step_numbers() +
           std::uint64_t{target.word} * p.hidden;
  }

  /// Item: model, target. The loss; and logits become its gradient (simulate/cross_entropy.h).
  KROHN_HOST_DEVICE void find_loss(std::uint64_t item) const {
    const std::uint64_t m = item / most_targets;
    if (item % most_targets >= target_counts[m]) return;
    float* const row = logits + item * p.labels;
    std::uint32_t best = 0;
    for (std::uint32_t l = 1; l < p.labels; ++l)
      if (row[l] > row[best]) best = l;
    const float greatest = row[best], shifted = row[targets[item].label] - greatest;
    const float smoothing = targets[item].smoothing, others = smoothing / static_cast<float>(p.labels);
    float sum = 0, mean_shifted = 0;
    for (std::uint32_t l = 0; l < p.labels; ++l) {
      mean_shifted += (row[l] - greatest) / static_cast<float>(p.labels);
      row[l] = expf(row[l] - greatest);
      sum += row[l];
    }
    losses[item] = static_cast<double>(logf(sum) - (1 - smoothing) * shifted - smoothing * mean_shifted);
    right[item] = best == targets[item].label ? 1 : 0;
    const auto count = static_cast<float>(target_counts[m]);
    for (std::uint32_t l = 0; l < p.labels; ++l)
      row[l] = (row[l] / sum - (l == targets[item].label ? 1 - smoothing : 0.f) - others) / count;
  }

  /// Item: model, label, state number; and one more for the bias.
  KROHN_HOST_DEVICE void add_readout(std::uint64_t item) const {
    const std::uint64_t width = p.hidden + std::uint64_t{1}, i = item % width, label = item / width % p.labels,
                        m = item / width / p.labels;
    float sum = 0;
    for (std::uint64_t k = m * most_targets; k < m * most_targets + target_counts[m]; ++k)
      sum += i == p.hidden ? logits[k * p.labels + label]
                           : logits[k * p.labels + label] * state_of(states, m, targets[k])[i];
    gradient_of(m)[i == p.hidden ? p.readout_bias + label : p.readout + label * p.hidden + i] = sum;
  }

  /// Item: model, target, state number. by_states is zero before; targets have places of their own.
  KROHN_HOST_DEVICE void start_adjoint(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, place = item / p.hidden, m = place / most_targets;
    if (place % most_targets >= target_counts[m]) return;
    const float *const by = logits + place * p.labels, *const w = model(m) + p.readout + i;
    float sum = 0;
    for (std::uint32_t l = 0; l < p.labels; ++l) sum += by[l] * w[std::uint64_t{l} * p.hidden];
    state_of(by_states, m, targets[place])[i] = sum;
  }

  /// Item: model, word; a thread a column. The gradient by the state before position t from that after it.
  KROHN_HOST_DEVICE void step_adjoint(std::uint64_t item, std::uint32_t t, std::uint32_t column) const {
    const std::uint64_t m = item / words;
    const auto word = static_cast<std::uint32_t>(item % words);
    float* const by_from = by_states + m * state_numbers() + t * step_numbers() + std::uint64_t{word} * p.hidden;
    const float* const by_to = by_from + step_numbers();
    if (t >= lengths[m * words + word]) {
      by_from[column] += by_to[column];
      return;
    }
    const std::uint64_t letter = m * p.letters + letter_at(m, t, word), first = column / p.block * p.block;
    const float* const a = matrices + (letter * p.hidden + first) * p.block + column % p.block;
    float sum = 0;
    for (std::uint32_t row = 0; row < p.block; ++row) sum += a[std::uint64_t{row} * p.block] * by_to[first + row];
    by_from[column] += sum;
  }

  /// Item: model, letter, row, column of a block.
  KROHN_HOST_DEVICE void add_matrix(std::uint64_t item) const {
    const std::uint64_t column = item % p.block, row = item / p.block % p.hidden,
                        letter_of_model = item / p.block / p.hidden, m = letter_of_model / p.letters;
    const float *const from = states + m * state_numbers() + row / p.block * p.block + column, *const by =
                                                                                                   by_states +
                                                                                                   m * state_numbers() +
                                                                                                   step_numbers() + row;
    float sum = 0;
    for_readers(letter_of_model, [&](std::uint64_t at) { sum += by[at * p.hidden] * from[at * p.hidden]; });
    by_matrices[item] = sum;
  }

  /// Item: model, letter, row.
  KROHN_HOST_DEVICE void add_addition(std::uint64_t item) const {
    const std::uint64_t row = item % p.hidden, letter_of_model = item / p.hidden, m = letter_of_model / p.letters;
    const float* const by = by_states + m * state_numbers() + step_numbers() + row;
    float sum = 0;
    for_readers(letter_of_model, [&](std::uint64_t at) { sum += by[at * p.hidden]; });
    by_additions[item] = sum;
  }

  /// Calls body(t · words + w) for all that read the letter.
  template <class Body>
  KROHN_HOST_DEVICE void for_readers(std::uint64_t letter_of_model, Body&& body) const {
    const std::uint64_t m = letter_of_model / p.letters, letter = letter_of_model % p.letters;
    const std::uint32_t* const first = first_reader + m * (p.letters + std::uint64_t{1}) + letter;
    for (std::uint32_t i = first[0]; i < first[1]; ++i) body(readers[m * positions * words + i]);
  }

  /// Item: model, letter, generated number: the gradient by what the embedding gives, from that by the matrix.
  KROHN_HOST_DEVICE void add_given(std::uint64_t item) const {
    const std::uint64_t g = item % p.generated, letter_of_model = item / p.generated, m = letter_of_model / p.letters;
    const float* const by = by_matrices + letter_of_model * p.hidden * p.block;
    if (p.rotations) {
      const float angle = given[item], c = cosf(angle), s = sinf(angle);
      const float* const block = by + g * 4;
      by_given[item] = c * (block[2] - block[1]) - s * (block[0] + block[3]);
      return;
    }
    if (p.rank == 0) {
      by_given[item] = by[g];
      return;
    }
    const float *const left = model(m) + p.left + g, *const right = model(m) + p.right + g;
    float sum = 0;
    for (std::uint32_t row = 0; row < p.hidden; ++row) {
      float inner = 0;
      for (std::uint32_t column = 0; column < p.hidden; ++column)
        inner += by[std::uint64_t{row} * p.hidden + column] * right[std::uint64_t{column} * p.rank];
      sum += left[std::uint64_t{row} * p.rank] * inner;
    }
    by_given[item] = sum;
  }

  /// Item: model, side (left, right), row, rank; of factored models.
  KROHN_HOST_DEVICE void add_factor(std::uint64_t item) const {
    const std::uint64_t r = item % p.rank, row = item / p.rank % p.hidden, side = item / p.rank / p.hidden % 2,
                        m = item / p.rank / p.hidden / 2;
    const float* const other = model(m) + (side == 0 ? p.right : p.left) + r;
    float sum = 0;
    for (std::uint64_t letter = m * p.letters; letter < (m + 1) * p.letters; ++letter) {
      const float* const by = by_matrices + letter * p.hidden * p.hidden;
      float inner = 0;
      for (std::uint64_t k = 0; k < p.hidden; ++k)
        inner += (side == 0 ? by[row * p.hidden + k] : by[k * p.hidden + row]) * other[k * p.rank];
      sum += inner * given[letter * p.generated + r];
    }
    gradient_of(m)[(side == 0 ? p.left : p.right) + row * p.rank + r] = sum;
  }

  /// Item: model, input, generated number: the weights'.
  KROHN_HOST_DEVICE void add_weights(std::uint64_t item) const {
    const std::uint64_t g = item % p.generated, d = item / p.generated % p.inputs, m = item / p.generated / p.inputs;
    const float *const e = model(m) + p.embedding + d, *const by = by_given + m * p.letters * p.generated + g;
    float sum = 0;
    for (std::uint64_t letter = 0; letter < p.letters; ++letter) sum += e[letter * p.inputs] * by[letter * p.generated];
    gradient_of(m)[p.weights + d * p.generated + g] = sum;
  }

  /// Item: model, letter, input, part of the generated numbers.
  KROHN_HOST_DEVICE void add_embedding_part(std::uint64_t item) const {
    const std::uint64_t parts = parts_of(p.generated), part = item % parts, d = item / parts % p.inputs,
                        letter_of_model = item / parts / p.inputs, m = letter_of_model / p.letters;
    const float *const by = by_given + letter_of_model * p.generated, *const w = model(m) + p.weights + d * p.generated;
    const std::uint64_t end = (part + 1) * kPart < p.generated ? (part + 1) * kPart : p.generated;
    float sum = 0;
    for (std::uint64_t g = part * kPart; g < end; ++g) sum += by[g] * w[g];
    embedding_parts[item] = sum;
  }

  /// Item: model, letter, input.
  KROHN_HOST_DEVICE void add_embedding(std::uint64_t item) const {
    const std::uint64_t parts = parts_of(p.generated), d = item % p.inputs, letter_of_model = item / p.inputs,
                        letter = letter_of_model % p.letters, m = letter_of_model / p.letters;
    double sum = 0;
    for (std::uint64_t part = 0; part < parts; ++part) sum += embedding_parts[item * parts + part];
    if (p.input_bias) {
      const float *const by = by_additions + letter_of_model * p.hidden, *const b =
                                                                             model(m) + p.input_bias_at + d * p.hidden;
      for (std::uint32_t i = 0; i < p.hidden; ++i) sum += static_cast<double>(by[i] * b[i]);
    }
    gradient_of(m)[p.embedding + letter * p.inputs + d] = static_cast<float>(sum);
  }

  /// Item: model, state number: what does not come through matrices.
  KROHN_HOST_DEVICE void add_vectors(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, m = item / p.hidden;
    const float* const by_start = by_states + m * state_numbers() + i;
    float sum = 0;
    for (std::uint64_t w = 0; w < words; ++w) sum += by_start[w * p.hidden];
    gradient_of(m)[p.initial + i] = sum;
    const float* const by = by_additions + m * p.letters * p.hidden + i;
    if (p.bias) {
      sum = 0;
      for (std::uint64_t letter = 0; letter < p.letters; ++letter) sum += by[letter * p.hidden];
      gradient_of(m)[p.bias_at + i] = sum;
    }
    for (std::uint64_t d = 0; p.input_bias && d < p.inputs; ++d) {
      sum = 0;
      for (std::uint64_t letter = 0; letter < p.letters; ++letter)
        sum += model(m)[p.embedding + letter * p.inputs + d] * by[letter * p.hidden];
      gradient_of(m)[p.input_bias_at + d * p.hidden + i] = sum;
    }
  }

  /// Item: model, part of the parameters.
  KROHN_HOST_DEVICE void add_squares(std::uint64_t item) const {
    const std::uint64_t parts = parts_of(p.parameters), part = item % parts, m = item / parts;
    const std::uint64_t end = (part + 1) * kPart < p.parameters ? (part + 1) * kPart : p.parameters;
    double sum = 0;
    for (std::uint64_t i = part * kPart; i < end; ++i) {
      const double by = gradient_of(m)[i];
      sum += by * by;
    }
    norm_parts[item] = sum;
  }

  /// Item: model. The gradient's norm; a loss or norm that is not finite stops the model for good.
  KROHN_HOST_DEVICE void find_norm(std::uint64_t m) const {
    const std::uint64_t parts = parts_of(p.parameters);
    double sum = 0, loss = 0;
    for (std::uint64_t part = 0; part < parts; ++part) sum += norm_parts[m * parts + part];
    for (std::uint64_t k = m * most_targets; k < m * most_targets + target_counts[m]; ++k) loss += losses[k];
    norms[m] = sqrt(sum);
    if (!(norms[m] <= 1.7976931348623157e308) || !(loss <= 1.7976931348623157e308)) failed[m] = 1;
  }

  /// Item: model, parameter. AdamW as simulate/optimiser.h has it.
  KROHN_HOST_DEVICE void move(std::uint64_t item) const {
    constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f, kEpsilon = 1e-8f;
    const std::uint64_t m = item / p.parameters;
    if (item % p.parameters < p.first_trained || failed[m] != 0) return;
    const float scale = clip > 0 && norms[m] > clip ? static_cast<float>(clip / norms[m]) : 1.f;
    const float by = gradient[item] * scale;
    mean[item] += (1 - kMeanDecay) * (by - mean[item]);
    square[item] += (1 - kSquareDecay) * (by * by - square[item]);
    parameters[item] = kept[m] * parameters[item] - rates[m] * mean[item] / (sqrtf(square[item]) + kEpsilon);
  }
};

/// The members above as jobs, each an item a thread.
enum class TrainingStage : std::uint8_t {
  kGiven,
  kMatrix,
  kAddition,
  kStart,
  kLogit,
  kLoss,
  kByReadout,
  kByStates,
  kByMatrix,
  kByAddition,
  kByGiven,
  kByFactor,
  kByWeights,
  kByEmbeddingParts,
  kByEmbedding,
  kByVectors,
  kSquares,
  kNorm,
  kMove,
};

template <TrainingStage kStage>
struct TrainingJob {
  BilinearTraining t;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    using enum TrainingStage;
    if constexpr (kStage == kGiven) t.make_given(item);
    if constexpr (kStage == kMatrix) t.make_matrix(item);
    if constexpr (kStage == kAddition) t.make_addition(item);
    if constexpr (kStage == kStart) t.start_forward(item);
    if constexpr (kStage == kLogit) t.make_logit(item);
    if constexpr (kStage == kLoss) t.find_loss(item);
    if constexpr (kStage == kByReadout) t.add_readout(item);
    if constexpr (kStage == kByStates) t.start_adjoint(item);
    if constexpr (kStage == kByMatrix) t.add_matrix(item);
    if constexpr (kStage == kByAddition) t.add_addition(item);
    if constexpr (kStage == kByGiven) t.add_given(item);
    if constexpr (kStage == kByFactor) t.add_factor(item);
    if constexpr (kStage == kByWeights) t.add_weights(item);
    if constexpr (kStage == kByEmbeddingParts) t.add_embedding_part(item);
    if constexpr (kStage == kByEmbedding) t.add_embedding(item);
    if constexpr (kStage == kByVectors) t.add_vectors(item);
    if constexpr (kStage == kSquares) t.add_squares(item);
    if constexpr (kStage == kNorm) t.find_norm(item);
    if constexpr (kStage == kMove) t.move(item);
  }
};

/// All positions of models · words words in one kernel, a block a word: forward, or the adjoint backward.
void cuda_run_over_time(const BilinearTraining& training, bool adjoint);

}  // namespace krohn
