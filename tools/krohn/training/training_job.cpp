#include "tools/krohn/training/training_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/tasks_written.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"

namespace krohn {

namespace {

nlohmann::ordered_json range_json(const std::optional<LengthRange>& range) {
  return range ? nlohmann::ordered_json{range->least, range->greatest} : nlohmann::ordered_json();
}

VerbOption add_lengths(Verb& verb, const char* name, std::optional<LengthRange>& target, const char* description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_lengths(text, name); }, description,
          [&target] { return range_json(target); })
      .type_name("N|M..N");
}

/// The check of an option that passes all and notes that the command line has it.
std::function<std::string(const std::string&)> noted(TrainArguments& options, const char* name) {
  return [&options, name](const std::string&) { return options.given.insert(name), std::string(); };
}

}  // namespace

void take_recipe(TrainArguments& options, const SequenceModel<float>& model) {
  const auto* const cell = dynamic_cast<const CellModel<float>*>(&model);
  if (cell == nullptr || options.training.contract == 0 || !options.init.empty()) return;
  OptimiserOptions& by = options.training.optimiser;
  const auto take = [&options](const char* name, auto& target, const auto& value, const std::string& text) {
    if (options.given.contains(name)) return;
    target = value;
    options.recipe += fmt::format(" {} {}", name, text);
  };
  if (!options.lengths) options.lengths = {1, 20}, options.recipe += " --length 1..20";
  const std::string& kind = cell->shape().cell;
  const bool is_gru = kind == "gru";  // at 1e-2 some unlearn a group again once the terms have their weight
  take("--rates", options.rates, std::vector{is_gru ? 5e-3 : 1e-2}, is_gru ? "5e-3" : "1e-2");
  take("--steps", by.steps, std::uint64_t{10'000}, "10000");
  take("--stop-at", options.training.stop_at, 0.0, "0");
  take("--clip", by.clip, 1.0, "1");
  take("--schedule", options.schedule, "cosine", "cosine");
  by.schedule = parse_schedule(options.schedule);
  // The gates of an LSTM may shut for good; decay keeps them from that, as a term of its own does a GRU's.
  if (kind == "lstm") take("--weight-decay", by.weight_decay, 0.3, "0.3");
}

void add_training_options(Verb& verb, TrainArguments& options) {
  TrainOptions& training = options.training;
  OptimiserOptions& by = training.optimiser;
  add_lengths(verb, "--length", options.lengths, "Lengths to train on, instead of the paper's").key("lengths");
  verb.add_list("--rates", options.rates, "Learning rates")
      .type_name("R,…")
      .checked(noted(options, "--rates"))
      .show_default(fmt::format("{:g}", fmt::join(options.rates, ",")));
  add_count(verb, "--steps", by.steps, "Steps of the optimiser, at most").checked(noted(options, "--steps"));
  add_count(verb, "--words", options.words, "Samples in a step");
  add_count(verb, "--seeds", options.seeds, "Runs for every learning rate");
  verb.add_option("--smoothing", training.smoothing, "Probability that targets spread over all labels")
      .between(0.0, 0.9);
  verb.add_option(
          "--contract", training.contract,
          "Of cells and layers of other libraries: weight by which two readings with noise are drawn together (3 to "
          "10 are tried), beside a term that keeps a bare GRU's update gates open; 0: off")
      .between(0.0, 1e6);
  add_count(verb, "--samples", training.samples, "Train on this many samples again and again; 0: always on new ones");
  add_optional_count(verb, "--sample-seed", training.sample_seed,
                     "Seed of the samples, shared by all runs; without it each has its own");
  verb.add_option("--stop-at", training.stop_at, "Validation loss that ends a run")
      .checked(noted(options, "--stop-at"));
  verb.add_option("--clip", by.clip, "Greatest norm of a gradient; 0: any").checked(noted(options, "--clip"));
  verb.add_option("--schedule", options.schedule, "constant, or cosine: falling to --least-rate at the last step")
      .checked(noted(options, "--schedule"))
      .show_default();
  add_count(verb, "--warmup", by.warm_up, "First steps, over which the rate grows from 0").key("warm_up");
  verb.add_option("--least-rate", by.least_rate, "Where a cosine ends").between(0.0, 10.0);
  verb.add_option("--weight-decay", by.weight_decay, "AdamW's; 0: Adam")
      .between(0.0, 10.0)
      .checked(noted(options, "--weight-decay"));
  verb.add_option("--coupled-decay", by.coupled_decay, "Added to the gradient, as in torch.optim.Adam")
      .between(0.0, 10.0);
  add_count(verb, "--validate-every", training.validate_every, "Steps between validations");
  add_count(verb, "--patience", training.patience,
            "Validations without a smaller loss that end a run, which keeps the parameters of the smallest; 0: any");
  add_lengths(verb, "--validation-length", training.validation_lengths,
              "Lengths that validate; those of training without it")
      .key("validation_lengths");
  add_count(verb, "--validation-words", options.validation_words, "Words that validate");
  verb.add_flag("--validate-last", training.validate_last, "Of every word that validates only the last answer counts");
  verb.add_flag("--keep-most-right", training.keep_most_right,
                "Keep the parameters of the validation with the most right answers, and end when all are right");
  add_device(verb, options.device, "Where: on a device all runs step side by side, with other last bits");
  verb.add_flag(
      "--certify", options.certify,
      "Prove what is trained, as it is or rounded to a model of the same architecture, and train on until then");
  verb.add_flag("--any-order", options.any_order,
                "With --contract and --certify: train on until the proof holds for every order of sums");
  verb.add_option("--precision", options.precision, "Of a proof with --any-order").one_of({"fp32", "bf16", "fp16"});
  add_seed(verb, training.seed);
}

std::string training_command(const nlohmann::ordered_json& run, const std::string& output) try {
  std::string line = fmt::format("krohn train {} --model {}", shell_word(run.at("task")), shell_word(run.at("model"))) +
                     Verb(add_training_options, TrainArguments{}).options_text(run) +
                     language_options_text(run.value("reading", nlohmann::ordered_json::object()));
  if (run.contains("init"))
    line += fmt::format(" --init {} --perturb {}", shell_word(run["init"].at("file")),
                        run["init"].at("perturb").get<double>());
  return line + " -o " + shell_word(output);
} catch (const nlohmann::json::exception&) {
  return "";
}

void require_same_run(const TrainArguments& options, const std::string& task, const std::string& model,
                      std::span<const RateAndSeed> runs) {
  using nlohmann::json;
  namespace fs = std::filesystem;
  const fs::path folder(options.output), record = folder / "run.json";
  std::error_code error;
  if (!fs::exists(folder / "parameters.safetensors", error)) return;
  const auto refuse = [&](const std::string& what) {
    throw InputError("-o",
                     fmt::format("{} {}; choose another folder, or delete this one", visible(options.output), what));
  };
  if (!fs::exists(record, error)) refuse("has a model, and no run.json that says of what");
  try {
    const json earlier = parse_strict_json(read_file(record.string()), record.string());
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
        refuse("has a proved model, which this command would replace by one that is not: add --certify");
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

/// The rows of a trained model are letters and answers by their number; other names are no matter.
void require_order(std::span<const std::string> own, std::span<const std::string> wanted, const char* what,
                   const TrainArguments& options) {
  if (own.size() != wanted.size() || (!std::ranges::equal(own, wanted) && std::ranges::is_permutation(own, wanted)))
    throw InputError("--init", fmt::format("{} was made for other {} than {} has, or for these in another order",
                                           visible(options.init), what, visible(options.task)));
}

Start read_start(const TrainArguments& options, const Task& task) {
  if (options.init.empty()) {
    if (options.perturb > 0) throw InputError("--perturb", "there is nothing to perturb without --init");
    return {};
  }
  const std::string file = file_of_run(options.init);
  std::string name = "sha256:" + sha256(read_file(file)).substr(0, 16);
  if (options.perturb > 0) name += fmt::format("+{}", options.perturb);
  if (is_trained_model(file)) {
    TrainedModel trained = load_model(file);
    const auto own = restored_task(trained.task, trained.metadata, options.reading, file);
    require_order(own->alphabet().names(), task.alphabet().names(), "letters", options);
    require_order(own->labels(), task.labels(), "answers", options);
    return {name, std::nullopt, std::move(trained.model)};
  }
  return {name, load_network(file)};
}

TrainOptions training_options(const TrainArguments& options, double rate, std::uint64_t seed) {
  TrainOptions training = options.training;
  training.lengths = options.lengths.value();
  training.words = static_cast<std::uint32_t>(options.words);
  training.validation_words = static_cast<std::uint32_t>(options.validation_words);
  training.optimiser.learning_rate = rate;
  training.seed = seed;
  // Runs side by side need nothing of each other, and threads within a step wait for each other: only where a number of
  // threads was asked for and one run would leave most of them idle.
  if (options.rates.size() * options.seeds == 1 && options.threads > 0) training.threads = options.threads;
  return training;
}

TrainingJob make_job(const TrainArguments& options, const Task& task, const Start& start, double rate,
                     std::uint64_t seed) {
  TrainOptions training = training_options(options, rate, seed);
  training.start = start.name;
  const auto prepare = [&](SequenceModel<float>& model) {
    if (start.model != nullptr) {
      if (start.model->name() != model.name())
        throw InputError("--init", fmt::format("{} holds another model than {}; take --model {}", visible(options.init),
                                               model.name(), start.model->name()));
      model.load(start.model->tensors());
      model.fix_as(*start.model);
    } else if (start.network) {
      initialise_from(model, *start.network, task);
    } else {
      return;
    }
    if (options.perturb > 0) perturb(model, options.perturb, seed);
  };
  const std::string file = fmt::format("{}{}-seed={}.safetensors", kCheckpointOfRun, rate, seed);
  TrainingJob job{training, (fs::path(options.output) / file).string(),
                  std::make_unique<Trainer>(task, options.model, training, prepare)};
  std::error_code error;
  if (fs::exists(job.checkpoint, error)) resume(job);
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
  constexpr std::uint64_t kMax = 100'000;
  if (seeds == 0 || seeds > kMax) throw InputError("--seeds", "1 to 100,000");
}

std::vector<RateAndSeed> rates_and_seeds(const TrainArguments& options) {
  std::vector<RateAndSeed> all;
  for (const double rate : options.rates) {
    if (!(rate > 0) || rate > 10)
      throw InputError("--rates", fmt::format("{} is not a learning rate above 0 and up to 10", rate));
    if (!all.empty() && std::ranges::count(options.rates, rate) > 1)
      throw InputError("--rates", fmt::format("{} is given twice", rate));
    for (std::uint64_t seed = options.training.seed; seed < options.training.seed + options.seeds; ++seed)
      all.emplace_back(rate, seed);
  }
  return all;
}

std::vector<TrainingJob> make_jobs(const TrainArguments& options, const Task& task, std::span<const RateAndSeed> runs) {
  const Start start = read_start(options, task);
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
    if (++done % kReportEvery == 0) progress.update(done, options.training.optimiser.steps * jobs.size());
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
  progress.update(done, options.training.optimiser.steps * jobs.size());
}

void run_jobs_on_device(std::vector<TrainingJob>& jobs, const TrainArguments& options) {
  Progress progress("training, steps");
  std::vector<Trainer*> trainers;
  for (const TrainingJob& job : jobs) trainers.push_back(job.trainer.get());
  const auto save = [&] {
    for (const TrainingJob& job : jobs) job.save();
  };
  try {
    train_side_by_side(Place::kDevice, trainers, [&](std::uint64_t steps) {
      progress.update(steps, options.training.optimiser.steps * jobs.size());
    });
  } catch (...) {
    save();
    throw;
  }
  save();
}

}  // namespace krohn
