// simulate/models/recurrence/block_recurrence.h — h_t = A(x_t) h_{t−1} + b(x_t) for a batch of words, with
// block-diagonal A given per letter in small blocks, and its adjoint. Every prefix of the words is read once
// (simulate/models/recurrence/letter_recurrence.h: the same with one dense block, and the same doors).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/recurrence/prefix_tree.h"
#include "krohn/simulate/models/recurrence/state_scales.h"

namespace krohn {

template <class Real>
class BlockRecurrence {
 public:
  /// Views of the letters' matrices and additions, laid out as in BilinearModel::Letters; they must outlive it.
  /// `scale_free`: states may come out at any scale.
  BlockRecurrence(const TrainingBatch& batch, std::size_t hidden, std::size_t block, std::span<const Real> matrices,
                  std::span<const Real> additions, bool scale_free = false)
      : hidden_(hidden),
        block_(block),
        matrices_(matrices),
        additions_(additions),
        tree_(prefix_tree(batch, matrices.size() / (hidden * block))) {
    if (scale_free) scales_ = StateScales<Real>(tree_.size());
  }

  void run(std::span<const Real> start) {
    start_.assign(start.begin(), start.end());
    states_.resize(tree_.size() * hidden_);
    for (std::size_t t = 0; t < tree_.positions; ++t)
      for_nodes(t, [&](std::size_t letter, std::size_t node) {
        const Real* const x = before(node);
        Real* const y = states_.data() + node * hidden_;
        const Real* a = matrices_.data() + letter * hidden_ * block_;
        for (std::size_t first = 0; first < hidden_; first += block_)
          for (std::size_t row = 0; row < block_; ++row, a += block_) {
            Real sum = 0;
            for (std::size_t column = 0; column < block_; ++column) sum += a[column] * x[first + column];
            y[first + row] = sum;
          }
        for (std::size_t i = 0; i < hidden_ && !additions_.empty(); ++i) y[i] += additions_[letter * hidden_ + i];
        if (scales_.are_on()) scales_.scale(node, {y, hidden_});
      });
  }

  /// After the word's letter at a position.
  std::span<const Real> state(std::size_t word, std::size_t position) const {
    return {states_.data() + tree_.node(word, position) * hidden_, hidden_};
  }

  /// Gradients by the states as the loss sees them, which start from 0: to be added to.
  void begin_adjoint() { by_states_.assign(states_.size(), 0); }
  std::span<Real> by_state(std::size_t word, std::size_t position) {
    return {by_states_.data() + tree_.node(word, position) * hidden_, hidden_};
  }
  /// Adds to the gradients by the matrices, the additions where there are any, and the start.
  void run_adjoint(std::span<Real> by_matrices, std::span<Real> by_additions, std::span<Real> by_start) {
    for (std::size_t t = tree_.positions; t-- > 0;)
      for_nodes(t, [&](std::size_t letter, std::size_t node) {
        const Real* const x = before(node);
        Real* const by_y = by_states_.data() + node * hidden_;
        if (scales_.are_on()) scales_.scale_gradient(node, {by_y, hidden_});
        const std::uint32_t parent = tree_.parent[node];
        Real* const by_x = parent == PrefixTree::kRoot ? by_start.data() : by_states_.data() + parent * hidden_;
        const Real* a = matrices_.data() + letter * hidden_ * block_;
        Real* by_a = by_matrices.data() + letter * hidden_ * block_;
        for (std::size_t first = 0; first < hidden_; first += block_)
          for (std::size_t row = 0; row < block_; ++row, a += block_, by_a += block_) {
            const Real by = by_y[first + row];
            for (std::size_t column = 0; column < block_; ++column) {
              by_a[column] += by * x[first + column];
              by_x[first + column] += by * a[column];
            }
          }
        if (by_additions.empty()) return;
        for (std::size_t i = 0; i < hidden_; ++i) by_additions[letter * hidden_ + i] += by_y[i];
      });
  }

 private:
  template <class Body>
  void for_nodes(std::size_t t, const Body& body) const {
    for (std::size_t letter = 0; letter < tree_.letters; ++letter)
      for (std::size_t node = tree_.begin(letter, t); node < tree_.end(letter, t); ++node) body(letter, node);
  }
  const Real* before(std::size_t node) const {
    const std::uint32_t parent = tree_.parent[node];
    return parent == PrefixTree::kRoot ? start_.data() : states_.data() + parent * hidden_;
  }

  std::size_t hidden_, block_;
  std::span<const Real> matrices_, additions_;
  PrefixTree tree_;
  StateScales<Real> scales_;
  Numbers<Real> start_, states_, by_states_;
};

}  // namespace krohn
