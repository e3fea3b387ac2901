// gpu/training/training_steps.cuh — what every model's step ends with, whatever the model: the loss of its logits, and
// AdamW. An item makes one number; sums run left to right, those over all parameters in parts of kPart terms, so that a
// step has the same bits every time, whatever models are beside it.
#pragma once

#include <cmath>
#include <cstdint>

#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// Item: model, target. The loss; and logits become its gradient (simulate/models/cross_entropy.h).
struct LossJob {
  BatchRows b;
  std::uint32_t labels = 0;
  float* logits = nullptr;   ///< [model][target][label]
  double* losses = nullptr;  ///< [model][target]
  std::uint64_t items() const { return std::uint64_t{b.models} * b.most_targets; }

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t m = item / b.most_targets;
    if (item % b.most_targets >= b.target_counts[m]) return;
    const DeviceTarget& target = b.targets[item];
    float* const row = logits + item * labels;
    std::uint32_t best = 0;
    for (std::uint32_t l = 1; l < labels; ++l)
      if (row[l] > row[best]) best = l;
    const float greatest = row[best], shifted = row[target.label] - greatest;
    const float smoothing = target.smoothing, others = smoothing / static_cast<float>(labels);
    float sum = 0, mean_shifted = 0;
    for (std::uint32_t l = 0; l < labels; ++l) {
      mean_shifted += (row[l] - greatest) / static_cast<float>(labels);
      row[l] = expf(row[l] - greatest);
      sum += row[l];
    }
    losses[item] = static_cast<double>(logf(sum) - (1 - smoothing) * shifted - smoothing * mean_shifted);
    const auto count = static_cast<float>(b.target_counts[m]);
    for (std::uint32_t l = 0; l < labels; ++l)
      row[l] = (row[l] / sum - (l == target.label ? 1 - smoothing : 0.f) - others) / count;
  }
};

/// AdamW as simulate/train/optimiser.h has it, of many models. Lists hold one model after another.
struct OptimiserStep {
  static constexpr std::uint64_t kPart = 1024;

  BatchRows b;
  std::uint64_t parameters = 0, first_trained = 0;  ///< of a model
  float *values = nullptr, *gradient = nullptr, *mean = nullptr, *square = nullptr;
  const double* losses = nullptr;
  double *norm_parts = nullptr, *norms = nullptr;
  std::uint32_t* failed = nullptr;  ///< by model: a loss or a gradient was not finite, and nothing moves any more
  float clip = 0;

  KROHN_HOST_DEVICE std::uint64_t parts() const { return (parameters + kPart - 1) / kPart; }

  /// Item: model, part of the parameters.
  KROHN_HOST_DEVICE void add_squares(std::uint64_t item) const {
    const std::uint64_t part = item % parts(), m = item / parts();
    const std::uint64_t end = (part + 1) * kPart < parameters ? (part + 1) * kPart : parameters;
    double sum = 0;
    for (std::uint64_t i = part * kPart; i < end; ++i) {
      const double by = gradient[m * parameters + i];
      sum += by * by;
    }
    norm_parts[item] = sum;
  }

  /// Item: model. The gradient's norm; a loss or norm that is not finite stops the model for good.
  KROHN_HOST_DEVICE void find_norm(std::uint64_t m) const {
    double sum = 0, loss = 0;
    for (std::uint64_t part = 0; part < parts(); ++part) sum += norm_parts[m * parts() + part];
    for (std::uint64_t k = m * b.most_targets; k < m * b.most_targets + b.target_counts[m]; ++k) loss += losses[k];
    norms[m] = sqrt(sum);
    if (!(norms[m] <= 1.7976931348623157e308) || !(loss <= 1.7976931348623157e308)) failed[m] = 1;
  }

  /// Item: model, parameter.
  KROHN_HOST_DEVICE void move(std::uint64_t item) const {
    constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f;
    const std::uint64_t m = item / parameters;
    if (item % parameters < first_trained || failed[m] != 0) return;
    const float scale = clip > 0 && norms[m] > clip ? static_cast<float>(clip / norms[m]) : 1.f;
    const float by = gradient[item] * scale;
    mean[item] += (1 - kMeanDecay) * (by - mean[item]);
    square[item] += (1 - kSquareDecay) * (by * by - square[item]);
    values[item] = b.kept[m] * values[item] - b.rates[m] * mean[item] / (sqrtf(square[item]) + b.epsilons[m]);
  }
};

enum class OptimiserStage : std::uint8_t { kSquares, kNorm, kMove };

template <OptimiserStage kStage>
struct OptimiserJob {
  OptimiserStep step;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    using enum OptimiserStage;
    if constexpr (kStage == kSquares) step.add_squares(item);
    if constexpr (kStage == kNorm) step.find_norm(item);
    if constexpr (kStage == kMove) step.move(item);
  }
};

/// Sets numbers to 0: what a step adds to, or writes only in part.
struct ClearJob {
  float* numbers = nullptr;
  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const { numbers[item] = 0; }
};

}  // namespace krohn
