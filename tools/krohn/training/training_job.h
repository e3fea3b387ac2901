// tools/krohn/training/training_job.h — the runs of `krohn train`, one for every learning rate and seed, with their
// checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/simulate/closing/proof_rounds.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/trainer.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {

struct TrainArguments {
  std::string task, model, output, init, schedule = "constant", device = "cpu", precision = "fp32";
  std::optional<LengthRange> lengths;  ///< the task's own without
  std::vector<double> rates{1e-3};
  std::uint64_t words = 64, validation_words = TrainOptions{}.validation_words, seeds = 1, checkpoint_every = 0;
  TrainOptions training;  ///< of every run, but for those above and its own rate and seed
  double perturb = 0;
  unsigned threads = 0;
  LanguageOptions reading;
  ShardOptions shards;
  bool json = false, certify = false, any_order = false;
  std::set<std::string> given{};  ///< of the options that take_recipe knows those of the command line
  std::string recipe{};           ///< the others, as take_recipe set them: " --clip 1"
};

/// The options that say what a run is: those of run.json, of the command that a report prints, and, as far as it has
/// them, of PyTorch's trainer.
void add_training_options(Verb& verb, TrainArguments& options);

/// With --contract, and without --init, the options of training that the command line lacks become those of
/// docs/verify.md, "Cells that forget".
void take_recipe(TrainArguments& options, const SequenceModel<float>& model);

/// The line of `krohn train` that makes the run of this run.json anew; empty where that names no task and model.
std::string training_command(const nlohmann::ordered_json& run, const std::string& output);

/// One learning rate and seed.
struct TrainingJob {
  TrainOptions options;
  std::string checkpoint;
  std::unique_ptr<Trainer> trainer;
  ProofRounds rounds{};  ///< with --certify

  /// The model to keep.
  const SequenceModel<float>& model() const {
    return rounds.is_proved() ? *rounds.last()->closing.model : trainer->model();
  }

  /// The last good state stays: a run that diverged would only diverge again from its own.
  void save() const;
};

/// Throws InputError for no seeds, and for more than 100,000: their runs are listed before the first one is trained.
void check_seeds(std::uint64_t seeds);

using RateAndSeed = std::pair<double, std::uint64_t>;

/// All runs that the options ask for. Throws InputError for a rate out of range.
std::vector<RateAndSeed> rates_and_seeds(const TrainArguments& options);

/// Each from its checkpoint in the folder of the run, where there is one.
std::vector<TrainingJob> make_jobs(const TrainArguments& options, const Task& task, std::span<const RateAndSeed> runs);

/// Trains to the end, or with --certify to the first proof, and saves; a checkpoint now and then on the way. `go_on` is
/// asked after every step: false ends at that step, without a last checkpoint. Whatever it throws passes through.
void run_to_end(TrainingJob& job, const TrainArguments& options, const Task& task, const std::function<bool()>& go_on);

/// Runs all jobs to their ends, several at a time. An interrupt leaves every job at a whole step, saved.
void run_jobs(std::vector<TrainingJob>& jobs, const TrainArguments& options, const Task& task);

/// The same side by side on a device.
void run_jobs_on_device(std::vector<TrainingJob>& jobs, const TrainArguments& options);

/// A folder keeps one model, which is chosen among all runs that it names: of one task and model, of no fewer rates and
/// seeds than before, and proved where it was proved. Throws InputError where this command would leave one that is not;
/// nothing where the folder has no model. `model`: its full name.
void require_same_run(const TrainArguments& options, const std::string& task, const std::string& model,
                      std::span<const RateAndSeed> runs);

}  // namespace krohn
