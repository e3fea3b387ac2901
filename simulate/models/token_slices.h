// simulate/models/token_slices.h — how a step cuts a batch into slices of words, where their tokens stand, and what is
// asked of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/token_layers.h"
#include "krohn/simulate/tasks/training_batch.h"

namespace krohn {

/// Some words of a batch, which a step reads apart from the others: few enough that what it keeps of them stays in the
/// second-level cache, and for threads to take. How a batch is cut depends on nothing but the batch and the number of
/// parameters: each slice but the first has a gradient of its own, and these take no more than some hundred numbers a
/// token.
struct Slice {
  std::span<const std::uint32_t> words;   ///< of the batch
  std::span<const std::uint32_t> shared;  ///< tokens that each has in common with the one before, where rows are shared
};

/// `shared` is empty where no rows are.
std::vector<Slice> slices_of(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                             std::span<const std::uint32_t> shared, std::size_t parameters);

/// The sum of what every slice gives for its words' targets, in at most so many threads, which change no bit of it;
/// 0: as many as OpenMP gives. `slice_loss` adds to the gradient that it is given, or where that is empty needs none.
template <class Real>
BatchLoss loss_of_slices(
    const TrainingBatch& batch, std::span<const Slice> slices, unsigned threads, std::span<Real> gradient,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<Real>)>& slice_loss);

/// The words one after another, each token reading its letter's row.
TokenRows rows_of(const TrainingBatch& batch, std::span<const std::uint32_t> words, std::size_t letters);
/// The same with one row for the tokens that words share.
TokenRows shared_rows_of(const TrainingBatch& batch, const Slice& slice, std::size_t letters);

/// Targets at one row that ask for the same are one, which counts so often. In the order of the rows.
struct DistinctTargets {
  std::vector<TrainingBatch::Target> targets;
  std::vector<std::size_t> rows;
  std::vector<std::uint32_t> counts;

  /// One target at every row from one to another: nearly always at every token, or at all but the first.
  bool is_range() const;
};

DistinctTargets distinct_targets(std::span<const TrainingBatch::Target> targets, const TokenRows& rows);

extern template BatchLoss loss_of_slices(
    const TrainingBatch&, std::span<const Slice>, unsigned, std::span<float>,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<float>)>&);
extern template BatchLoss loss_of_slices(
    const TrainingBatch&, std::span<const Slice>, unsigned, std::span<double>,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<double>)>&);

}  // namespace krohn
