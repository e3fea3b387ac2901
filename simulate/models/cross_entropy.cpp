#include "krohn/simulate/models/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {

template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets,
                        std::span<const std::uint32_t> counts, std::uint64_t all) {
  const auto count_of = [&](std::size_t i) { return counts.empty() ? 1 : counts[i]; };
  BatchLoss result;
  for (std::size_t i = 0; i < targets.size(); ++i) result.targets += count_of(i);
  const auto mean = static_cast<Real>(std::max<std::uint64_t>(all > 0 ? all : result.targets, 1));
  const Real count = static_cast<Real>(labels);
  double loss = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::span<Real> row = logits.subspan(i * labels, labels);
    const std::size_t best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    const Real greatest = row[best], smoothing = static_cast<Real>(targets[i].smoothing);
    Real sum = 0;
    for (Real& logit : row) sum += logit -= greatest;
    loss -= count_of(i) * static_cast<double>((1 - smoothing) * row[targets[i].label] + smoothing * sum / count);
    if (best == targets[i].label) result.right += count_of(i);
  }
  training_kernels<Real>().exponentials(logits.data(), targets.size() * labels, logits.data());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::span<Real> row = logits.subspan(i * labels, labels);
    const Real smoothing = static_cast<Real>(targets[i].smoothing), others = smoothing / count;
    Real sum = 0;
    for (const Real power : row) sum += power;
    loss += count_of(i) * static_cast<double>(std::log(sum));
    const Real share = static_cast<Real>(count_of(i)) / mean, scale = share / sum, away = others * share;
    for (Real& power : row) power = power * scale - away;
    row[targets[i].label] -= (1 - smoothing) * share;
  }
  result.loss = loss / static_cast<double>(mean);
  return result;
}

template BatchLoss cross_entropy(std::span<float>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                 std::span<const std::uint32_t>, std::uint64_t);
template BatchLoss cross_entropy(std::span<double>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                 std::span<const std::uint32_t>, std::uint64_t);

}  // namespace krohn
