#include "krohn/simulate/train/tables/table_cell.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

constexpr std::uint64_t kLeastWords = 2;
constexpr std::uint64_t kReportEvery = 64;

ModelAccuracy accuracy(const SequenceModel<float>& model, const Task& task, std::uint64_t length, std::uint64_t words,
                       const ExperimentOptions& options) {
  EvaluateModelOptions evaluation;
  evaluation.words = words;
  evaluation.rescaled = options.rescaled;
  evaluation.threads = options.threads;
  return evaluate_model(model, task, length, evaluation);
}

MeasuredLength measured(const ModelAccuracy& at, double chance) {
  const ProportionInterval interval = at.interval();
  return {at.length,
          at.words,
          scaled(at.accuracy(), chance),
          scaled(interval.low, chance),
          scaled(interval.high, chance),
          static_cast<double>(at.right_words) / static_cast<double>(at.words)};
}

MeasuredLength measure(const SequenceModel<float>& model, const Task& task, std::uint64_t length, std::uint64_t words,
                       const ExperimentOptions& options) {
  return measured(accuracy(model, task, length, words, options), task.info().chance);
}

/// Words of lengths in the range, each length as often.
MeasuredLength measure(const SequenceModel<float>& model, const Task& task, LengthRange range, std::uint64_t words,
                       const ExperimentOptions& options) {
  DatasetOptions dataset;
  dataset.lengths = range;
  dataset.seed = EvaluateModelOptions{}.seed;
  std::map<std::uint64_t, std::uint64_t> words_of;
  for (std::uint64_t word = 0; word < words; ++word) ++words_of[sample_length(task, dataset, word)];
  ModelAccuracy all{range.greatest, words, 0, 0, 0};
  for (const auto& [length, count] : words_of) {
    const ModelAccuracy at = accuracy(model, task, length, count, options);
    all.right += at.right;
    all.targets += at.targets;
    all.right_words += at.right_words;
  }
  return measured(all, task.info().chance);
}

/// `length`, or the next that the task has.
std::uint64_t length_of(const Task& task, std::uint64_t length) {
  while (!task.has_length(length)) ++length;
  return length;
}

std::string checkpoint_of(const std::string& model) { return model + ".checkpoint"; }

/// Out of the folder, or trained and put there.
TrainedRun trained_or_kept(const Experiment& experiment, const Task& task, const TrainOptions& training,
                           const ExperimentOptions& options, const std::function<void()>& on_step) {
  if (options.folder.empty()) return train_run(task, experiment.model, training, on_step);
  const std::string path = model_path(options.folder, training.optimiser.learning_rate, training.seed);
  if (std::filesystem::exists(path)) return load_trained_run(description(experiment), path);
  const std::string checkpoint = checkpoint_of(path);
  TrainedRun run = train_run(task, experiment.model, training, on_step, checkpoint);
  save_trained_run(run, experiment.task, description(experiment), path);
  std::filesystem::remove(checkpoint);
  return run;
}

struct MeasuredRun {
  ExperimentRun run;
  std::unique_ptr<SequenceModel<float>> model;
};

/// The tasks that an experiment trains and is tested on.
struct Tasks {
  std::unique_ptr<Task> trained, own_test;
  const Task& test() const { return own_test ? *own_test : *trained; }
};

Tasks tasks_of(const Experiment& experiment) {
  return {make_task(experiment.task), experiment.test_task.empty() ? nullptr : make_task(experiment.test_task)};
}

TrainOptions training_of(const Experiment& experiment, double rate, std::uint64_t seed) {
  TrainOptions training = experiment.training;
  training.optimiser.learning_rate = rate;
  training.seed = seed;
  return training;
}

/// Tells of the steps of one run.
std::function<void()> told_of_one(const Experiment& experiment, const ExperimentOptions& options) {
  return [&experiment, &options, done = std::uint64_t{0}]() mutable {
    if (options.progress && ++done % kReportEvery == 0) options.progress(done, experiment.training.optimiser.steps);
  };
}

MeasuredRun measured_run(const Experiment& experiment, const Tasks& tasks, double rate, std::uint64_t seed,
                         const ExperimentOptions& options, const std::function<void()>& on_step) {
  TrainedRun trained =
      trained_or_kept(experiment, *tasks.trained, training_of(experiment, rate, seed), options, on_step);
  MeasuredRun run{{trained.record, {}}, std::move(trained.model)};
  if (trained.record.diverged()) return run;
  const Task& task = tasks.test();
  run.run.at = experiment.test_lengths
                   ? measure(*run.model, task, *experiment.test_lengths, experiment.words, options)
                   : measure(*run.model, task, length_of(task, experiment.length), experiment.words, options);
  return run;
}

}  // namespace

std::string model_path(const std::string& folder, double rate, std::uint64_t seed) {
  return (std::filesystem::path(folder) / fmt::format("rate={}-seed={}.safetensors", rate, seed)).string();
}

