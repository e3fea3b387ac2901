// simulate/models/letter_recurrence.h — h_t = A(x_t) h_{t−1} + b(x_t) for a batch of words, with one dense
// matrix a letter, and its adjoint: for every position and letter one matrix product with all states that read it
// there.
//
// Every prefix of the words is read once. A product reads the states of its prefixes as they lie and writes each one
// where the prefix that goes on from it reads it, so that nothing is gathered; the gradients by a letter's matrix are
// one product over all its prefixes. Threads share the words, in the order of a dictionary, so that they need each
// other only where their words begin alike; what one row gives does not depend on the others, so neither do the bits on
// the threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/prefix_tree.h"

namespace krohn {

// Powers of two that keep states within the range of their numbers, where
// nothing that is read off them depends on their scale.

/// Every state is multiplied by what brings its greatest number into [½, 1): after each letter, since one letter of
/// small first weights shrinks it to a thousandth, and gradients, too, must stay in range. No bit of a state's
/// direction changes by it. A loss that is the same at every scale has no gradient by these numbers.
template <class Real>
class StateScales {
 public:
  StateScales() = default;  ///< nothing is scaled
  explicit StateScales(std::size_t nodes) : of_(nodes, 1) {}

  bool are_on() const { return !of_.empty(); }
  /// 0, and what is not finite, stays as it is; and by no number whose inverse would be subnormal, or itself.
  void scale(std::size_t node, std::span<Real> state) {
    Bits greatest = 0;
    for (const Real x : state) greatest = std::max<Bits>(greatest, std::bit_cast<Bits>(x) & kMagnitude);
    const Bits exponent = greatest >> kFraction;  // with its bias; 0 for subnormal numbers
    if (greatest == 0 || exponent == kNotFinite) return;
    const Real by = of_[node] =
        std::bit_cast<Real>(std::clamp<Bits>(2 * kBias - 1 - exponent, 1, 2 * kBias - 1) << kFraction);
    for (Real& x : state) x *= by;
  }
  /// From the gradient by the state that went on to the one by the state before it was scaled.
  void scale_gradient(std::size_t node, std::span<Real> by_state) const {
    for (Real& by : by_state) by *= of_[node];
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr int kFraction = std::numeric_limits<Real>::digits - 1;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max(),
                        kBias = std::numeric_limits<Real>::max_exponent - 1, kNotFinite = 2 * kBias + 1;

  Numbers<Real> of_;
};

template <class Real>
class LetterRecurrence {
 public:
  /// `matrices`: letters × hidden × hidden, row by row; `additions`: letters × hidden, or empty. Both must outlive it.
  /// `scale_free`: states may come out at any scale.
  LetterRecurrence(const TrainingBatch& batch, std::size_t hidden, std::span<const Real> matrices,
                   std::span<const Real> additions, unsigned threads, bool scale_free = false)
      : hidden_(hidden),
        wide_((hidden + kWidestVector - 1) / kWidestVector * kWidestVector),
        letters_(matrices.size() / (hidden * hidden)),
        tree_(prefix_tree(batch, letters_)),
        first_child_(tree_.size(), PrefixTree::kRoot),
        given_(matrices),
        has_additions_(!additions.empty()),
        threads_(hidden < kLeastShared ? 1 : static_cast<int>(threads)) {
    share_words(batch);
    for (std::uint32_t node = static_cast<std::uint32_t>(tree_.size()); node-- > 0;)
      if (tree_.parent[node] != PrefixTree::kRoot) first_child_[tree_.parent[node]] = node;
    if (has_additions_) additions_ = padded(additions, letters_);
    if (scale_free) scales_ = StateScales<Real>(tree_.size());
  }

  void run(std::span<const Real> start) {
    across_ = transposed();
    from_.resize(tree_.size() * wide_);
    place_results();
    const Numbers<Real> first = padded(start, 1);
    const bool as_zero = SubnormalsAsZero::here();
#pragma omp parallel num_threads(threads_)
    {
      const FloatEnvironment environment;
      const SubnormalsAsZero or_not(as_zero);
      for (std::size_t t = 0; t < tree_.positions; ++t) {
        for_own(t, [&](std::size_t letter, std::size_t begin, std::size_t end) {
          bring_states(begin, end, first.data());
          training_kernels<Real>().multiply_rows({end - begin, wide_, hidden_, from_.data() + begin * wide_, wide_,
                                                  across_.data() + letter * hidden_ * wide_, wide_,
                                                  has_additions_ ? additions_.data() + letter * wide_ : nullptr,
                                                  to_.data() + begin, false});
          if (!scales_.are_on()) return;
          for (std::size_t node = begin; node < end; ++node) scales_.scale(node, {to_[node], hidden_});
        });
        if (t < alike_) {
#pragma omp barrier
        }
      }
    }
  }

