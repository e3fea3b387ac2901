#include "krohn/simulate/models/token_layers.h"

#include <Eigen/Core>

#include <algorithm>
#include <utility>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {
namespace {

template <class Real>
using Array = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;
template <class Real>
using ConstArray = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;

template <class Real>
Array<Real> array(std::span<Real> numbers, std::size_t first, std::size_t count) {
  return {numbers.data() + first, static_cast<Eigen::Index>(count)};
}
template <class Real>
ConstArray<Real> array(std::span<const Real> numbers, std::size_t first, std::size_t count) {
  return {numbers.data() + first, static_cast<Eigen::Index>(count)};
}

/// Rows for which a matrix is not transposed: that takes as long as to multiply so many with it.
constexpr std::size_t kFewRows = 16;
/// Outputs that leave most of a vector empty, so that the gradient by weights is made the other way round.
constexpr std::size_t kFewOutputs = 8;

}  // namespace

template <class Real>
void TokenLayers<Real>::linear(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs,
                               std::span<Real> y) {
  const std::size_t outputs = weights.size() / inputs, rows = x.size() / inputs;
  training_kernels<Real>().add_product(
      {rows, outputs, inputs, x.data(), inputs, 1, weights.data(), outputs, y.data(), outputs});
}

template <class Real>
void TokenLayers<Real>::linear_adjoint(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs,
                                       std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_weights,
                                       bool sets) {
  const std::size_t outputs = weights.size() / inputs, rows = x.size() / inputs;
  const auto& kernels = training_kernels<Real>();
  if (outputs <= kFewOutputs) {
    Numbers<Real> across = zeros<Real>(weights.size());
    kernels.add_product({outputs, inputs, rows, by_y.data(), 1, outputs, x.data(), inputs, across.data(), inputs});
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < outputs; ++j) by_weights[i * outputs + j] += across[j * inputs + i];
  } else {
    kernels.add_product({inputs, outputs, rows, x.data(), 1, inputs, by_y.data(), outputs, by_weights.data(), outputs});
  }
  if (rows <= kFewRows) {
    if (sets) std::ranges::fill(by_x, Real{0});
    kernels.add_dots({rows, inputs, outputs, by_y.data(), outputs, weights.data(), outputs, by_x.data(), inputs, 1});
    return;
  }
  const Numbers<Real> back = transposed(weights, outputs);
  kernels.add_product({rows, inputs, outputs, by_y.data(), outputs, 1, back.data(), inputs, by_x.data(), inputs, sets});
}

template <class Real>
void TokenLayers<Real>::rms_norm(std::span<const Real> x, std::span<const Real> gain, std::span<Real> y) {
  training_kernels<Real>().rms_norm({x.size() / gain.size(), gain.size(), x.data()}, gain.data(), y.data());
}

template <class Real>
void TokenLayers<Real>::rms_norm_adjoint(std::span<const Real> x, std::span<const Real> gain,
                                         std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_gain) {
  training_kernels<Real>().rms_norm_adjoint({x.size() / gain.size(), gain.size(), x.data()}, gain.data(), by_y.data(),
                                            by_x.data(), by_gain.data());
}

template <class Real>
void TokenLayers<Real>::unit_norm(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  training_kernels<Real>().unit_norm({x.size() / width, width, x.data()}, y.data());
}

