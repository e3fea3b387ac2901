#include "krohn/simulate/models/token_slices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/parallel_for.h"

namespace krohn {
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
  for (std::uint32_t i = 0; i < slices.size(); ++i)
    for (const std::uint32_t word : slices[i].words) slice_of[word] = i;
  std::vector<std::vector<TrainingBatch::Target>> targets(slices.size());
  for (auto& own : targets) own.reserve(batch.targets.size());
  for (const TrainingBatch::Target& target : batch.targets) targets[slice_of[target.word]].push_back(target);

  std::vector<BatchLoss> losses(slices.size());
  std::vector<Numbers<Real>> parts(gradient.empty() || slices.size() == 1 ? 0 : slices.size());
  parallel_for(slices.size(), threads, [&](std::size_t i) {
    if (!parts.empty()) parts[i] = zeros<Real>(gradient.size());
    losses[i] = slice_loss(slices[i], targets[i], parts.empty() ? gradient : std::span<Real>(parts[i]));
  });
  BatchLoss result;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    result.loss += losses[i].loss;
    result.right += losses[i].right;
    result.targets += losses[i].targets;
    if (!parts.empty())
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
  struct Asked {
    std::uint32_t target, count, next;  ///< the first that asks for this, how many do, and what else its row asks for
  };
  std::vector<Asked> asked;
  asked.reserve(targets.size());
  std::vector<std::uint32_t> of_row(rows.tokens(), kNone);
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
      asked.push_back({i, 1, first});
      first = static_cast<std::uint32_t>(asked.size() - 1);
    }
  }
  DistinctTargets distinct;
  distinct.targets.reserve(asked.size()), distinct.rows.reserve(asked.size()), distinct.counts.reserve(asked.size());
  for (std::size_t row = 0; row < of_row.size(); ++row)
    for (std::uint32_t at = of_row[row]; at != kNone; at = asked[at].next) {
      distinct.targets.push_back(targets[asked[at].target]);
      distinct.rows.push_back(row);
      distinct.counts.push_back(asked[at].count);
    }
  return distinct;
}

}  // namespace krohn
