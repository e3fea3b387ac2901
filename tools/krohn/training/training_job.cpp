#include "tools/krohn/training/training_job.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/training/train_side_by_side.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/models.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/tasks_written.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/table.h"

namespace krohn {

void require_same_run(const TrainArguments& options, const std::string& task, const std::string& model,
                      std::span<const RateAndSeed> runs) {
  using nlohmann::json;
  namespace fs = std::filesystem;
  const fs::path folder(options.output), record = folder / "run.json";
  if (!fs::exists(folder / "parameters.safetensors")) return;
  const auto refuse = [&](const std::string& what) {
    throw InputError("-o",
                     fmt::format("{} {}; choose another folder, or delete this one", visible(options.output), what));
  };
  if (!fs::exists(record)) refuse("has a model, and no run.json that says of what");
  try {
    const json earlier = json::parse(read_file(record.string()));
    const auto earlier_task = earlier.at("task").get<std::string>(),
               earlier_model = earlier.at("model").get<std::string>();
    if (earlier_task != task || earlier_model != model)
      refuse(fmt::format("has a model of another command, {} on {}", visible(earlier_model), visible(earlier_task)));
    for (const json& run : earlier.at("runs")) {
      const RateAndSeed of{run.at("rate").get<double>(), run.at("seed").get<std::uint64_t>()};
      if (!std::ranges::count(runs, of))
        refuse(
            fmt::format("has a run of rate {} and seed {}, which this command is without: name it too, by --rates, "
                        "--seed and --seeds",
                        of.first, of.second));
      if (!options.certify && run.contains("certified") && run["certified"].at("proved").get<bool>())
        refuse("has a model that is proved, in place of which this command would leave one that is not: add --certify");
    }
  } catch (const json::exception&) {
    refuse("has a run.json that `krohn train` did not write");
  }
}

namespace {

namespace fs = std::filesystem;

/// Saves a job now and then while it runs, so that little is lost with the process.
class Saving {
 public:
  /// After so many steps each; 0: after half a minute each.
  Saving(const TrainingJob& job, std::uint64_t every) : job_(job), every_(every) {
    if (!fs::exists(job.checkpoint)) job.save();
  }

  void after_step() {
    if (every_ > 0 ? job_.trainer->steps() % every_ != 0 : Clock::now() - last_ < kPause) return;
    job_.save();
    last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPause{30};

  const TrainingJob& job_;
  std::uint64_t every_;
  Clock::time_point last_ = Clock::now();
};

LengthRange training_lengths(const TrainArguments& options, const Task& task) {
  if (options.lengths.empty()) return task.info().train;
  return parse_lengths(options.lengths);
}

constexpr char kRoundsKey[] = "rounds";

TensorFile read_checkpoint(const std::string& path) {
  try {
    return read_safetensors(path);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}; delete it, and the run starts from its beginning", error.what()));
  }
}

void resume(TrainingJob& job) {
  const TensorFile file = read_checkpoint(job.checkpoint);
  try {
    job.trainer->resume(file);
    if (const auto rounds = file.metadata.find(kRoundsKey); rounds != file.metadata.end())
      job.rounds.resume(parse_count(rounds->second, kRoundsKey));
  } catch (const InputError& error) {
    throw InputError(job.checkpoint, error.what());
  }
}

/// The source of a model's first weights, and its name; nothing where they are random.
struct Start {
  std::string name;
  std::optional<Network> network;
  std::unique_ptr<SequenceModel<float>> model = {};  ///< or a trained model
};

Start read_start(const TrainArguments& options) {
  if (options.init.empty()) {
    if (options.perturb > 0) throw InputError("--perturb", "there is nothing to perturb without --init");
    return {};
  }
  const std::string file = file_of_run(options.init);
  std::string name = "sha256:" + sha256(read_file(file)).substr(0, 16);
  if (options.perturb > 0) name += fmt::format("+{}", options.perturb);
  if (is_trained_model(file)) return {name, std::nullopt, load_model(file).model};
  return {name, load_network(file)};
}

TrainOptions training_options(const TrainArguments& options, const Task& task, double rate, std::uint64_t seed) {
  TrainOptions training;
  training.lengths = training_lengths(options, task);
  training.words = static_cast<std::uint32_t>(options.words);
  training.optimiser = options.optimiser;
  training.optimiser.learning_rate = rate;
  training.patience = options.patience;
  training.validate_every = options.validate_every;
  if (!options.validation_lengths.empty())
    training.validation_lengths = parse_lengths(options.validation_lengths, "--validation-length");
  training.validation_words = static_cast<std::uint32_t>(options.validation_words);
  training.validate_last = options.validate_last;
  training.keep_most_right = options.keep_most_right;
  training.stop_at = options.stop_at;
  training.smoothing = options.smoothing;
  training.contract = options.contract;
  training.samples = options.samples;
  training.sample_seed = options.sample_seed;
  // Runs side by side need nothing of each other, and threads within a step wait for each other: only where a number of
  // threads was asked for and one run would leave most of them idle.
  if (options.rates.size() * options.seeds == 1 && options.threads > 0) training.threads = options.threads;
  training.seed = seed;
  return training;
}

TrainingJob make_job(const TrainArguments& options, const Task& task, const Start& start, double rate,
                     std::uint64_t seed) {
  TrainOptions training = training_options(options, task, rate, seed);
  training.start = start.name;
  const auto prepare = [&](SequenceModel<float>& model) {
    if (start.model != nullptr) {
      if (start.model->name() != model.name())
        throw InputError("--init", fmt::format("{} holds {}, not {}; ask for that by --model", visible(options.init),
                                               start.model->name(), model.name()));
      model.load(start.model->tensors());
    } else if (start.network) {
      initialise_from(model, *start.network, task);
    } else {
      return;
    }
    if (options.perturb > 0) perturb(model, options.perturb, seed);
  };
  const std::string file = fmt::format("checkpoint-rate={}-seed={}.safetensors", rate, seed);
  TrainingJob job{training, (fs::path(options.output) / file).string(),
                  std::make_unique<Trainer>(task, options.model, training, prepare)};
  if (fs::exists(job.checkpoint)) resume(job);
  if (!options.certify && job.rounds.count() > 0)
    throw InputError("-o", fmt::format("{} is of a run with --certify, which moves letters on the way: add --certify, "
                                       "choose another folder, or delete it",
                                       visible(job.checkpoint)));
  return job;
}

}  // namespace

void TrainingJob::save() const {
  if (trainer->state() == Trainer::State::kDiverged) return;
  TensorFile file = trainer->checkpoint();
  if (rounds.count_to_keep() > 0) file.metadata[kRoundsKey] = std::to_string(rounds.count_to_keep());
  write_safetensors(file, checkpoint);
}

void check_seeds(std::uint64_t seeds) {
  constexpr std::uint64_t kMost = 100'000;
  if (seeds == 0 || seeds > kMost) throw InputError("--seeds", "1 to 100,000");
}

std::vector<RateAndSeed> rates_and_seeds(const TrainArguments& options) {
  std::vector<RateAndSeed> all;
  for (const double rate : options.rates) {
    if (!(rate > 0) || rate > 10)
      throw InputError("--rates", fmt::format("{} is not a learning rate above 0 and up to 10", rate));
    if (!all.empty() && std::ranges::count(options.rates, rate) > 1)
      throw InputError("--rates", fmt::format("{} stands there twice", rate));
    for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) all.emplace_back(rate, seed);
  }
  return all;
}