std::string description(const Experiment& experiment) {
  const TrainOptions& t = experiment.training;
  const OptimiserOptions& by = t.optimiser;
  std::string text = fmt::format(
      "{} {} lengths={}-{} words={} steps={} {} warm_up={} least_rate={} weight_decay={} "
      "clip={} smoothing={} samples={} stop_at={} validate_every={} patience={}",
      experiment.task, experiment.model, t.lengths.least, t.lengths.greatest, t.words, by.steps, to_string(by.schedule),
      by.warm_up, by.least_rate, by.weight_decay, by.clip, t.smoothing, t.samples, t.stop_at, t.validate_every,
      t.patience);
  if (t.sample_seed) text += fmt::format(" sample_seed={}", *t.sample_seed);
  if (t.validation_lengths)
    text += fmt::format(" validation={}-{}", t.validation_lengths->least, t.validation_lengths->greatest);
  if (t.contract > 0) text += fmt::format(" contract={}", t.contract);
  if (by.coupled_decay > 0) text += fmt::format(" coupled_decay={}", by.coupled_decay);
  if (t.validation_words != TrainOptions{}.validation_words)
    text += fmt::format(" validation_words={}", t.validation_words);
  if (t.validate_last) text += " validate_last";
  if (t.keep_most_right) text += " keep_most_right";
  return text;
}

std::uint64_t ExperimentResult::holding_runs() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(runs, [](const ExperimentRun& run) { return run.at.words > 0 && run.at.whole == 1; }));
}

double ExperimentResult::seconds() const {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const ExperimentRun& run) { return sum + run.record.seconds; });
}