  /// After the word's letter at a position.
  std::span<const Real> state(std::size_t word, std::size_t position) const {
    return {to_[tree_.node(word, position)], hidden_};
  }

  /// Gradients by the states as the loss sees them, which start from 0: to be added to.
  void begin_adjoint() { by_to_ = zeros<Real>(tree_.size() * wide_); }
  std::span<Real> by_state(std::size_t word, std::size_t position) {
    return {by_to_.data() + tree_.node(word, position) * wide_, hidden_};
  }
  /// Adds to the gradients by the matrices, the additions where there are any, and the start.
  void run_adjoint(std::span<Real> by_matrices, std::span<Real> by_additions, std::span<Real> by_start) {
    if (wide_ != hidden_) straight_ = padded(given_, letters_ * hidden_);
    const Real* const straight = wide_ == hidden_ ? given_.data() : straight_.data();
    Numbers<Real> by_first(wide_, 0);
    place_gradients();
    const bool as_zero = SubnormalsAsZero::here();
#pragma omp parallel num_threads(threads_)
    {
      const FloatEnvironment environment;
      const SubnormalsAsZero or_not(as_zero);
      for (std::size_t t = tree_.positions; t-- > 0;) {
        for_own(t, [&](std::size_t letter, std::size_t begin, std::size_t end) {
          for (std::size_t node = begin; scales_.are_on() && node < end; ++node)
            scales_.scale_gradient(node, {by_to_.data() + node * wide_, hidden_});
          training_kernels<Real>().multiply_rows({end - begin, wide_, hidden_, by_to_.data() + begin * wide_, wide_,
                                                  straight + letter * hidden_ * wide_, wide_, nullptr,
                                                  to_.data() + begin, true});
        });
        if (t > alike_) {
          for_own(t, [&](std::size_t, std::size_t begin, std::size_t end) { gather_gradients(begin, end, nullptr); });
          continue;
        }
#pragma omp barrier
#pragma omp single
        for (std::size_t letter = 0; letter < letters_; ++letter)
          gather_gradients(tree_.begin(letter, t), tree_.end(letter, t), by_first.data());
      }
#pragma omp for schedule(dynamic)
      for (std::int64_t part = 0; part < static_cast<std::int64_t>(2 * letters_); ++part)
        add_matrix_gradient(static_cast<std::size_t>(part) / 2, part % 2, by_matrices, by_additions);
    }
    for (std::size_t i = 0; i < hidden_; ++i) by_start[i] += by_first[i];
  }

 private:
  /// Rows of `hidden` numbers with zeros up to whole vectors.
  Numbers<Real> padded(std::span<const Real> rows, std::size_t count) const {
    Numbers<Real> result(count * wide_, 0);
    for (std::size_t row = 0; row < count; ++row)
      std::copy_n(rows.data() + row * hidden_, hidden_, result.data() + row * wide_);
    return result;
  }

  Numbers<Real> transposed() const {
    Numbers<Real> result(given_.size() / hidden_ * wide_);
    if (wide_ != hidden_) std::ranges::fill(result, Real{0});
    for (std::size_t letter = 0; letter < letters_; ++letter)
      transpose(given_.data() + letter * hidden_ * hidden_, hidden_, hidden_, result.data() + letter * hidden_ * wide_,
                wide_);
    return result;
  }

  /// True if a parent's first child has the state already, or its gradient.
  bool is_first(std::size_t node) const {
    const std::uint32_t parent = tree_.parent[node];
    return parent != PrefixTree::kRoot && first_child_[parent] == node;
  }

  /// Cuts the words, in their order, into one part for every thread. Prefixes of more than alike_ letters belong to
  /// words of one part alone.
  void share_words(const TrainingBatch& batch) {
    const auto& [words, shared] = tree_.order;
    const auto parts = static_cast<std::size_t>(threads_);
    cuts_.assign(1, {tree_.first.begin(), tree_.first.end() - 1});
    std::vector<std::uint32_t> next = cuts_.front();
    for (std::size_t part = 1, i = 0; part < parts; ++part) {
      const std::size_t end = words.size() * part / parts;
      for (; i < end; ++i)
        for (std::size_t t = shared[i]; t < batch.lengths[words[i]]; ++t)
          ++next[batch.letters[t * batch.words + words[i]] * tree_.positions + t];
      if (end < words.size()) alike_ = std::max<std::size_t>(alike_, shared[end]);
      cuts_.push_back(next);
    }
    cuts_.emplace_back(tree_.first.begin() + 1, tree_.first.end());
  }

