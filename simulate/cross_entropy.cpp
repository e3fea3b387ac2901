#include "simulate/cross_entropy.h"

#include <Eigen/Core>
#include <cmath>

namespace krohn {

template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets) {
  BatchLoss result;
  result.targets = targets.size();
  const auto mean = static_cast<Real>(std::max<std::size_t>(targets.size(), 1));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>> row(logits.data() + i * labels, labels);
    const auto label = static_cast<Eigen::Index>(targets[i].label);
    Eigen::Index best = 0;
    const Real greatest = row.maxCoeff(&best);
    const Real shifted = row(label) - greatest;
    const Real smoothing = static_cast<Real>(targets[i].smoothing), others = smoothing / static_cast<Real>(labels);
    const Real mean_shifted = row.mean() - greatest;
    row = (row - greatest).exp();
    const Real sum = row.sum();
    result.loss += static_cast<double>(std::log(sum) - (1 - smoothing) * shifted - smoothing * mean_shifted);
    result.right += best == label;
    row /= sum;
    row(label) -= 1 - smoothing;
    row -= others;
    row /= mean;
  }
  result.loss /= static_cast<double>(mean);
  return result;
}

template BatchLoss cross_entropy(std::span<float>, std::uint32_t, std::span<const TrainingBatch::Target>);
template BatchLoss cross_entropy(std::span<double>, std::uint32_t, std::span<const TrainingBatch::Target>);

}  // namespace krohn
