// krohn train — trains a model on a task.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/training/training_job.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

/// The run with the least validation loss among those that are proved, or where none is, that did not diverge.
const TrainingJob* best_of(const std::vector<TrainingJob>& jobs) {
  const TrainingJob* best = nullptr;
  const auto rank = [](const TrainingJob& job) {
    return std::pair(!job.rounds.is_proved(), job.trainer->validation().loss);
  };
  for (const TrainingJob& job : jobs)
    if (job.trainer->state() != Trainer::State::kDiverged && (best == nullptr || rank(job) < rank(*best))) best = &job;
  return best;
}

/// Words of the paper's greatest length, or where no paper has the task, of the length that most have. They choose
/// nothing.
nlohmann::ordered_json test_of(const SequenceModel<float>& model, const Task& task, const TrainArguments& options) {
  constexpr std::uint64_t kWords = 100, kLength = 500;
  Progress progress("testing letters");
  EvaluateModelOptions evaluation;
  evaluation.words = kWords;
  evaluation.threads = options.threads;
  evaluation.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
  std::uint64_t length = task.info().test.greatest > 0 ? task.info().test.greatest : kLength;
  while (!task.has_length(length)) ++length;
  const ModelAccuracy at = evaluate_model(model, task, length, evaluation);
  return {{"length", at.length},
          {"words", at.words},
          {"seed", evaluation.seed},
          {"reading", reading_of(model, evaluation.rescaled)},
          {"answers", at.targets},
          {"right", at.right},
          {"scaled_accuracy", scaled(at.accuracy(), task.info().chance)},
          {"words_right", at.right_words}};
}

/// The attempts to prove the run, and the reason where it was not proved.
nlohmann::ordered_json certified_json(const TrainingJob& job, const Task& task, const TrainArguments& options) {
  nlohmann::ordered_json json{{"proved", job.rounds.is_proved()}, {"rounds", job.rounds.count()}};
  if (!job.rounds.is_proved()) json["why_not"] = job.rounds.why_not();
  if (!job.rounds.last()) return json;
  const Closing& closing = job.rounds.last()->closing;
  if (closing.model == nullptr) return json;
  json["rounded"] = closing.what;
  if (closing.moves_numbers()) json["greatest_move"] = closing.moved;
  json["parts_kept"] = closing.kept;
  json["greatest_share"] = closing.share;
  json["parts_by_states"] = closing.by_states;
  json["parts_silenced"] = closing.dropped;
  json["readout_steps"] = closing.readout_steps;
  if (!job.rounds.is_proved()) return json;
  json["pairs"] = job.rounds.last()->certificate.pairs;
  json["evidence"] = job.rounds.last()->certificate.evidence;
  json["claim"] = claim_in_words(job.rounds.last()->certificate, input_machine(task).automaton.alphabet());
  json["test"] = test_of(*closing.model, task, options);
  return json;
}

nlohmann::ordered_json run_json(const TrainingJob& job) {
  const RunRecord record = record_of(*job.trainer, 0);
  nlohmann::ordered_json json{{"rate", record.rate},        {"seed", record.seed},
                              {"steps", record.steps},      {"state", job.rounds.is_proved() ? "proved" : record.end},
                              {"validation_loss", nullptr}, {"validation_accuracy", nullptr}};
  if (const auto accuracy = record.accuracy()) {
    json["validation_loss"] = record.validation_loss;
    json["validation_accuracy"] = *accuracy;
  }
  return json;
}

nlohmann::ordered_json training_json(const TrainArguments& options, const Task& task,
                                     const std::vector<TrainingJob>& jobs, const TrainingJob* best) {
  nlohmann::ordered_json json{{"task", task.info().name},
                              {"model", jobs.front().trainer->model().name()},
                              {"parameters", jobs.front().trainer->model().parameters().size()}};
  json.update(Verb(add_training_options, options).options_json());
  if (nlohmann::ordered_json reading = language_options_json(options.reading); !reading.empty())
    json["reading"] = std::move(reading);
  if (!options.init.empty()) json["init"] = {{"file", options.init}, {"perturb", options.perturb}};
  for (const TrainingJob& job : jobs) {
    nlohmann::ordered_json run = run_json(job);
    if (job.trainer->state() != Trainer::State::kDiverged) run["test"] = test_of(job.trainer->model(), task, options);
    if (options.certify) run["certified"] = certified_json(job, task, options);
    run["best"] = &job == best;
    json["runs"].push_back(std::move(run));
  }
  return json;
}

