// simulate/models/operations_gradient.h — the loss of a list of operations over words, and its gradient by the list's
// tensors: what training asks of any model that is stated so. Words are read forward as proofs read them, with the same
// bits in fp32; the steps are then walked back (backpropagation through time).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/operations/step_kernels.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// Real is float for lists in fp32, double for those in fp64. Where a number is one of two that are equally great, or
/// stands at a border of a function, the gradient is that of one side.
template <class Real>
class OperationsGradient {
 public:
  /// A token is a letter below `letters`. Keeps nothing of `tensors`. Throws as StatedLists.
  OperationsGradient(const Operations& operations, const TensorFile& tensors, Letter letters);

  /// The numbers of a gradient that has not come to the tensors yet, which a batch's words have together: by what is the
  /// same for all words, and by what follows from the letter alone.
  std::size_t size() const { return fixed_.size + letters_.size; }
  /// The loss of some words' targets, their share of a mean over the batch's, and the gradient added to `by`, which is
  /// empty or of size(). `twin`: every word is read twice (SequenceModel::twin_loss), or null. Memory: a number for every
  /// number of the lists, letter and word.
  BatchLoss loss(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                 std::span<const TrainingBatch::Target> targets, const TwinReading* twin, std::span<Real> by) const;
  /// give(name, gradient) for every tensor. `by` is changed.
  void finish(std::span<Real> by, const std::function<void(const std::string&, std::span<const Real>)>& give) const;

 private:
  class Reading;
  /// Numbers of no token, of letters, or of words: each number of a list is `lanes` numbers side by side.
  struct Layout {
    static constexpr std::size_t kNone = SIZE_MAX;
    std::size_t lanes = 1, size = 0;
    std::vector<std::size_t> first;  ///< of the lists that are there
    bool has(std::uint32_t list) const { return first[list] != kNone; }
  };
  struct Run {
    std::uint32_t list = 0;
    Step step;
    StepKernel<Real> forward = nullptr;
    StepAdjointKernel<Real> adjoint = nullptr;
  };

  const Operation& at(std::uint32_t list) const { return operations_.list[list]; }
  bool is_computed(std::uint32_t list) const;
  void add_to(Layout& space, std::uint32_t list) const;
  Run run_of(std::uint32_t list, const Layout& space) const;
  /// Takes the gradient by a step's results to its operands, in a space or in that of no token.
  void walk_back(const Run& run, const Layout& space, const Real* values, Real* by, Real* by_fixed) const;

  Operations operations_;
  StatedLists<Real> lists_;
  std::vector<bool> learns_;            ///< lists that depend on a tensor or on what is remembered
  std::vector<bool> wanted_, remains_;  ///< lists that the answers or the memory need, and those that the memory needs
  Layout fixed_, letters_, words_;       ///< words_: of one word
  Numbers<Real> fixed_values_, letter_values_;
  std::vector<std::uint32_t> lifted_;  ///< lists of words that lie in another space
  std::uint32_t memory_ = 0;
};

extern template class OperationsGradient<float>;
extern template class OperationsGradient<double>;

}  // namespace krohn