template <class Real>
void TokenLayers<Real>::unit_norm_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                          std::span<Real> by_x) {
  training_kernels<Real>().unit_norm_adjoint({x.size() / width, width, x.data()}, by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::silu(std::span<const Real> x, std::span<Real> y) {
  training_kernels<Real>().silu(x.data(), x.size(), y.data());
}

template <class Real>
void TokenLayers<Real>::silu_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x) {
  training_kernels<Real>().silu_adjoint(x.data(), x.size(), by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::softplus(std::span<const Real> x, std::span<Real> y) {
  training_kernels<Real>().softplus(x.data(), x.size(), y.data());
}

template <class Real>
void TokenLayers<Real>::softplus_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x) {
  training_kernels<Real>().softplus_adjoint(x.data(), x.size(), by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::gate(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  training_kernels<Real>().gate({x.size() / (2 * width), 2 * width, x.data()}, y.data());
}

template <class Real>
void TokenLayers<Real>::gate_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                     std::span<Real> by_x) {
  training_kernels<Real>().gate_adjoint({x.size() / (2 * width), 2 * width, x.data()}, by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::convolve(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                                 std::size_t width, std::span<Real> before, std::span<Real> y) {
  const std::size_t count = taps.size() / width, kept = (count - 1) * width;
  for (std::size_t word = 0; word < rows.words(); ++word) {
    // The word with what stands before it.
    Numbers<Real> all(before.begin() + static_cast<std::ptrdiff_t>(word * kept),
                      before.begin() + static_cast<std::ptrdiff_t>((word + 1) * kept));
    const auto own = x.subspan(rows.first[word] * width, rows.length(word) * width);
    all.insert(all.end(), own.begin(), own.end());
    std::copy(all.end() - static_cast<std::ptrdiff_t>(kept), all.end(),
              before.begin() + static_cast<std::ptrdiff_t>(word * kept));
    for (std::size_t t = 0; t < rows.length(word); ++t) {
      auto out = array(y, (rows.first[word] + t) * width, width);
      out.setZero();
      for (std::size_t j = 0; j < count; ++j)
        out += array(taps, j * width, width) * array(std::span<const Real>(all), (t + count - 1 - j) * width, width);
    }
  }
}

template <class Real>
void TokenLayers<Real>::convolve_adjoint(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                                         std::size_t width, std::span<const Real> by_y, std::span<Real> by_x,
                                         std::span<Real> by_taps) {
  const std::size_t count = taps.size() / width;
  for (std::size_t word = 0; word < rows.words(); ++word)
    for (std::size_t t = 0; t < rows.length(word); ++t) {
      const std::size_t row = rows.first[word] + t;
      const auto by = array(by_y, row * width, width);
      for (std::size_t j = 0; j < count && j <= t; ++j) {
        array(by_x, (row - j) * width, width) += array(taps, j * width, width) * by;
        array(by_taps, j * width, width) += array(x, (row - j) * width, width) * by;
      }
    }
}

template struct TokenLayers<float>;
template struct TokenLayers<double>;

namespace {

constexpr std::size_t kSliceTokens = 656, kParametersOfToken = 512;

}  // namespace

std::vector<Slice> slices_of(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                             std::span<const std::uint32_t> shared, std::size_t parameters) {
  std::size_t tokens = 0;
  for (const std::uint32_t length : batch.lengths) tokens += length;
  std::size_t count = tokens / std::max(kSliceTokens, parameters / kParametersOfToken);
  count += count % 2;  // two threads take as many each
  count = std::clamp<std::size_t>(count, 1, std::max<std::size_t>(words.size(), 1));
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = words.size() * i / count, end = words.size() * (i + 1) / count;
    slices.push_back({words.subspan(first, end - first), {}});
    if (!shared.empty()) slices.back().shared = shared.subspan(first, end - first);
  }
  return slices;
}

template <class Real>
BatchLoss loss_of_slices(
    const TrainingBatch& batch, std::span<const Slice> slices, unsigned threads, std::span<Real> gradient,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<Real>)>& slice_loss) {
  std::vector<std::uint32_t> slice_of(batch.words);
  std::vector<std::vector<TrainingBatch::Target>> targets(slices.size());
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    for (const std::uint32_t word : slices[i].words) slice_of[word] = i;
    targets[i].reserve(batch.targets.size());
  }
  for (const TrainingBatch::Target& target : batch.targets) targets[slice_of[target.word]].push_back(target);

  std::vector<BatchLoss> losses(slices.size());
  // The first slice adds to the gradient itself, whatever the number of threads.
  std::vector<Numbers<Real>> parts(slices.size());
  parallel_for(slices.size(), threads, [&](std::size_t i) {
    if (i > 0) parts[i] = zeros<Real>(gradient.size());
    losses[i] = slice_loss(slices[i], targets[i], i == 0 ? gradient : std::span<Real>(parts[i]));
  });
  BatchLoss result;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    result.loss += losses[i].loss;
    result.right += losses[i].right;
    result.targets += losses[i].targets;
    if (i > 0)
      for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] += parts[i][j];
  }
  return result;
}

