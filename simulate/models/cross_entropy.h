// simulate/models/cross_entropy.h — the loss of logits, and its gradient by them.
#pragma once

#include <span>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// Row i of `logits`, `labels` numbers, belongs to targets[i]. The logits become the gradient of the mean cross-entropy
/// by them: softmax − the target's probabilities (one-hot, unless it is smoothed), over the number of targets.
template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets);

extern template BatchLoss cross_entropy(std::span<float>, std::uint32_t, std::span<const TrainingBatch::Target>);
extern template BatchLoss cross_entropy(std::span<double>, std::uint32_t, std::span<const TrainingBatch::Target>);

}  // namespace krohn
