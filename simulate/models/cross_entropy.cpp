#include "krohn/simulate/models/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {

template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets,
                        std::span<const std::uint32_t> counts, std::uint64_t all) {
  const std::size_t rows = targets.size();
  const auto count_of = [&](std::size_t i) { return counts.empty() ? 1 : counts[i]; };
  // One label has no others to share with; roundings would be the whole gradient.
  const auto smoothing_of = [&](std::size_t i) {
    return labels > 1 ? static_cast<Real>(targets[i].smoothing) : Real{0};
  };
  BatchLoss result;
  for (std::size_t i = 0; i < rows; ++i) result.targets += count_of(i);
  const auto mean = static_cast<Real>(std::max<std::uint64_t>(all > 0 ? all : result.targets, 1));
  const Real count = static_cast<Real>(labels);

  Numbers<Real> share(rows), away(rows), greatest(rows), sum(rows);
  std::vector<double> wanted(rows);  // the logits, by what each answer should get
  std::vector<std::uint32_t> best(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const Real> row = logits.subspan(i * labels, labels);
    const Real smoothing = smoothing_of(i), others = smoothing / count;
    share[i] = static_cast<Real>(count_of(i)) / mean;
    away[i] = others * share[i];
    wanted[i] = static_cast<double>(1 - smoothing) * static_cast<double>(row[targets[i].label]);
    if (smoothing > 0)
      for (const Real logit : row) wanted[i] += static_cast<double>(others) * static_cast<double>(logit);
  }
  training_kernels<Real>().softmax(
      {rows, labels, logits.data(), share.data(), away.data(), greatest.data(), sum.data(), best.data()});
  constexpr double kMaxProduct = 1e200;  // a sum is at most the number of labels, so that none overflows
  double loss = 0, product = 1;          // of sums that count once: a logarithm for many of them
  for (std::size_t i = 0; i < rows; ++i) {
    logits[i * labels + targets[i].label] -= (1 - smoothing_of(i)) * share[i];
    if (best[i] == targets[i].label) result.right += count_of(i);
    loss += count_of(i) * (static_cast<double>(greatest[i]) - wanted[i]);
    if (count_of(i) > 1)
      loss += count_of(i) * std::log(static_cast<double>(sum[i]));
    else if ((product *= static_cast<double>(sum[i])) > kMaxProduct)
      loss += std::log(std::exchange(product, 1));
  }
  result.loss = (loss + std::log(product)) / static_cast<double>(mean);
  return result;
}

template BatchLoss cross_entropy(std::span<float>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                 std::span<const std::uint32_t>, std::uint64_t);
template BatchLoss cross_entropy(std::span<double>, std::uint32_t, std::span<const TrainingBatch::Target>,
                                 std::span<const std::uint32_t>, std::uint64_t);

}  // namespace krohn
