#include "krohn/simulate/models/token_slices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "krohn/groups/random.h"

using namespace krohn;

TEST_CASE("what is asked at each row, once, and how often") {
  Random random(5);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random.below(bound)); };
  int several = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    TokenRows rows;
    const std::uint32_t words = 1 + below(4), labels = 1 + below(3);
    rows.place.resize(words);
    for (std::uint32_t word = 0; word < words; ++word) {
      rows.place[word] = word;
      rows.source.resize(rows.source.size() + below(4));
      rows.first.push_back(rows.source.size());
    }
    std::vector<TrainingBatch::Target> targets;
    using Asked = std::tuple<std::size_t, TaskLabel, float>;
    std::map<Asked, std::uint32_t> expected, found;
    for (std::uint32_t i = below(8); rows.tokens() > 0 && i > 0; --i) {
      const std::uint32_t word = below(words);
      if (rows.length(word) == 0) continue;
      const auto position = below(static_cast<std::uint32_t>(rows.length(word)));
      targets.push_back({position, word, below(labels), below(4) == 0 ? 0.5F : 0.0F});
      ++expected[{rows.row(word, position), targets.back().label, targets.back().smoothing}];
    }
    const DistinctTargets distinct = distinct_targets(targets, rows);
    for (std::size_t i = 0; i < distinct.rows.size(); ++i) {
      const TrainingBatch::Target& target = distinct.targets[i];
      CHECK(rows.row(target.word, target.position) == distinct.rows[i]);
      found[{distinct.rows[i], target.label, target.smoothing}] += distinct.counts[i];
    }
    CHECK(found == expected);
    CHECK(std::ranges::is_sorted(distinct.rows));
    const auto repeated = std::ranges::adjacent_find(distinct.rows) != distinct.rows.end();
    CHECK(distinct.rows.size() == expected.size());
    several += repeated;
  }
  CHECK(several > 300);
  CHECK(several < 2700);
}

TEST_CASE("slices are as long as the cache wants, and longer where parameters are many") {
  // Three slices of 656 tokens, made even: the 336,384th parameter lengthens them by one, so that there are two.
  TrainingBatch batch;
  batch.words = 1968;
  batch.lengths.assign(batch.words, 1);
  std::vector<std::uint32_t> words(batch.words);
  std::iota(words.begin(), words.end(), 0);
  const auto count = [&](std::size_t parameters) { return slices_of(batch, words, {}, parameters).size(); };
  CHECK(count(0) == 4);
  CHECK(count(657 * 512 - 1) == 4);
  CHECK(count(657 * 512) == 2);
  CHECK(count(std::size_t{1} << 28) == 1);
}