void report_certified(const nlohmann::ordered_json& runs) {
  fmt::print("Loss and accuracy are measured before any rounding.\n");
  for (const auto& run : runs) {
    const auto& certified = run["certified"];
    const std::string which =
        fmt::format("rate {}, seed {}", run["rate"].get<double>(), run["seed"].get<std::uint64_t>());
    if (certified["proved"].get<bool>())
      fmt::print("  {}: {}; {}{}\n", which, visible(certified["claim"].get<std::string>()),
                 certified["rounded"].get<std::string>(),
                 certified.contains("greatest_move")
                     ? fmt::format(", moved by at most {:.2g}", certified["greatest_move"].get<double>())
                     : "");
    else
      fmt::print("  {}: not proved: {}\n", which, visible(certified["why_not"].get<std::string>()));
  }
}

void report_training(const TrainArguments& options, const nlohmann::ordered_json& json) {
  fmt::print("{}: {} on {}, {}\n", visible(options.output), json["model"].get<std::string>(),
             json["task"].get<std::string>(), counted(json["parameters"].get<std::uint64_t>(), "parameter"));
  std::vector<std::vector<std::string>> rows = {{"rate", "seed", "steps", "", "validation loss", "accuracy", ""}};
  const auto number = [](const nlohmann::ordered_json& value, const char* form) {
    return value.is_null() ? "none" : fmt::format(fmt::runtime(form), value.get<double>());
  };
  for (const auto& run : json["runs"])
    rows.push_back({fmt::format("{}", run["rate"].get<double>()), std::to_string(run["seed"].get<std::uint64_t>()),
                    with_thousands(run["steps"].get<std::uint64_t>()), run["state"].get<std::string>(),
                    number(run["validation_loss"], "{:.2g}"), number(run["validation_accuracy"], "{:.4f}"),
                    run["best"].get<bool>() ? "best" : ""});
  fmt::print("{}", format_table(rows));
  if (!options.recipe.empty()) fmt::print("Trained with the defaults of --contract:{}\n", options.recipe);
  if (options.certify) report_certified(json["runs"]);
}

/// Writes the best model, as it was before it was rounded too, and its recurrence as a network where there is one.
/// Returns why not, or nothing.
std::string save_best(const TrainArguments& options, const Task& task, const TrainingJob& best) {
  const SequenceModel<float>& model = best.model();
  const std::map<std::string, std::string> stored = stored_task(task, options.reading);
  save_model(task.info().name, model, (fs::path(options.output) / "parameters.safetensors").string(), stored);
  if (best.rounds.is_proved())
    save_model(task.info().name, best.trainer->model(), (fs::path(options.output) / "trained.safetensors").string(),
               stored);
  else
    fs::remove(fs::path(options.output) / "trained.safetensors");  // an earlier run's, of another model
  try {
    save_network(network_of(model, task), (fs::path(options.output) / "network.safetensors").string());
    return "";
  } catch (const InputError& error) {
    fs::remove(fs::path(options.output) / "network.safetensors");  // an earlier run's, of another model
    return error.what();
  }
}

/// Before the first step, not after the last.
void require_roundable(const SequenceModel<float>& model, const Task& task) {
  const std::string why = why_never_rounded(model, task);
  if (!why.empty())
    throw InputError("--certify", fmt::format("{} is never rounded: {}{}", model.name(), why,
                                              model.reads_twice() ? "; --contract may have it proved as it is" : ""));
}

void check_training(const TrainArguments& options) {
  if (options.training.contract > 0 && wants_cuda(options.device))
    throw InputError("--contract", "reads words twice on the processor; take --device cpu");
  if (options.certify && wants_cuda(options.device))
    throw InputError("--certify", "rounds between steps on the processor; take --device cpu");
  for (const auto& [option, words] :
       {std::pair("--words", options.words), {"--validation-words", options.validation_words}})
    if (words == 0 || words > 1 << 16) throw InputError(option, "1 to 65536 words");
  check_seeds(options.seeds);
  const TrainOptions& training = options.training;
  if (training.validate_every == 0) throw InputError("--validate-every", "at least one");
  if (training.keep_most_right && training.patience > 0)
    throw InputError("--keep-most-right", "takes no --patience, which waits for a smaller loss");
  if (options.any_order && !(options.certify && training.contract > 0))
    throw InputError("--any-order", "is for proofs of what learns to contract: add --contract 3 --certify");
  if (options.precision != "fp32" && !options.any_order)
    throw InputError("--precision", "is the format of proofs for every order of sums: add --any-order");
  if (training.keep_most_right && options.certify)
    throw InputError("--keep-most-right", "takes no --certify, which rounds the last parameters");
  const OptimiserOptions& by = training.optimiser;
  if (!(by.clip >= 0) || !std::isfinite(by.clip)) throw InputError("--clip", "0, or the greatest norm of a gradient");
  if (by.warm_up > by.steps)
    throw InputError("--warmup", fmt::format("{} steps are more than the run's {}", by.warm_up, by.steps));
}

