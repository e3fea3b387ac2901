#include "krohn/simulate/train/tables/reported_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

ReportedFigure mean_of(const std::vector<double>& figures) {
  const Spread spread = spread_of(figures);
  return {spread.mean, spread.deviation, 0};
}

/// The first of the rates whose median over the seeds is the greatest.
ReportedFigure of_median_rate(const std::vector<RunFigure>& runs, bool is_best) {
  std::map<double, std::vector<double>, std::greater<>> by_rate;
  for (const RunFigure& run : runs) by_rate[run.rate].push_back(run.test);
  const auto best = std::ranges::max_element(
      by_rate, [](const auto& a, const auto& b) { return median_of(a.second) < median_of(b.second); });
  const auto& [rate, figures] = *best;
  if (is_best) return {std::ranges::max(figures), 0, rate};
  const double median = median_of(figures);
  std::vector<double> distances;
  for (const double figure : figures) distances.push_back(std::abs(figure - median));
  return {median, median_of(std::move(distances)), rate};
}

}  // namespace

double median_of(std::vector<double> figures) {
  std::ranges::sort(figures);
  const std::size_t half = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[half] : (figures[half - 1] + figures[half]) / 2;
}

ReportedFigure reported_figure(Reported reported, const std::vector<RunFigure>& runs) {
  if (runs.empty()) throw InputError("a cell without runs reports nothing");
  switch (reported) {
    case Reported::kLeastLoss: {
      const auto least = std::ranges::min_element(runs, {}, &RunFigure::validation_loss);
      return {least->test, 0, least->rate};
    }
    case Reported::kBest: {
      const auto best = std::ranges::max_element(runs, {}, &RunFigure::test);
      return {best->test, 0, best->rate};
    }
    case Reported::kBestRate: {
      std::map<std::uint64_t, double> by_seed;
      for (const RunFigure& run : runs) {
        const auto [at, is_new] = by_seed.emplace(run.seed, run.test);
        at->second = std::max(at->second, run.test);
      }
      std::vector<double> figures;
      for (const auto& [seed, figure] : by_seed) figures.push_back(figure);
      return mean_of(figures);
    }
    case Reported::kMeanOfTrials: {
      std::vector<double> figures;
      for (const RunFigure& run : runs) figures.push_back(run.validated);
      return mean_of(figures);
    }
    default:
      return of_median_rate(runs, reported == Reported::kBestOfMedianRate);
  }
}

std::string to_string(Reported reported) {
  switch (reported) {
    case Reported::kLeastLoss:
      return "the run with the least validation loss";
    case Reported::kBest:
      return "the best of all runs, by the test";
    case Reported::kBestRate:
      return "the mean over seeds of the best rate of each, by the test";
    case Reported::kMedian:
      return "the median over seeds, of the rate with the best one";
    case Reported::kBestOfMedianRate:
      return "the best seed, of the rate with the best median";
    default:
      return "the mean over runs of the best test while training";
  }
}

}  // namespace krohn
