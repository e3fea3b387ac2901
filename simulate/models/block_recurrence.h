// simulate/models/block_recurrence.h — h_t = A(x_t) h_{t−1} + b(x_t) for a batch of words, with block-diagonal A given
// per letter, and its adjoint.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/tasks/training_batch.h"

namespace krohn {

/// Views of the letters' matrices and additions, laid out as in BilinearModel::Letters. One block (size = hidden) runs
/// as a matrix product per letter over all words that read it; small blocks run word by word.
template <class Real>
class BlockRecurrence {
 public:
  BlockRecurrence(std::size_t hidden, std::size_t block, std::span<const Real> matrices,
                  std::span<const Real> additions)
      : hidden_(hidden), block_(block), matrices_(matrices), additions_(additions) {
    if (block != hidden) return;
    across_.resize(matrices.size());
    for (std::size_t first = 0; first < matrices.size(); first += hidden * hidden)
      for (std::size_t i = 0; i < hidden; ++i)
        for (std::size_t j = 0; j < hidden; ++j) across_[first + j * hidden + i] = matrices[first + i * hidden + j];
  }

  /// All states: (positions + 1) × words × hidden, state 0 being the start. A word that has ended keeps its state.
  std::vector<Real> run(const TrainingBatch& batch, std::span<const Real> start) const {
    const std::size_t step = batch.words * hidden_;
    std::vector<Real> states((batch.positions + 1) * step);
    for (std::size_t word = 0; word < batch.words; ++word)
      std::copy_n(start.data(), hidden_, states.data() + word * hidden_);
    for (std::uint32_t t = 0; t < batch.positions; ++t) {
      const Real* const from = states.data() + t * step;
      Real* const to = states.data() + (t + 1) * step;
      if (block_ == hidden_)
        run_by_letter(batch, t, from, to);
      else
        run_by_word(batch, t, from, to);
    }
    return states;
  }

  /// `by_state`: gradients by the states as the loss sees them; becomes the gradients by the states through all that
  /// follows, so that its first step is the gradient by the start. Adds to the gradients by matrices and additions.
  void run_adjoint(const TrainingBatch& batch, std::span<const Real> states, std::span<Real> by_state,
                   std::span<Real> by_matrices, std::span<Real> by_additions) const {
    const std::size_t step = batch.words * hidden_;
    for (std::uint32_t t = batch.positions; t-- > 0;) {
      const Real* const from = states.data() + t * step;
      const Real* const by_to = by_state.data() + (t + 1) * step;
      Real* const by_from = by_state.data() + t * step;
      if (block_ == hidden_)
        run_adjoint_by_letter(batch, t, by_to, by_from);
      else
        run_adjoint_by_word(batch, t, from, by_to, by_from, by_matrices);
      if (by_additions.empty()) continue;
      for (std::size_t word = 0; word < batch.words; ++word) {
        if (t >= batch.lengths[word]) continue;
        Real* const sum = by_additions.data() + letter(batch, t, word) * hidden_;
        for (std::size_t i = 0; i < hidden_; ++i) sum[i] += by_to[word * hidden_ + i];
      }
    }
    if (block_ == hidden_) add_matrix_gradients(batch, states, by_state, by_matrices);
  }

 private:
  static Letter letter(const TrainingBatch& batch, std::uint32_t t, std::size_t word) {
    return batch.letters[t * std::size_t{batch.words} + word];
  }

  /// The words that read each letter at position t; the last list is those that have ended.
  std::vector<std::vector<std::uint32_t>> readers(const TrainingBatch& batch, std::uint32_t t) const {
    const std::size_t letters = matrices_.size() / (hidden_ * block_);
    std::vector<std::vector<std::uint32_t>> lists(letters + 1);
    for (std::uint32_t word = 0; word < batch.words; ++word)
      lists[t < batch.lengths[word] ? letter(batch, t, word) : letters].push_back(word);
    return lists;
  }

  /// One row a word.
  Numbers<Real> gathered(const std::vector<std::uint32_t>& words, const Real* states) const {
    Numbers<Real> rows(words.size() * hidden_);
    for (std::size_t i = 0; i < words.size(); ++i)
      std::copy_n(states + words[i] * hidden_, hidden_, rows.data() + i * hidden_);
    return rows;
  }

  /// rows · b, for b of hidden × hidden.
  Numbers<Real> multiplied(const Numbers<Real>& rows, const Real* b) const {
    Numbers<Real> result(rows.size(), 0);
    training_kernels<Real>().add_product(
        {rows.size() / hidden_, hidden_, hidden_, rows.data(), hidden_, 1, b, hidden_, result.data(), hidden_});
    return result;
  }