int list_models() {
  for (const ModelFamily& family : model_families())
    fmt::print("{}\n    {}{}\n", family.pattern, family.summary,
               family.source.empty() ? "" : " (" + family.source + ")");
  return kDone;
}

/// A model that PyTorch trains, by the options that its trainer has, too.
int train_rival(TrainArguments options) {
  constexpr std::string_view kItsOwn[] = {"lengths",        "rates",    "steps",      "words",        "seed",
                                          "sample_seed",    "schedule", "least_rate", "weight_decay", "clip",
                                          "validate_every", "stop_at",  "warm_up"};
  const auto refuse = [](bool is_given, const std::string& option) {
    if (is_given) throw InputError(option, "models that PyTorch trains have no such option (docs/results/rivals.md)");
  };
  check_training(options);
  refuse(!options.init.empty(), "--init");
  refuse(options.perturb != 0, "--perturb");
  refuse(options.json, "--json");
  refuse(options.shards.any(), "--shard");
  if (!language_options_json(options.reading).empty())
    throw InputError("--model torch:…",
                     "reads a language as it is named, without options of reading; convert it to a file");
  std::string model = options.model.substr(kRivalPrefix.size());
  if (model.find(':') == std::string::npos)
    if (const std::size_t comma = model.find(','); comma != std::string::npos) model[comma] = ':';
  const TaskInfo task = make_task(options.task, options.reading)->info();
  if (!options.lengths) options.lengths = task.train;
  const Verb verb(add_training_options, options);
  std::vector<std::string> line{"train", options.task,   "--model",        model,
                                "-o",    options.output, "--test-lengths", std::to_string(task.test.greatest)};
  for (const KeptOption& option : verb.options()) {
    const nlohmann::ordered_json value = option.value();
    const bool is_its_own = std::ranges::find(kItsOwn, option.key) != std::end(kItsOwn);
    refuse(!is_its_own && value != *option.usual, option.name);
    if (is_its_own && !value.is_null()) line.insert(line.end(), {option.name, value_text(value)});
  }
  return run_rivals(line, "--model torch:…");
}

/// One run to its last checkpoint; its line.
std::string train_to_checkpoint(const TrainArguments& options, const Task& task, const RateAndSeed& run) {
  TrainingJob job = std::move(make_jobs(options, task, {&run, 1}).front());
  try {
    run_to_end(job, options, task, [] {
      Interruption::check();
      TimeLimit::check();
      return true;
    });
  } catch (...) {
    job.save();
    throw;
  }
  return run_json(job).dump();
}

ListWork training_work(const TrainArguments& options, const Task& task, const std::vector<RateAndSeed>& runs) {
  return {"training runs", options.threads,
          [&](std::uint64_t item) { return train_to_checkpoint(options, task, runs[item]); }};
}

/// The runs of this shard, each to its last checkpoint: the command without --shard then finds all of them trained.
int train_shard(const TrainArguments& options, const Task& task, const std::vector<RateAndSeed>& runs) {
  if (wants_cuda(options.device))
    throw InputError("--device", "a device trains all runs side by side; --shard is for processors");
  WorkList list{
      "train",
      {},
      visible(options_typed({"--checkpoint-every"}, {"--json"})),
      {},
      std::vector<std::uint64_t>(runs.size(), 1),
      is_language_name(options.task) ? files_of_language(options.task, options.reading) : std::vector<std::string>()};
  if (!options.init.empty()) list.files.push_back(file_of_run(options.init));
  for (const auto& [rate, seed] : runs) list.items.push_back(fmt::format("rate={} seed={}", rate, seed));
  return work_in_shards({training_work(options, task, runs), "training run", std::move(list), options.output, true},
                        options.shards);
}

/// Under mpirun: every run to its last checkpoint, which are then all there.
void train_on_ranks(const TrainArguments& options, const Task& task, const std::vector<RateAndSeed>& runs) {
  const ListWork work = training_work(options, task, runs);
  help_with(work);
  make_folder(options.output);
  std::vector<std::uint64_t> all(runs.size());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  work_through(work, all, LineOrder::kAsReady, [](std::uint64_t, const std::string&) {});
}

/// The model that --init holds, where no other is named.
std::string model_of_init(const TrainArguments& options) {
  if (options.init.empty())
    throw InputError("--model", "which model is trained? krohn train --model list names them; --init RUN goes on with a "
                                "trained one");
  const std::string file = file_of_run(options.init);
  if (!fs::exists(file)) throw InputError(visible(options.init), "no such file or folder");
  if (!is_trained_model(file))
    throw InputError("--model",
                     fmt::format("{} is no trained model; name the one that begins with it", visible(options.init)));
  return load_model(file).model->name();
}

