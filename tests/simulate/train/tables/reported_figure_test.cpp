// What a paper's way of counting makes of runs, against counting by hand and by trying all.

#include "krohn/simulate/train/tables/reported_figure.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/groups/error.h"
#include "krohn/groups/random.h"

using namespace krohn;

TEST_CASE("the papers' ways of counting, by hand") {
  // Two rates, three seeds: 0.1 has the better median, 0.01 the best run, the least loss and the best mean.
  const std::vector<RunFigure> runs{{0.1, 1, 0.5, 0.9, 3},  {0.1, 2, 0.6, 0.8, 4},  {0.1, 3, 0.7, 0.7, 5},
                                    {0.01, 1, 1.0, 0.6, 2}, {0.01, 2, 0.2, 0.5, 1}, {0.01, 3, 0.1, 0.1, 6}};
  const auto counted = [&](Reported reported) { return reported_figure(reported, runs); };
  CHECK(counted(Reported::kLeastLoss).figure == 0.2);
  CHECK(counted(Reported::kLeastLoss).rate == 0.01);
  CHECK(counted(Reported::kBest).figure == 1.0);
  CHECK(counted(Reported::kMedian).figure == 0.6);
  CHECK(counted(Reported::kMedian).spread == doctest::Approx(0.1));
  CHECK(counted(Reported::kMedian).rate == 0.1);
  CHECK(counted(Reported::kBestOfMedianRate).figure == 0.7);
  CHECK(counted(Reported::kBestRate).figure == doctest::Approx((1.0 + 0.6 + 0.7) / 3));
  CHECK(counted(Reported::kMeanOfTrials).figure == doctest::Approx(0.6));
  CHECK_THROWS_AS(reported_figure(Reported::kBest, {}), InputError);
}

TEST_CASE("the median of an even number of figures is the mean of the middle two") {
  CHECK(median_of({3}) == 3);
  CHECK(median_of({4, 1}) == 2.5);
  CHECK(median_of({9, 1, 4}) == 4);
  CHECK(median_of({8, 1, 100, 2}) == 5);
}

TEST_CASE("of random runs: medians split the seeds, the best rate of a seed is one of its runs") {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t rates = 1 + random.next() % 4, seeds = 1 + random.next() % 6;
    std::vector<RunFigure> runs;
    for (std::uint64_t rate = 1; rate <= rates; ++rate)
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        runs.push_back({static_cast<double>(rate), seed, static_cast<double>(random.next() % 100), 0, 0});
    const ReportedFigure median = reported_figure(Reported::kMedian, runs);
    double best_sum = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      double best = -1;
      for (const RunFigure& run : runs)
        if (run.seed == seed) best = std::max(best, run.test);
      best_sum += best;
    }
    CHECK(reported_figure(Reported::kBestRate, runs).figure ==
          doctest::Approx(best_sum / static_cast<double>(seeds)).epsilon(1e-12));
    for (double rate = 1; rate <= static_cast<double>(rates); ++rate) {
      std::uint64_t above = 0, below = 0;
      for (const RunFigure& run : runs) {
        if (run.rate != rate) continue;
        above += run.test > median.figure;
        below += run.test < median.figure;
      }
      CHECK(2 * above <= seeds);  // no rate has a greater median
      if (rate == median.rate) CHECK(2 * below <= seeds);
    }
  }
}