std::vector<TrainingJob> make_jobs(const TrainArguments& options, const Task& task, std::span<const RateAndSeed> runs) {
  const Start start = read_start(options);
  std::vector<TrainingJob> jobs;
  for (const auto& [rate, seed] : runs) jobs.push_back(make_job(options, task, start, rate, seed));
  return jobs;
}

void run_to_end(TrainingJob& job, const TrainArguments& options, const Task& task, const std::function<bool()>& go_on) {
  Saving saving(job, options.checkpoint_every);
  while (job.trainer->state() == Trainer::State::kRunning) {
    if (options.certify) job.rounds.before_step(*job.trainer, task);
    if (job.rounds.is_proved()) break;
    job.trainer->step();
    saving.after_step();
    if (!go_on()) return;
  }
  job.save();
  if (options.certify) job.rounds.at_end(*job.trainer, task);
}

void run_jobs(std::vector<TrainingJob>& jobs, const TrainArguments& options, const Task& task) {
  constexpr std::uint64_t kReportEvery = 16;
  Progress progress("training, steps");
  std::atomic<std::uint64_t> done = 0;
  std::atomic<bool> stop = false;
  for (const TrainingJob& job : jobs) done += job.trainer->steps();
  const auto go_on = [&] {
    if (++done % kReportEvery == 0) progress.update(done, options.optimiser.steps * jobs.size());
    return !stop;
  };
  try {
    parallel_for(jobs.size(), options.threads, [&](std::size_t i) {
      try {
        if (!stop) run_to_end(jobs[i], options, task, go_on);
      } catch (...) {
        stop = true;  // the others end at a whole step
        throw;
      }
    });
  } catch (...) {
    for (const TrainingJob& job : jobs) job.save();
    throw;
  }
  progress.update(done, options.optimiser.steps * jobs.size());
}

void run_jobs_on_device(std::vector<TrainingJob>& jobs, const TrainArguments& options) {
  Progress progress("training, steps");
  std::vector<Trainer*> trainers;
  for (const TrainingJob& job : jobs) trainers.push_back(job.trainer.get());
  const auto save = [&] {
    for (const TrainingJob& job : jobs) job.save();
  };
  try {
    train_side_by_side(Place::kDevice, trainers,
                       [&](std::uint64_t steps) { progress.update(steps, options.optimiser.steps * jobs.size()); });
  } catch (...) {
    save();
    throw;
  }
  save();
}

}  // namespace krohn
