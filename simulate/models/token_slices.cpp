#include "krohn/simulate/models/token_slices.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace krohn {
namespace {

constexpr std::size_t kSliceTokens = 656;

}  // namespace

std::vector<Slice> slices_of(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                             std::span<const std::uint32_t> shared) {
  std::size_t tokens = 0;
  for (const std::uint32_t length : batch.lengths) tokens += length;
  std::size_t count = tokens / kSliceTokens;
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

namespace {

bool asks_the_same(const TrainingBatch::Target& left, const TrainingBatch::Target& right) {
  return left.label == right.label && left.smoothing == right.smoothing;
}

/// Where one row asks for different things.
DistinctTargets several_at_a_row(std::span<const TrainingBatch::Target> targets, const TokenRows& rows) {
  struct Asked {
    TrainingBatch::Target target;
    std::size_t row;
    std::uint32_t count;
  };
  std::vector<Asked> asked;
  asked.reserve(targets.size());
  std::vector<std::size_t> last(rows.tokens(), targets.size());  // row ↦ the last one there
  std::vector<std::size_t> before(rows.tokens() + 1, 0);         // row ↦ those at rows before it
  for (const TrainingBatch::Target& target : targets) {
    const std::size_t row = rows.row(target.word, target.position), found = last[row];
    if (found < asked.size() && asks_the_same(asked[found].target, target)) {
      ++asked[found].count;
      continue;
    }
    last[row] = asked.size();
    asked.push_back({target, row, 1});
    ++before[row + 1];
  }
  std::partial_sum(before.begin(), before.end(), before.begin());
  const std::size_t count = asked.size();
  DistinctTargets distinct{std::vector<TrainingBatch::Target>(count), std::vector<std::size_t>(count),
                           std::vector<std::uint32_t>(count)};
  for (const Asked& one : asked) {
    const std::size_t at = before[one.row]++;
    distinct.targets[at] = one.target;
    distinct.rows[at] = one.row;
    distinct.counts[at] = one.count;
  }
  return distinct;
}

}  // namespace

DistinctTargets distinct_targets(std::span<const TrainingBatch::Target> targets, const TokenRows& rows) {
  struct Asked {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<Asked> asked(rows.tokens());  // of every row
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    Asked& here = asked[rows.row(targets[i].word, targets[i].position)];
    if (here.count++ == 0)
      here.first = i, ++count;
    else if (!asks_the_same(targets[here.first], targets[i]))
      return several_at_a_row(targets, rows);
  }
  DistinctTargets distinct;
  distinct.targets.reserve(count), distinct.rows.reserve(count), distinct.counts.reserve(count);
  for (std::size_t row = 0; row < asked.size(); ++row) {
    if (asked[row].count == 0) continue;
    distinct.targets.push_back(targets[asked[row].first]);
    distinct.rows.push_back(row);
    distinct.counts.push_back(asked[row].count);
  }
  return distinct;
}

}  // namespace krohn
