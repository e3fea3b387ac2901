// gpu/training/bilinear_training.cuh — loss and gradient of many bilinear models at once
// (simulate/models/bilinear_model.h): letters' matrices, recurrence and adjoint as items that each make one number,
// summed in one order, so that a step has the same bits every time. For the processor and for CUDA devices.
//
// Arrays hold one model after another. Sums are in float, those over a whole matrix in parts that are added in double.
#pragma once

#include <cmath>
#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// The shape that all models have in common, and the places of their parameters.
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

/// Everything that a step works with.
struct BilinearTraining {
  static constexpr std::uint64_t kPart = 8192;  ///< generated numbers

  BilinearPlan p;
  BatchRows b;
  float *parameters = nullptr, *gradient = nullptr;
  float *given = nullptr, *by_given = nullptr;          ///< [letter][generated]
  float *matrices = nullptr, *by_matrices = nullptr;    ///< row r of letter σ from (σ · hidden + r) · block on
  float* columns = nullptr;                             ///< the same by columns: [letter][column of a block][row]
  float *additions = nullptr, *by_additions = nullptr;  ///< [letter][hidden]
  float *states = nullptr, *by_states = nullptr;        ///< [slot][hidden]
  float* logits = nullptr;                              ///< [target][label]; then the gradient by them
  double* embedding_parts = nullptr;                    ///< [letter][input][part]

