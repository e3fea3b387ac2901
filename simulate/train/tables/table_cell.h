// simulate/train/tables/table_cell.h — one cell of a paper's table, done anew: train, measure far past the paper's
// length, and say what is proved of the model that came out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trained_run.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// Which figure of a cell's runs the paper prints.
enum class Reported : std::uint8_t {
  kLeastLoss,         ///< the test of the run with the least validation loss
  kBest,              ///< the best test of all runs
  kBestRate,          ///< the best test of the rates, for every seed by itself; here their mean
  kMedian,            ///< the median over the seeds of the rate whose median is the greatest
  kBestOfMedianRate,  ///< the best over the seeds of that rate
  kMeanOfTrials,      ///< the mean over the runs of what each kept at a validation, which are the paper's tests
};

struct Experiment {
  std::string row, column;  ///< where it stands in the table
  std::string task, model;  ///< the arguments of make_task and make_model
  TrainOptions training;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;           ///< a run for every rate and seed
  std::optional<double> paper;                ///< the paper's figure at `length`, scaled
  std::uint64_t length = 500;                 ///< that the paper tests at
  std::uint64_t words = 300;                  ///< on which every run is tested at that length
  double expected_share = -1;                 ///< of runs that hold, where theory says one; otherwise −1
  std::optional<double> paper_trained{};      ///< its figure at the lengths of training
  std::optional<LengthRange> test_lengths{};  ///< it tests at, each as often, in place of `length` alone
  std::string test_task{};                    ///< the task of the test; empty: the task of training
  Reported reported = Reported::kLeastLoss;
};

/// All that determines the parameters of its runs, but for rate and seed. Options that are not used are not named, so
/// that runs keep their description when there are new ones.
std::string description(const Experiment& experiment);

/// Answers at one length, as MODEL.accuracy.
struct MeasuredLength {
  std::uint64_t length = 0, words = 0;
  double scaled = 0, low = 0, high = 0;
  double whole = 0;  ///< share of words whose answers are all right
};

/// One learning rate and seed.
struct ExperimentRun {
  RunRecord record;
  MeasuredLength at;  ///< the paper's length; no words where the run diverged
};

struct ExperimentResult {
  std::vector<ExperimentRun> runs;
  std::size_t best = 0;                 ///< the run with the least validation loss, which the rest is about
  std::vector<MeasuredLength> lengths;  ///< those asked for
  std::string reading;                  ///< which function the accuracies are of (reading_of)
  std::string claim;  ///< "proved", "proved up to a length", "refuted", or why nothing can be; empty where `rescaled`
  std::uint64_t claim_length = 0;  ///< letters proved, or of the word that refutes
  std::string snapped;             ///< the construction that it was snapped to and proved; empty: it was not

  /// Runs that were right on all test words of the paper's length.
  std::uint64_t holding_runs() const;
  double seconds() const;  ///< of training, all runs
};

/// Mean, standard deviation (n − 1) and range of a figure over runs.
struct Spread {
  double mean = 0, deviation = 0, least = 0, greatest = 0;
};
Spread spread_of(const std::vector<double>& figures);

struct ExperimentOptions {
  std::vector<std::uint64_t> lengths{500, 10'000, 1'000'000};  ///< the next longer one where the task lacks it
  std::uint64_t words = 300;                                   ///< of every length, while letters allow
  std::uint64_t letters = 1'000'000;  ///< read at every length but the paper's, at most, but for two words
  unsigned threads = 0;
  bool rescaled = false;  ///< measure another function than the model (EvaluateModelOptions); nothing is claimed then
  std::string folder;     ///< keeps every run's model, which is not trained again; empty: nothing is kept
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< steps done, steps in all; may throw Interrupted
};

/// One run of an experiment, trained where it is not in the folder; not measured.
void train_once(const Experiment& experiment, double rate, std::uint64_t seed, const ExperimentOptions& options);

/// One run of an experiment, trained or out of the folder, and measured at the paper's length.
ExperimentRun run_once(const Experiment& experiment, double rate, std::uint64_t seed, const ExperimentOptions& options);

/// Takes trainers of one shape to their ends side by side, telling the steps of all of them; it may throw as
/// train_side_by_side of a device does.
using TrainSideBySide =
    std::function<void(std::span<Trainer* const>, const std::function<void(std::uint64_t)>& progress)>;

/// All runs of an experiment that are not in the folder, side by side, as many at a time as `kMaxBeside`, and puts
/// them there. What was done is kept where anything is thrown.
void train_together(const Experiment& experiment, const ExperimentOptions& options, const TrainSideBySide& train);

inline constexpr std::size_t kMaxBeside = 64;

/// The price of a run, by its first steps.
struct RunCost {
  double step = 0;          ///< seconds, of one run; where runs are side by side, its share
  double validation = 0;    ///< seconds
  std::uint64_t bytes = 0;  ///< that a run holds on the processor, at least those of its numbers
  /// The seconds of all steps and validations, if no run ends before its last step.
  double seconds(const TrainOptions& training) const;
};

/// Trains a run for a tenth of a second, or three steps if that is longer.
RunCost run_cost(const Experiment& experiment);
/// Trains `runs` runs side by side for so long. Throws as `train` does.
RunCost run_cost(const Experiment& experiment, std::size_t runs, const TrainSideBySide& train);

/// Where the folder keeps the model of a run.
std::string model_path(const std::string& folder, double rate, std::uint64_t seed);

/// Trains every rate and seed, takes the run with the least validation loss, and examines it. A length is left out
/// where a shorter one was no better than chance. Deterministic but for `seconds` and what the search for bounds finds
/// in its time.
ExperimentResult run_experiment(const Experiment& experiment, const ExperimentOptions& options);

/// One run: its figure at the paper's length, and by validation; scaled.
struct RunFigure {
  double rate = 0;
  std::uint64_t seed = 0;
  double test = 0, validated = 0, validation_loss = 0;
};

struct ReportedFigure {
  double figure = 0;
  /// Beside a mean the standard deviation (n − 1), beside a median the median of the distances from it; otherwise 0.
  double spread = 0;
  double rate = 0;  ///< the one that was chosen; 0 where each seed or run has its own
};

/// For an even number of figures, the mean of the middle two. Precondition: there is one.
double median_of(std::vector<double> figures);

/// Throws InputError when there are no runs.
ReportedFigure reported_figure(Reported reported, const std::vector<RunFigure>& runs);

/// "best of all runs", ….
std::string to_string(Reported reported);

}  // namespace krohn