template BatchLoss loss_of_slices(
    const TrainingBatch&, std::span<const Slice>, unsigned, std::span<float>,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<float>)>&);
template BatchLoss loss_of_slices(
    const TrainingBatch&, std::span<const Slice>, unsigned, std::span<double>,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<double>)>&);

TokenRows rows_of(const TrainingBatch& batch, std::span<const std::uint32_t> words, std::size_t letters) {
  TokenRows rows;
  rows.sources = letters;
  rows.place.resize(batch.words);
  for (const std::uint32_t word : words) {
    rows.place[word] = static_cast<std::uint32_t>(rows.words());
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t)
      rows.source.push_back(batch.letters[std::size_t{t} * batch.words + word]);
    rows.first.push_back(rows.source.size());
  }
  return rows;
}

TokenRows shared_rows_of(const TrainingBatch& batch, const Slice& slice, std::size_t letters) {
  TokenRows rows;
  rows.sources = letters;
  rows.place.resize(batch.words);
  SharedTokens sharing;
  sharing.positions = batch.positions;
  sharing.path.resize(slice.words.size() * batch.positions);
  for (std::size_t w = 0; w < slice.words.size(); ++w) {
    const std::uint32_t word = slice.words[w], shared = w == 0 ? 0 : slice.shared[w];
    std::uint32_t* const path = sharing.path.data() + w * batch.positions;
    if (w > 0) std::copy_n(path - batch.positions, shared, path);
    for (std::size_t t = shared; t < batch.lengths[word]; ++t) {
      path[t] = static_cast<std::uint32_t>(rows.source.size());
      rows.source.push_back(batch.letters[t * batch.words + word]);
    }
    sharing.length.push_back(batch.lengths[word]);
    sharing.shared.push_back(shared);
    rows.place[word] = static_cast<std::uint32_t>(w);
  }
  rows.sharing = std::move(sharing);
  return rows;
}

bool DistinctTargets::is_range() const {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != rows[0] + i) return false;
  return !rows.empty();
}

DistinctTargets distinct_targets(std::span<const TrainingBatch::Target> targets, const TokenRows& rows) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  // The first target that asks for this, how many do, and what else its row asks for.
  struct Asked {
    std::uint32_t target, count, next;
  };
  std::vector<Asked> asked(targets.size());
  std::vector<std::uint32_t> of_row(rows.tokens(), kNone);
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    const TrainingBatch::Target& target = targets[i];
    std::uint32_t& first = of_row[rows.row(target.word, target.position)];
    std::uint32_t at = first;
    while (at != kNone &&
           (targets[asked[at].target].label != target.label || targets[asked[at].target].smoothing != target.smoothing))
      at = asked[at].next;
    if (at != kNone) {
      ++asked[at].count;
    } else {
      asked[size] = {i, 1, first};
      first = size++;
    }
  }
  DistinctTargets distinct{std::vector<TrainingBatch::Target>(size), std::vector<std::size_t>(size),
                           std::vector<std::uint32_t>(size)};
  std::size_t next = 0;
  for (std::size_t row = 0; row < of_row.size(); ++row)
    for (std::uint32_t at = of_row[row]; at != kNone; at = asked[at].next, ++next) {
      distinct.targets[next] = targets[asked[at].target];
      distinct.rows[next] = row;
      distinct.counts[next] = asked[at].count;
    }
  return distinct;
}

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