  /// Word w has a slot of its state before its first token, and one after each: that before token `row` at row + w.
  KROHN_HOST_DEVICE std::uint64_t slots() const { return std::uint64_t{b.most_rows} + b.words; }
  KROHN_HOST_DEVICE std::uint64_t state_numbers() const { return slots() * p.hidden; }
  KROHN_HOST_DEVICE std::uint64_t embedding_parts_each() const { return (p.generated + kPart - 1) / kPart; }
  KROHN_HOST_DEVICE const float* model(std::uint64_t m) const { return parameters + m * p.parameters; }
  KROHN_HOST_DEVICE float* gradient_of(std::uint64_t m) const { return gradient + m * p.parameters; }

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
      const float *const e = model(m) + p.embedding + letter * p.inputs, *const to = model(m) + p.input_bias_at + row;
      for (std::uint32_t d = 0; d < p.inputs; ++d) sum += e[d] * to[std::uint64_t{d} * p.hidden];
    }
    additions[item] = p.bias ? sum + model(m)[p.bias_at + row] : sum;
  }

  /// Item: model, word, state number.
  KROHN_HOST_DEVICE void start_forward(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, word = item / p.hidden % b.words, m = item / p.hidden / b.words;
    states[m * state_numbers() + (b.first_of(m, word) + word) * p.hidden + i] = model(m)[p.initial + i];
  }

  /// Columns of a row's block, or rows of a column's, that a slice of a scan has: `slices` of them make the block.
  KROHN_HOST_DEVICE std::uint32_t slices() const {
    std::uint32_t slices = 1;
    while (2 * slices * p.hidden <= kMaxScanThreads && 32 * slices <= p.block) slices *= 2;
    return slices;
  }
  static constexpr std::uint32_t kMaxScanThreads = 1024;
  KROHN_HOST_DEVICE std::uint32_t slice_begin(std::uint32_t slice) const { return p.block * slice / slices(); }

  /// Row of A x, a slice of its sum, for the state x before token `token` of a word; and that row of the state after
  /// it.
  KROHN_HOST_DEVICE float forward_slice(std::uint64_t m, std::uint64_t word, std::uint64_t token, std::uint32_t row,
                                        std::uint32_t slice) const {
    const std::uint64_t letter = m * p.letters + b.letter_at(m, token);
    const float *const a = columns + letter * p.block * p.hidden + row, *const x = states + m * state_numbers() +
                                                                                   (token + word) * p.hidden +
                                                                                   row / p.block * p.block;
    const std::uint32_t end = slice_begin(slice + 1);
    float sum = 0;
    for (std::uint32_t column = slice_begin(slice); column < end; ++column)
      sum += a[std::uint64_t{column} * p.hidden] * x[column];
    return sum;
  }
  KROHN_HOST_DEVICE void step_forward(std::uint64_t m, std::uint64_t word, std::uint64_t token, std::uint32_t row,
                                      float sum) const {
    const std::uint64_t letter = m * p.letters + b.letter_at(m, token);
    states[m * state_numbers() + (token + word + 1) * p.hidden + row] =
        p.adds() ? sum + additions[letter * p.hidden + row] : sum;
  }

  /// Item: model, target, label.
  KROHN_HOST_DEVICE void make_logit(std::uint64_t item) const {
    const std::uint64_t label = item % p.labels, place = item / p.labels, m = place / b.most_targets;
    if (place % b.most_targets >= b.target_counts[m]) return;
    const float *const h = state_of(states, m, b.targets[place]), *const w = model(m) + p.readout + label * p.hidden;
    float sum = 0;
    for (std::uint32_t i = 0; i < p.hidden; ++i) sum += w[i] * h[i];
    logits[item] = sum + model(m)[p.readout_bias + label];
  }

  KROHN_HOST_DEVICE float* state_of(float* all, std::uint64_t m, const DeviceTarget& target) const {
    return all + m * state_numbers() + (std::uint64_t{target.row} + target.word + 1) * p.hidden;
  }

  /// Item: model, label, state number; and one more for the bias.
  KROHN_HOST_DEVICE void add_readout(std::uint64_t item) const {
    const std::uint64_t width = p.hidden + std::uint64_t{1}, i = item % width, label = item / width % p.labels,
                        m = item / width / p.labels;
    float sum = 0;
    for (std::uint64_t k = m * b.most_targets; k < m * b.most_targets + b.target_counts[m]; ++k)
      sum += i == p.hidden ? logits[k * p.labels + label]
                           : logits[k * p.labels + label] * state_of(states, m, b.targets[k])[i];
    gradient_of(m)[i == p.hidden ? p.readout_bias + label : p.readout + label * p.hidden + i] = sum;
  }

  /// Item: model, target, state number. by_states is zero before; targets have places of their own.
  KROHN_HOST_DEVICE void start_adjoint(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, place = item / p.hidden, m = place / b.most_targets;
    if (place % b.most_targets >= b.target_counts[m]) return;
    const float *const by = logits + place * p.labels, *const w = model(m) + p.readout + i;
    float sum = 0;
    for (std::uint32_t l = 0; l < p.labels; ++l) sum += by[l] * w[std::uint64_t{l} * p.hidden];
    state_of(by_states, m, b.targets[place])[i] = sum;
  }

  /// Column of the gradient by the state before a token, from that after it, a slice of its sum; and the whole of it,
  /// to what targets there gave.
  KROHN_HOST_DEVICE float adjoint_slice(std::uint64_t m, std::uint64_t word, std::uint64_t token, std::uint32_t column,
                                        std::uint32_t slice) const {
    const std::uint64_t letter = m * p.letters + b.letter_at(m, token), first = column / p.block * p.block;
    const float *const a = matrices + (letter * p.hidden + first) * p.block + column % p.block,
                       *const by_to = by_states + m * state_numbers() + (token + word + 1) * p.hidden + first;
    const std::uint32_t end = slice_begin(slice + 1);
    float sum = 0;
    for (std::uint32_t row = slice_begin(slice); row < end; ++row) sum += a[std::uint64_t{row} * p.block] * by_to[row];
    return sum;
  }
  KROHN_HOST_DEVICE void step_adjoint(std::uint64_t m, std::uint64_t word, std::uint64_t token, std::uint32_t column,
                                      float sum) const {
    by_states[m * state_numbers() + (token + word) * p.hidden + column] += sum;
  }

  /// Item: model, letter, row, column of a block.
  KROHN_HOST_DEVICE void add_matrix(std::uint64_t item) const {
    const std::uint64_t column = item % p.block, row = item / p.block % p.hidden,
                        letter_of_model = item / p.block / p.hidden, m = letter_of_model / p.letters;
    const float* const from = states + m * state_numbers() + row / p.block * p.block + column;
    const float* const by = by_states + m * state_numbers() + p.hidden + row;
    float sum = 0;
    for_slots(letter_of_model, [&](std::uint64_t at) { sum += by[at * p.hidden] * from[at * p.hidden]; });
    by_matrices[item] = sum;
  }

  /// Item: model, letter, row.
  KROHN_HOST_DEVICE void add_addition(std::uint64_t item) const {
    const std::uint64_t row = item % p.hidden, letter_of_model = item / p.hidden, m = letter_of_model / p.letters;
    const float* const by = by_states + m * state_numbers() + p.hidden + row;
    float sum = 0;
    for_slots(letter_of_model, [&](std::uint64_t at) { sum += by[at * p.hidden]; });
    by_additions[item] = sum;
  }

  /// Calls body(slot before the token) for all tokens that read the letter.
  template <class Body>
  KROHN_HOST_DEVICE void for_slots(std::uint64_t letter_of_model, Body&& body) const {
    const std::uint64_t m = letter_of_model / p.letters;
    b.for_readers(m, letter_of_model % p.letters, [&](std::uint64_t row) { body(row + b.word_at(m, row)); });
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

  /// Item: model, letter, input.
  KROHN_HOST_DEVICE void add_embedding(std::uint64_t item) const {
    const std::uint64_t parts = embedding_parts_each(), d = item % p.inputs, letter_of_model = item / p.inputs,
                        letter = letter_of_model % p.letters, m = letter_of_model / p.letters;
    double sum = 0;
    for (std::uint64_t part = 0; part < parts; ++part) sum += embedding_parts[item * parts + part];
    if (p.input_bias) {
      const float *const by = by_additions + letter_of_model * p.hidden, *const to =
                                                                             model(m) + p.input_bias_at + d * p.hidden;
      for (std::uint32_t i = 0; i < p.hidden; ++i) sum += static_cast<double>(by[i] * to[i]);
    }
    gradient_of(m)[p.embedding + letter * p.inputs + d] = static_cast<float>(sum);
  }

  /// Item: model, state number: what does not come through matrices.
  KROHN_HOST_DEVICE void add_vectors(std::uint64_t item) const {
    const std::uint64_t i = item % p.hidden, m = item / p.hidden;
    const float* const by_start = by_states + m * state_numbers() + i;
    float sum = 0;
    for (std::uint64_t w = 0; w < b.words; ++w) sum += by_start[(b.first_of(m, w) + w) * p.hidden];
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
};

/// The members above as jobs, each an item a thread.
enum class BilinearStage : std::uint8_t {
  kGiven,
  kMatrix,
  kAddition,
  kStart,
  kLogit,
  kByReadout,
  kByStates,
  kByMatrix,
  kByAddition,
  kByGiven,
  kByFactor,
  kByEmbedding,
  kByVectors,
};

template <BilinearStage kStage>
struct BilinearJob {
  BilinearTraining t;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    using enum BilinearStage;
    if constexpr (kStage == kGiven) t.make_given(item);
    if constexpr (kStage == kMatrix) t.make_matrix(item);
    if constexpr (kStage == kAddition) t.make_addition(item);
    if constexpr (kStage == kStart) t.start_forward(item);
    if constexpr (kStage == kLogit) t.make_logit(item);
    if constexpr (kStage == kByReadout) t.add_readout(item);
    if constexpr (kStage == kByStates) t.start_adjoint(item);
    if constexpr (kStage == kByMatrix) t.add_matrix(item);
    if constexpr (kStage == kByAddition) t.add_addition(item);
    if constexpr (kStage == kByGiven) t.add_given(item);
    if constexpr (kStage == kByFactor) t.add_factor(item);
    if constexpr (kStage == kByEmbedding) t.add_embedding(item);
    if constexpr (kStage == kByVectors) t.add_vectors(item);
  }
};

