// simulate/models/cross_entropy.h — the loss of logits, and its gradient by them.
#pragma once

#include <cmath>
#include <numbers>
#include <span>

#include "krohn/groups/base/random.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// Row i of `logits`, `labels` numbers, belongs to targets[i]. The logits become the gradient of the mean cross-entropy
/// by them: softmax − the target's probabilities (one-hot, unless it is smoothed), over the number of targets. Target i
/// counts counts[i] times, or where there are no counts, once; `all` are the targets that the mean is taken of, where
/// these are not all: the loss is then their share of it.
template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets,
                        std::span<const std::uint32_t> counts = {}, std::uint64_t all = 0);

extern template BatchLoss cross_entropy(std::span<float>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                        std::span<const std::uint32_t>, std::uint64_t);
extern template BatchLoss cross_entropy(std::span<double>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                        std::span<const std::uint32_t>, std::uint64_t);

/// Uniform in [0, 1).
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// Uniform in ±spread.
template <class Real>
void fill_uniform(std::span<Real> numbers, double spread, Random& random) {
  for (Real& number : numbers) number = static_cast<Real>(spread * (2 * uniform(random) - 1));
}

/// Standard normal, times `deviation`. Box and Muller (1958).
template <class Real>
void fill_normal(std::span<Real> numbers, Random& random, double deviation = 1) {
  for (Real& number : numbers) {
    const double radius = std::sqrt(-2 * stated::log(1 - uniform(random)));
    number = static_cast<Real>(deviation * radius * stated::cos(2 * std::numbers::pi * uniform(random)));
  }
}

}  // namespace krohn
