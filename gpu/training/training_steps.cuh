// gpu/training/training_steps.cuh — the end of every model's step, whatever the model: the loss of its logits, and
// AdamW. Sums are trees whose shape depends on the number of terms alone, so that a step has the same bits every time,
// whatever models are beside it.
#pragma once

#include <cmath>
#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// The loss of every target; and logits become its gradient (simulate/models/token_layers.h). Team: model, kRows
/// targets; kLanes threads a target.
struct LossJob {
  static constexpr std::uint32_t kRows = 8, kLanes = 32, kThreads = kRows * kLanes;

  BatchRows b;
  std::uint32_t labels = 0;
  float* logits = nullptr;   ///< [model][target][label]
  double* losses = nullptr;  ///< [model][target]

  KROHN_HOST_DEVICE std::uint64_t groups() const { return (b.most_targets + std::uint64_t{kRows} - 1) / kRows; }
  std::uint64_t teams() const { return b.models * groups(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 2 * kRows * (kLanes + 1) + 2 * kRows; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t m = index / groups(), first = index % groups() * kRows, count = b.target_counts[m];
    if (first >= count) return;
    const std::uint64_t begin = m * b.most_targets + first;
    const std::uint32_t rows = first + kRows < count ? kRows : static_cast<std::uint32_t>(count - first);
    float *const lanes = team.numbers, *const others = lanes + kRows * (kLanes + 1),
                 *const greatest = others + kRows * (kLanes + 1), *const sums = greatest + kRows;
    // body(label, its logit, sum or other number of the lane): for all labels of every lane.
    const auto for_labels = [&](std::uint32_t thread, auto&& body) {
      const std::uint32_t r = thread / kLanes;
      for (std::uint32_t l = thread % kLanes; r < rows && l < labels; l += kLanes)
        body(r, l, logits[(begin + r) * labels + l]);
    };
    const auto place = [](std::uint32_t thread) { return thread / kLanes * (kLanes + 1) + thread % kLanes; };
    team.each(kThreads, [&](std::uint32_t thread) {
      float most = -INFINITY;
      for_labels(thread, [&](std::uint32_t, std::uint32_t, float logit) { most = logit > most ? logit : most; });
      lanes[place(thread)] = most;
    });
    team.each(rows, [&](std::uint32_t r) {
      float most = -INFINITY;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) most = fmaxf(most, lanes[r * (kLanes + 1) + lane]);
      greatest[r] = most;
    });
    team.each(kThreads, [&](std::uint32_t thread) {
      float sum = 0, shifted = 0;
      for_labels(thread, [&](std::uint32_t r, std::uint32_t l, float& logit) {
        const DeviceTarget& target = b.targets[begin + r];
        if (l == target.label) sums[r] = logit - greatest[r];
        shifted += (logit - greatest[r]) / static_cast<float>(labels);
        logit = expf(logit - greatest[r]);
        sum += logit;
      });
      lanes[place(thread)] = sum;
      others[place(thread)] = shifted;
    });
    team.each(rows, [&](std::uint32_t r) {
      float sum = 0, shifted = 0;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        sum += lanes[r * (kLanes + 1) + lane];
        shifted += others[r * (kLanes + 1) + lane];
      }
      const float smoothing = b.targets[begin + r].smoothing;
      losses[begin + r] = static_cast<double>(logf(sum) - (1 - smoothing) * sums[r] - smoothing * shifted);
      sums[r] = sum;
    });
    team.each(kThreads, [&](std::uint32_t thread) {
      for_labels(thread, [&](std::uint32_t r, std::uint32_t l, float& logit) {
        const DeviceTarget& target = b.targets[begin + r];
        const float smoothing = target.smoothing, own = l == target.label ? 1 - smoothing : 0.f;
        logit = (logit / sums[r] - own - smoothing / static_cast<float>(labels)) / static_cast<float>(count);
      });
    });
  }
};

/// AdamW as simulate/train/optimiser.h has it, of many models. Lists hold one model after another.
struct OptimiserStep {
  static constexpr std::uint64_t kPart = 4096;  ///< terms of a part of the gradient's norm

  BatchRows b;
  std::uint64_t parameters = 0, first_trained = 0;  ///< of a model
  float *values = nullptr, *gradient = nullptr, *mean = nullptr, *square = nullptr;
  const double* losses = nullptr;
  double *norm_parts = nullptr, *norms = nullptr;
  std::uint32_t* failed = nullptr;  ///< by model: a loss or a gradient was not finite, and nothing moves any more
  float clip = 0;

  KROHN_HOST_DEVICE std::uint64_t parts() const { return (parameters + kPart - 1) / kPart; }
};

/// Team: model, part of the parameters. Its sum of squares.
struct AddSquares : OptimiserStep {
  static constexpr std::uint32_t kThreads = 256;

  std::uint64_t teams() const { return b.models * parts(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 2 * kThreads; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t m = index / parts(), first = index % parts() * kPart;
    const std::uint64_t count = first + kPart < parameters ? kPart : parameters - first;
    const float* const from = gradient + m * parameters + first;
    team.each(kThreads, [&](std::uint32_t thread) {
      double sum = 0;
      for (std::uint64_t i = thread; i < count; i += kThreads) {
        const double by = from[i];
        sum += by * by;
      }
      team.numbers_as<double>()[thread] = sum;
    });
    add_by_tree<kThreads>(team, team.numbers_as<double>(), 1);
    team.each(1, [&](std::uint32_t) { norm_parts[index] = team.numbers_as<double>()[0]; });
  }
};

/// Team: model. The gradient's norm; a loss or norm that is not finite stops the model for good.
struct FindNorm : OptimiserStep {
  static constexpr std::uint32_t kThreads = 256;

  std::uint64_t teams() const { return b.models; }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 4 * kThreads; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t m) const {
    double* const sums = team.numbers_as<double>();
    const auto sum_of_thread = [](std::uint32_t thread, const double* terms, std::uint64_t count) {
      double sum = 0;
      for (std::uint64_t i = thread; i < count; i += kThreads) sum += terms[i];
      return sum;
    };
    team.each(kThreads, [&](std::uint32_t thread) {
      sums[thread] = sum_of_thread(thread, norm_parts + m * parts(), parts());
      sums[kThreads + thread] = sum_of_thread(thread, losses + m * b.most_targets, b.target_counts[m]);
    });
    add_by_tree<kThreads>(team, sums, 2);
    team.each(1, [&](std::uint32_t) {
      constexpr double kMax = 1.7976931348623157e308;
      norms[m] = sqrt(sums[0]);
      if (!(norms[m] <= kMax) || !(sums[kThreads] <= kMax)) failed[m] = 1;
    });
  }
};

/// Item: model, parameter.
struct MoveParameters : OptimiserStep {
  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
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

/// Sets numbers to 0: what a step adds to, or writes only in part.
struct ClearJob {
  float* numbers = nullptr;
  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const { numbers[item] = 0; }
};

}  // namespace krohn