/// All tokens of a word in one kernel: forward, or the adjoint backward. Team: model, word; a thread a slice of a row.
template <bool kAdjoint>
struct BilinearScan {
  BilinearTraining t;

  std::uint64_t teams() const { return std::uint64_t{t.b.models} * t.b.words; }
  std::uint32_t threads() const {
    const std::uint32_t wanted = (t.p.hidden * t.slices() + 31) / 32 * 32;
    return wanted < BilinearTraining::kMaxScanThreads ? wanted : BilinearTraining::kMaxScanThreads;
  }
  std::size_t team_numbers() const { return t.slices() == 1 ? 0 : t.p.hidden * t.slices(); }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t m = index / t.b.words, word = index % t.b.words;
    const std::uint64_t first = t.b.first_of(m, word), end = t.b.first_of(m, word + 1);
    const std::uint32_t hidden = t.p.hidden, slices = t.slices();
    for (std::uint64_t i = first; i < end; ++i) {
      const std::uint64_t token = kAdjoint ? first + end - 1 - i : i;
      const auto step = [&](std::uint32_t row, float sum) {
        kAdjoint ? t.step_adjoint(m, word, token, row, sum) : t.step_forward(m, word, token, row, sum);
      };
      team.each(hidden * slices, [&](std::uint32_t at) {
        const std::uint32_t row = at % hidden, slice = at / hidden;
        const float sum =
            kAdjoint ? t.adjoint_slice(m, word, token, row, slice) : t.forward_slice(m, word, token, row, slice);
        slices == 1 ? step(row, sum) : void(team.numbers[at] = sum);
      });
      if (slices == 1) continue;
      team.each(hidden, [&](std::uint32_t row) {
        float sum = 0;
        for (std::uint32_t slice = 0; slice < slices; ++slice) sum += team.numbers[slice * hidden + row];
        step(row, sum);
      });
    }
  }
};