  void run_by_letter(const TrainingBatch& batch, std::uint32_t t, const Real* from, Real* to) const {
    const auto lists = readers(batch, t);
    for (std::size_t sigma = 0; sigma < lists.size(); ++sigma) {
      if (lists[sigma].empty()) continue;
      Numbers<Real> rows = gathered(lists[sigma], from);
      const bool ended = sigma + 1 == lists.size();
      if (!ended) rows = multiplied(rows, across_.data() + sigma * hidden_ * hidden_);
      for (std::size_t i = 0; i < lists[sigma].size(); ++i) {
        Real* const out = to + lists[sigma][i] * hidden_;
        std::copy_n(rows.data() + i * hidden_, hidden_, out);
        if (!ended) add_addition(sigma, out);
      }
    }
  }

  void run_adjoint_by_letter(const TrainingBatch& batch, std::uint32_t t, const Real* by_to, Real* by_from) const {
    const auto lists = readers(batch, t);
    for (std::size_t sigma = 0; sigma < lists.size(); ++sigma) {
      if (lists[sigma].empty()) continue;
      Numbers<Real> by_rows = gathered(lists[sigma], by_to);
      if (sigma + 1 < lists.size()) by_rows = multiplied(by_rows, matrices_.data() + sigma * hidden_ * hidden_);
      for (std::size_t i = 0; i < lists[sigma].size(); ++i) {
        Real* const out = by_from + lists[sigma][i] * hidden_;
        for (std::size_t j = 0; j < hidden_; ++j) out[j] += by_rows[i * hidden_ + j];
      }
    }
  }

  /// Σ ȳ xᵀ over all tokens of a letter, in one product.
  void add_matrix_gradients(const TrainingBatch& batch, std::span<const Real> states, std::span<const Real> by_state,
                            std::span<Real> by_matrices) const {
    const std::size_t step = batch.words * hidden_, letters = matrices_.size() / (hidden_ * hidden_);
    std::vector<std::vector<std::size_t>> tokens(letters);
    for (std::uint32_t t = 0; t < batch.positions; ++t)
      for (std::size_t word = 0; word < batch.words; ++word)
        if (t < batch.lengths[word]) tokens[letter(batch, t, word)].push_back(t * step + word * hidden_);
    Numbers<Real> from, by_to;
    for (std::size_t sigma = 0; sigma < letters; ++sigma) {
      from.resize(tokens[sigma].size() * hidden_);
      by_to.resize(from.size());
      for (std::size_t i = 0; i < tokens[sigma].size(); ++i) {
        std::copy_n(states.data() + tokens[sigma][i], hidden_, from.data() + i * hidden_);
        std::copy_n(by_state.data() + tokens[sigma][i] + step, hidden_, by_to.data() + i * hidden_);
      }
      training_kernels<Real>().add_product({hidden_, hidden_, tokens[sigma].size(), by_to.data(), 1, hidden_,
                                            from.data(), hidden_, by_matrices.data() + sigma * hidden_ * hidden_,
                                            hidden_});
    }
  }

  void add_addition(std::size_t sigma, Real* state) const {
    if (additions_.empty()) return;
    for (std::size_t i = 0; i < hidden_; ++i) state[i] += additions_[sigma * hidden_ + i];
  }

  void run_by_word(const TrainingBatch& batch, std::uint32_t t, const Real* from, Real* to) const {
    for (std::size_t word = 0; word < batch.words; ++word) {
      const Real* const x = from + word * hidden_;
      Real* const y = to + word * hidden_;
      if (t >= batch.lengths[word]) {
        std::copy_n(x, hidden_, y);
        continue;
      }
      const Letter sigma = letter(batch, t, word);
      const Real* a = matrices_.data() + sigma * hidden_ * block_;
      for (std::size_t first = 0; first < hidden_; first += block_)
        for (std::size_t row = 0; row < block_; ++row, a += block_) {
          Real sum = 0;
          for (std::size_t column = 0; column < block_; ++column) sum += a[column] * x[first + column];
          y[first + row] = sum;
        }
      add_addition(sigma, y);
    }
  }

  void run_adjoint_by_word(const TrainingBatch& batch, std::uint32_t t, const Real* from, const Real* by_to,
                           Real* by_from, std::span<Real> by_matrices) const {
    for (std::size_t word = 0; word < batch.words; ++word) {
      const Real* const x = from + word * hidden_;
      const Real* const by_y = by_to + word * hidden_;
      Real* const by_x = by_from + word * hidden_;
      if (t >= batch.lengths[word]) {
        for (std::size_t i = 0; i < hidden_; ++i) by_x[i] += by_y[i];
        continue;
      }
      const std::size_t offset = letter(batch, t, word) * hidden_ * block_;
      const Real* a = matrices_.data() + offset;
      Real* by_a = by_matrices.data() + offset;
      for (std::size_t first = 0; first < hidden_; first += block_)
        for (std::size_t row = 0; row < block_; ++row, a += block_, by_a += block_) {
          const Real by = by_y[first + row];
          for (std::size_t column = 0; column < block_; ++column) {
            by_a[column] += by * x[first + column];
            by_x[first + column] += by * a[column];
          }
        }
    }
  }

  std::size_t hidden_, block_;
  std::span<const Real> matrices_, additions_;
  Numbers<Real> across_;  ///< the matrices transposed, where each is one block
};

}  // namespace krohn