Spread spread_of(const std::vector<double>& figures) {
  if (figures.empty()) return {};
  const auto count = static_cast<double>(figures.size());
  const auto [least, greatest] = std::ranges::minmax(figures);
  Spread spread{std::accumulate(figures.begin(), figures.end(), 0.0) / count, 0, least, greatest};
  if (figures.size() == 1) return spread;
  double squares = 0;
  for (const double figure : figures) squares += (figure - spread.mean) * (figure - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

namespace {

/// Not in the folder yet.
std::vector<TrainOptions> missing_runs(const Experiment& experiment, const std::string& folder) {
  std::vector<TrainOptions> missing;
  for (const double rate : experiment.rates)
    for (const std::uint64_t seed : experiment.seeds)
      if (!std::filesystem::exists(model_path(folder, rate, seed)))
        missing.push_back(training_of(experiment, rate, seed));
  return missing;
}

std::vector<Trainer*> trainers_of(std::span<const std::unique_ptr<OpenRun>> runs) {
  std::vector<Trainer*> trainers;
  for (const auto& run : runs) trainers.push_back(&run->trainer());
  return trainers;
}

void train_beside(const Experiment& experiment, const Task& task, std::span<const TrainOptions> trainings,
                  const ExperimentOptions& options, const TrainSideBySide& train) {
  std::vector<std::unique_ptr<OpenRun>> runs;
  std::vector<std::string> paths;
  for (const TrainOptions& training : trainings) {
    paths.push_back(model_path(options.folder, training.optimiser.learning_rate, training.seed));
    runs.push_back(std::make_unique<OpenRun>(task, experiment.model, training, checkpoint_of(paths.back()),
                                             trainings.size(), true));
  }
  try {
    train(trainers_of(runs), [&](std::uint64_t steps) {
      if (options.progress) options.progress(steps, experiment.training.optimiser.steps * runs.size());
    });
  } catch (...) {
    for (const auto& run : runs) run->save();
    throw;
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    save_trained_run(runs[i]->take(), experiment.task, description(experiment), paths[i]);
    std::filesystem::remove(checkpoint_of(paths[i]));
  }
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kPriced = 0.1;  ///< seconds

/// A run whose steps are priced: it never validates.
TrainOptions priced_training(const Experiment& experiment, std::uint64_t seed) {
  TrainOptions training = training_of(experiment, experiment.rates.front(), seed);
  training.validate_every = training.optimiser.steps = std::uint64_t{1} << 40;
  training.keep_most_right = true;
  training.patience = 0;
  training.threads = 1;
  return training;
}

/// Seconds of a validation: a run of no steps makes one.
double validation_seconds(const Experiment& experiment, const Task& task) {
  TrainOptions training = training_of(experiment, experiment.rates.front(), experiment.seeds.front());
  training.optimiser.steps = 0;
  training.keep_most_right = false;
  training.threads = 1;
  const auto start = Clock::now();
  const Trainer validated(task, experiment.model, training);
  return seconds_since(start);
}

}  // namespace

double RunCost::seconds(const TrainOptions& training) const {
  const auto steps = static_cast<double>(training.optimiser.steps);
  return steps * step + (1 + std::floor(steps / static_cast<double>(training.validate_every))) * validation;
}

RunCost run_cost(const Experiment& experiment) {
  constexpr int kLeastSteps = 3;
  const auto task = make_task(experiment.task);
  malloc_trim(0);  // the memory of earlier runs is no longer theirs
  const std::uint64_t before = MemoryLimit::held();
  Trainer trainer(*task, experiment.model, priced_training(experiment, experiment.seeds.front()));
  trainer.step();  // takes its memory
  const auto start = Clock::now();
  std::uint64_t steps = 0;
  while ((steps < kLeastSteps || seconds_since(start) < kPriced) && trainer.state() == Trainer::State::kRunning) {
    trainer.step();
    ++steps;
    TimeLimit::check();
  }
  RunCost cost;
  cost.step = seconds_since(start) / static_cast<double>(std::max<std::uint64_t>(steps, 1));
  const std::uint64_t numbers = 4 * sizeof(float) * trainer.model().parameters().size();
  cost.bytes = std::max(numbers, MemoryLimit::held() - std::min(MemoryLimit::held(), before));
  cost.validation = validation_seconds(experiment, *task);
  return cost;
}

RunCost run_cost(const Experiment& experiment, std::size_t count, const TrainSideBySide& train) {
  struct Enough {};
  const auto task = make_task(experiment.task);
  std::vector<std::unique_ptr<OpenRun>> runs;
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back(std::make_unique<OpenRun>(
        *task, experiment.model, priced_training(experiment, experiment.seeds.front() + i), "", count, true));
  RunCost cost;
  std::optional<Clock::time_point> start;
  std::uint64_t first = 0;  // steps until the clock was started: they record the kernels
  try {
    train(trainers_of(runs), [&](std::uint64_t steps) {
      if (!start) {
        start = Clock::now();
        first = steps;
        return;
      }
      cost.step = seconds_since(*start) / static_cast<double>(steps - first);
      if (seconds_since(*start) >= kPriced) throw Enough();
    });
  } catch (const Enough&) {
  }
  if (cost.step == 0) throw InputError("the runs ended before their steps could be timed; their price is not known");
  cost.validation = validation_seconds(experiment, *task);
  cost.bytes = 4 * sizeof(float) * runs.front()->trainer().model().parameters().size();
  return cost;
}

void train_together(const Experiment& experiment, const ExperimentOptions& options, const TrainSideBySide& train) {
  const auto task = make_task(experiment.task);
  const std::vector<TrainOptions> missing = missing_runs(experiment, options.folder);
  for (std::size_t first = 0; first < missing.size(); first += kMaxBeside)
    train_beside(experiment, *task, std::span(missing).subspan(first, std::min(kMaxBeside, missing.size() - first)),
                 options, train);
}

void train_once(const Experiment& experiment, double rate, std::uint64_t seed, const ExperimentOptions& options) {
  trained_or_kept(experiment, *make_task(experiment.task), training_of(experiment, rate, seed), options,
                  told_of_one(experiment, options));
}

ExperimentRun run_once(const Experiment& experiment, double rate, std::uint64_t seed,
                       const ExperimentOptions& options) {
  return measured_run(experiment, tasks_of(experiment), rate, seed, options, told_of_one(experiment, options)).run;
}

ExperimentResult run_experiment(const Experiment& experiment, const ExperimentOptions& options) {
  const Tasks tasks = tasks_of(experiment);
  const Task& task = tasks.test();
  ExperimentResult result;
  std::unique_ptr<SequenceModel<float>> best;
  const std::uint64_t all = experiment.training.optimiser.steps * experiment.rates.size() * experiment.seeds.size();
  std::uint64_t done = 0;
  const auto on_step = [&] {
    if (options.progress && ++done % kReportEvery == 0) options.progress(done, all);
  };
  for (const double rate : experiment.rates)
    for (const std::uint64_t seed : experiment.seeds) {
      MeasuredRun measured = measured_run(experiment, tasks, rate, seed, options, on_step);
      result.runs.push_back(std::move(measured.run));
      const RunRecord& before = result.runs[result.best].record;
      const RunRecord& record = result.runs.back().record;
      const bool is_better =
          !record.diverged() && (before.diverged() || record.validation_loss < before.validation_loss);
      if (best != nullptr && !is_better) continue;
      result.best = result.runs.size() - 1;
      best = std::move(measured.model);
    }
  for (const std::uint64_t length : options.lengths) {
    const std::uint64_t words = std::clamp(options.letters / length, kLeastWords, std::max(options.words, kLeastWords));
    result.lengths.push_back(measure(*best, task, length_of(task, length), words, options));
    if (result.lengths.back().low <= 0) break;
  }
  result.reading = reading_of(*best, options.rescaled);
  if (options.rescaled) return result;
  const ModelFindings findings = examine_model(*best, task, experiment.training.lengths.least);
  result.claim = findings.claim;
  result.claim_length = findings.claim_length;
  result.snapped = findings.snapped;
  return result;
}

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
  constexpr const char* kWords[] = {"the run with the least validation loss",
                                    "the best of all runs, by the test",
                                    "the mean over seeds of the best rate of each, by the test",
                                    "the median over seeds, of the rate with the best one",
                                    "the best seed, of the rate with the best median",
                                    "the mean over runs of the best test while training"};
  return kWords[static_cast<std::size_t>(reported)];
}

}  // namespace krohn