  /// body(letter, first node, end) for the calling thread's share of the nodes at a position.
  template <class Body>
  void for_own(std::size_t t, const Body& body) const {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads()),
               thread = static_cast<std::size_t>(omp_get_thread_num()), parts = cuts_.size() - 1;
    const auto &first = cuts_[parts * thread / threads], &last = cuts_[parts * (thread + 1) / threads];
    for (std::size_t letter = 0; letter < letters_; ++letter) {
      const std::size_t slot = letter * tree_.positions + t;
      if (first[slot] < last[slot]) body(letter, first[slot], last[slot]);
    }
  }

  /// Where the states after the prefixes go: to where the first one to go on reads it, or to the ends.
  void place_results() {
    std::size_t ends = 0;
    for (const std::uint32_t child : first_child_) ends += child == PrefixTree::kRoot;
    ends_.resize(ends * wide_);
    to_.resize(tree_.size());
    Real* end = ends_.data();
    for (std::size_t node = 0; node < tree_.size(); ++node) {
      if (first_child_[node] == PrefixTree::kRoot)
        to_[node] = end, end += wide_;
      else
        to_[node] = from_.data() + first_child_[node] * wide_;
    }
  }
  void bring_states(std::size_t begin, std::size_t end, const Real* start) {
    for (std::size_t node = begin; node < end; ++node) {
      if (is_first(node)) continue;
      const std::uint32_t parent = tree_.parent[node];
      std::copy_n(parent == PrefixTree::kRoot ? start : to_[parent], wide_, from_.data() + node * wide_);
    }
  }

  /// Where the gradients by the states before the prefixes are added: to the parent's, or for all but its first child
  /// to rows of their own, so that at one position no two are added to the same.
  void place_gradients() {
    std::size_t others = 0;
    for (std::size_t node = 0; node < tree_.size(); ++node) others += !is_first(node);
    by_others_ = zeros<Real>(others * wide_);
    Real* other = by_others_.data();
    for (std::size_t node = 0; node < tree_.size(); ++node) {
      if (is_first(node))
        to_[node] = by_to_.data() + tree_.parent[node] * wide_;
      else
        to_[node] = other, other += wide_;
    }
  }
  void gather_gradients(std::size_t begin, std::size_t end, Real* by_start) {
    for (std::size_t node = begin; node < end; ++node) {
      if (is_first(node)) continue;
      const std::uint32_t parent = tree_.parent[node];
      Real* const sum = parent == PrefixTree::kRoot ? by_start : by_to_.data() + parent * wide_;
      for (std::size_t i = 0; i < wide_; ++i) sum[i] += to_[node][i];
    }
  }

  /// Σ ȳ xᵀ over all prefixes of a letter, in one product: its upper or lower half.
  void add_matrix_gradient(std::size_t letter, bool lower, std::span<Real> by_matrices,
                           std::span<Real> by_additions) const {
    const std::size_t begin = tree_.first[letter * tree_.positions], end = tree_.first[(letter + 1) * tree_.positions];
    const std::size_t first = lower ? hidden_ / 2 : 0, rows = lower ? hidden_ - hidden_ / 2 : hidden_ / 2;
    training_kernels<Real>().add_product({rows, hidden_, end - begin, by_to_.data() + begin * wide_ + first, 1, wide_,
                                          from_.data() + begin * wide_, wide_,
                                          by_matrices.data() + (letter * hidden_ + first) * hidden_, hidden_});
    if (by_additions.empty() || lower) return;
    for (std::size_t node = begin; node < end; ++node)
      for (std::size_t i = 0; i < hidden_; ++i) by_additions[letter * hidden_ + i] += by_to_[node * wide_ + i];
  }

  /// Smaller states are read before threads have met.
  static constexpr std::size_t kLeastShared = 32;

  std::size_t hidden_, wide_, letters_;  ///< wide: in whole vectors
  PrefixTree tree_;
  std::vector<std::vector<std::uint32_t>> cuts_;  ///< part ↦ letter and position ↦ its first node
  std::size_t alike_ = 0;
  std::vector<std::uint32_t> first_child_;
  std::span<const Real> given_;
  bool has_additions_;
  int threads_;
  Numbers<Real> additions_, across_, straight_;  ///< rows of whole vectors; across: the matrices transposed
  Numbers<Real> from_, ends_, by_to_, by_others_;
  StateScales<Real> scales_;
  std::vector<Real*> to_;  ///< of every prefix: where its state goes, then its gradient
};

// H_t = A(x_t) h_{t−1} + b(x_t) for a batch of words, with
// block-diagonal A given per letter in small blocks, and its adjoint. Every prefix of the words is read once
// (above: the same with one dense block, and the same entry points).

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