int train(TrainArguments options) {
  options.shards.check();
  if (options.model == "list") return list_models();
  if (options.task.empty()) throw InputError("train needs TASK: one of `krohn tasks --list`, or a language");
  require_output(options.output, "the run", "FOLDER");
  options.training.optimiser.schedule = parse_schedule(options.schedule);
  if (options.any_order) options.training.any_order_in = parse_precision(options.precision);
  if (options.model.empty()) options.model = model_of_init(options);
  const bool is_rival = options.model.starts_with(kRivalPrefix);
  if (options.device == "auto" &&
      (options.certify || options.training.contract > 0 || is_rival || options.shards.any()))
    options.device = "cpu";
  if (is_rival) return train_rival(options);
  const auto task = make_task(options.task, options.reading);
  const auto model = make_model<float>(options.model, *task, options.training.seed);
  take_recipe(options, *model);
  check_training(options);
  if (!options.lengths) options.lengths = task->info().train;
  const std::vector<RateAndSeed> runs = rates_and_seeds(options);
  require_same_run(options, task->info().name, model->name(), runs);
  if (options.certify && options.training.contract == 0) require_roundable(*model, *task);
  if (options.shards.any()) return train_shard(options, *task, runs);
  const bool wants_device = wants_cuda(options.device);
  if (has_ranks() && !wants_device) train_on_ranks(options, *task, runs);
  std::vector<TrainingJob> jobs = make_jobs(options, *task, runs);
  make_folder(options.output);
  const auto here = [&] { run_jobs(jobs, options, *task); };
  if (wants_device)
    on_device(
        options.device, [&] { run_jobs_on_device(jobs, options); }, here);
  else
    here();
  const TrainingJob* const best = best_of(jobs);
  const std::string refusal = best == nullptr ? "" : save_best(options, *task, *best);
  const nlohmann::ordered_json json = training_json(options, *task, jobs, best);
  const fs::path folder(options.output);
  // The leavings of an earlier command are a model and its record, which stay together.
  if (best != nullptr || !fs::exists(folder / "parameters.safetensors"))
    write_file((folder / "run.json").string(), report_text(json));
  if (options.json) {
    print_json(json);
  } else {
    report_training(options, json);
    if (!refusal.empty()) fmt::print("  no network.safetensors: {}\n", visible(refusal));
  }
  if (best != nullptr) return !options.certify || best->rounds.is_proved() ? int{kDone} : int{kUndecided};
  const std::uint64_t steps = jobs.front().trainer->steps();
  if (jobs.front().trainer->validation_diverged() && options.training.validation_lengths)
    throw InputError("--validation-length",
                     "no run has a validation whose loss is a number: on words so long the first models' states "
                     "outgrow fp32; take shorter ones");
  if (steps == 0)
    throw InputError("--model",
                     "every run diverged, the first at its first step: with these first weights its numbers are "
                     "not finite; take a smaller spread=, or shorter words by --length");
  throw InputError("--rates",
                   fmt::format("every run diverged, the first after {}: its numbers are not finite any more; take "
                               "smaller rates, or --clip 1{}",
                               counted(steps, "step"),
                               fs::exists(jobs.front().checkpoint)
                                   ? fmt::format("; its last good checkpoint is {}", jobs.front().checkpoint)
                                   : ""));
}

}  // namespace

Work add_train(Verb& verb) {
  const auto options = std::make_shared<TrainArguments>();
  verb.add_option("TASK,--task", options->task, "A task of `krohn tasks --list`, or a language");
  std::vector<std::string> names = model_names();
  names.emplace_back("list");
  verb.add_option("--model", options->model, "The model, or list; left out, that of --init").suggests(names);
  verb.add_option("-o,--output", options->output, "The folder of the run").type_name("FOLDER");
  verb.add_option("--init", options->init, "Begin with the weights of this construction, or of this trained model")
      .type_name("FILE|FOLDER");
  verb.add_option("--perturb", options->perturb, "Noise on them: its deviation, in root mean squares of each tensor")
      .between(0.0, 10.0);
  add_count(verb, "--checkpoint-every", options->checkpoint_every,
            "Steps between checkpoints on the processor; 0: those of half a minute");
  add_training_options(verb, *options);
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  add_shard_options(verb, options->shards);
  add_language_options(verb, options->reading);
  return [options] { return train(*options); };
}

}  // namespace krohn