/// The gradient by the weights. Team: model, input, part of the generated numbers.
struct BilinearByWeights {
  static constexpr std::uint32_t kThreads = 256;

  BilinearTraining t;

  std::uint64_t teams() const { return std::uint64_t{t.b.models} * t.p.inputs * t.embedding_parts_each(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t parts = t.embedding_parts_each(), d = index / parts % t.p.inputs,
                        m = index / parts / t.p.inputs, generated = t.p.generated;
    const std::uint64_t begin = index % parts * BilinearTraining::kPart, left = generated - begin;
    const auto count = static_cast<std::uint32_t>(left < BilinearTraining::kPart ? left : BilinearTraining::kPart);
    const float *const e = t.model(m) + t.p.embedding + d, *const by = t.by_given + m * t.p.letters * generated + begin;
    float* const to = t.gradient_of(m) + t.p.weights + d * generated + begin;
    team.each(count, [&](std::uint32_t g) {
      float sum = 0;
      for (std::uint32_t l = 0; l < t.p.letters; ++l) sum += e[std::uint64_t{l} * t.p.inputs] * by[l * generated + g];
      to[g] = sum;
    });
  }
};

/// The gradient by the embedding through the generated numbers, in parts. Team: model, kLetters letters, input, part:
/// letters share what is read of the weights.
struct BilinearEmbeddingParts {
  static constexpr std::uint32_t kLetters = 8, kThreads = 256;

  BilinearTraining t;

  KROHN_HOST_DEVICE std::uint64_t letter_groups() const { return (t.p.letters + kLetters - 1) / kLetters; }
  std::uint64_t teams() const { return t.b.models * letter_groups() * t.p.inputs * t.embedding_parts_each(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return kLetters * kThreads; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t parts = t.embedding_parts_each(), d = index % t.p.inputs, part = index / t.p.inputs % parts,
                        group = index / t.p.inputs / parts % letter_groups(),
                        m = index / t.p.inputs / parts / letter_groups();
    const std::uint64_t first = group * kLetters, letter_of_model = m * t.p.letters + first;
    const std::uint64_t left = t.p.letters - first, generated = t.p.generated, begin = part * BilinearTraining::kPart;
    const auto letters = static_cast<std::uint32_t>(left < kLetters ? left : kLetters);
    const std::uint64_t end = begin + BilinearTraining::kPart < generated ? begin + BilinearTraining::kPart : generated;
    const float *const by = t.by_given + letter_of_model * generated, *const w =
                                                                          t.model(m) + t.p.weights + d * generated;
    team.each(kThreads, [&](std::uint32_t thread) {
      float sums[kLetters]{};
      for (std::uint64_t g = begin + thread; g < end; g += kThreads) {
        const float weight = w[g];
        KROHN_UNROLL
        for (std::uint32_t l = 0; l < kLetters; ++l)
          if (l < letters) sums[l] += by[l * generated + g] * weight;
      }
      for (std::uint32_t l = 0; l < kLetters; ++l) team.numbers[l * kThreads + thread] = sums[l];
    });
    add_by_tree<kThreads>(team, team.numbers, letters);
    team.each(letters, [&](std::uint32_t l) {
      t.embedding_parts[((letter_of_model + l) * t.p.inputs + d) * parts + part] =
          static_cast<double>(team.numbers[l * kThreads]);
    });
  }
};

}  // namespace krohn
