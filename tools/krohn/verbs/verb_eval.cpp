// krohn eval — how often a trained model is right, by length.

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/linear_model_words.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/models/model_file.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tools/krohn/on_device.h"
#include "tools/krohn/pictures/accuracy_plot.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kEvalHelp = {
    "eval", "Measure a trained model by length", "eval FOLDER [--lengths 10,100,500,1e4] [--words N] [--plot acc.svg]",
    R"(
krohn train modadd5 --model bilinear:rotations,hidden=16 --steps 2000 -o run/
krohn eval run/ --lengths 10,100,500 --words 200 --plot acc.svg
)",
    R"(Runs fresh samples of every length through the model that `krohn train` left in FOLDER, and prints the accuracy, scaled
so that 0 is chance and 1 is perfect, with Wilson's 95 % interval, and the share of words that are right throughout.
The figures are of the trained model as it is, of which `krohn verify FOLDER` proves or refutes more; a sample is a test,
no proof. --rescaled multiplies the state of a linear recurrence without additions with a positive number after every letter,
as Ebrahimi & Memisevic do at inference: states that grow do not overflow then, but a read-out with a bias gives other
answers, and the figures are of another function. The output says which.
Exit status: 0 measured, 2 bad input.
)"};

struct EvalArguments {
  std::string folder, plot, device = "cpu";
  std::vector<std::string> lengths{"10", "100", "500"};
  std::uint64_t words = 1000, seed = EvaluateModelOptions{}.seed;
  unsigned threads = 0;
  LanguageOptions reading;
  bool rescaled = false, json = false;
};

std::string path_of_model(const std::string& folder) {
  const std::filesystem::path path(folder);
  return std::filesystem::is_directory(path) ? (path / "parameters.safetensors").string() : folder;
}

/// The lengths that the run was trained on, by its run.json; nothing where none is there to tell.
LengthRange trained_lengths(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(path_of_model(folder)).parent_path() / "run.json";
  if (!std::filesystem::is_regular_file(path)) return {};
  const auto run = nlohmann::json::parse(read_file(path.string()), nullptr, false);
  const auto lengths = run.is_object() ? run.find("lengths") : run.end();
  if (!run.is_object() || lengths == run.end() || !lengths->is_array() || lengths->size() != 2 ||
      !(*lengths)[0].is_number_unsigned() || !(*lengths)[1].is_number_unsigned())
    throw InputError(path.string(), "does not tell the lengths of training, as `krohn train` writes them");
  return {(*lengths)[0], (*lengths)[1]};
}

/// On the device, or where it cannot and was not insisted on, on the processor.
ModelAccuracy measure(const EvalArguments& options, const TrainedModel& trained, const Task& task, std::uint64_t length,
                      bool& on_cuda) {
  Progress progress("reading letters");
  EvaluateModelOptions evaluation;
  evaluation.words = options.words;
  evaluation.seed = options.seed;
  evaluation.threads = options.threads;
  evaluation.rescaled = options.rescaled;
  evaluation.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
  const auto on_processor = [&] {
    on_cuda = false;
    return evaluate_model(*trained.model, task, length, evaluation);
  };
  if (!on_cuda) return on_processor();
  return on_device(
      options.device, [&] { return evaluate_words(Place::kDevice, *trained.model, task, length, evaluation); },
      on_processor);
}

/// What is measured, length by length, and what it is called.
struct Measured {
  std::string model, task, reading;
  double chance = 0;
  std::function<ModelAccuracy(std::uint64_t length)> at;
};

/// A checkpoint of another library, on random words of its automaton: the token of the state after every letter.
Measured checkpoint_measure(const EvalArguments& options) {
  if (options.rescaled) throw InputError("--rescaled", "a checkpoint's layers have their own norms");
  if (options.device == "cuda") throw InputError("--device", "a checkpoint is measured on the processor");
  const auto checkpoint = std::make_shared<const Checkpoint>(load_checkpoint(options.folder));
  if (!checkpoint->automaton)
    throw InputError(options.folder, "a checkpoint without automaton.json and tokens.json, which say what is right");
  if (checkpoint->automaton->letters() == 0) throw InputError(options.folder, "its automaton has no letters");
  const auto model = std::make_shared<const CheckpointModel>(*checkpoint, Precision::kFp32);
  std::set<std::uint32_t> answers(checkpoint->tokens.of_state.begin(), checkpoint->tokens.of_state.end());
  answers.erase(TokenTable::kNone);
  return {std::string(traits_of(checkpoint->config.family).model_type), "the state after every letter",
          "fp32, token by token", 1.0 / static_cast<double>(answers.size()),
          [&options, checkpoint, model](std::uint64_t length) {
            if (length == 0) throw InputError("--lengths", "words have at least one letter");
            Progress progress("reading letters");
            CheckpointSampleOptions asked{length, options.words, options.seed, {}, false};
            asked.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
            const CheckpointScore score = krohn::score(*checkpoint, *model, asked);
            return ModelAccuracy{length, options.words, score.right, score.letters, score.right_words};
          }};
}

/// A model of `krohn train`, on samples of its task.
Measured trained_measure(const EvalArguments& options, bool& on_cuda) {
  const auto trained = std::make_shared<const TrainedModel>(load_model(path_of_model(options.folder)));
  const std::shared_ptr<const Task> task = make_task(trained->task, options.reading);
  if (task->alphabet().size() != trained->model->letters() || task->labels().size() != trained->model->labels())
    throw InputError(
        options.folder,
        fmt::format("its model has {} letters and {} answers, and the task {} has {} and {}", trained->model->letters(),
                    trained->model->labels(), trained->task, task->alphabet().size(), task->labels().size()));
  const std::string reading = reading_of(*trained->model, options.rescaled);
  if (options.rescaled && reading == reading_of(*trained->model, false))
    throw InputError(
        "--rescaled",
        fmt::format("{} adds to its state or is no linear recurrence, so its state has no scale to choose; "
                    "leave the option out",
                    trained->model->name()));
  return {trained->model->name(), trained->task, reading, task->info().chance,
          [&options, &on_cuda, trained, task](std::uint64_t length) {
            return measure(options, *trained, *task, length, on_cuda);
          }};
}

int evaluate(const EvalArguments& options) {
  if (!options.plot.empty() && !options.plot.ends_with(".svg"))
    throw InputError(options.plot, "the name of a plot ends in .svg");
  const LengthRange shaded = options.plot.empty() ? LengthRange{} : trained_lengths(options.folder);
  bool on_cuda = !is_checkpoint_folder(options.folder) && wants_cuda(options.device);
  const Measured measured =
      is_checkpoint_folder(options.folder) ? checkpoint_measure(options) : trained_measure(options, on_cuda);
  nlohmann::ordered_json json{{"model", measured.model},
                              {"task", measured.task},
                              {"reading", measured.reading},
                              {"chance", measured.chance},
                              {"seed", options.seed}};
  std::vector<std::vector<std::string>> rows = {
      {"length", "words", "scaled accuracy", "95 % interval", "whole words right"}};
  std::vector<AccuracyPoint> points;
  for (const std::string& text : options.lengths) {
    const ModelAccuracy at = measured.at(parse_count(text, "--lengths"));
    const double chance = measured.chance;
    // Answers of one word are not independent, so the interval counts words where several answers are due.
    const bool single = at.targets == at.words;
    const ProportionInterval interval =
        single ? confidence(at.right, at.targets)
               : confidence(static_cast<std::uint64_t>(at.accuracy() * static_cast<double>(at.words)), at.words);
    points.push_back(
        {at.length, scaled(at.accuracy(), chance), scaled(interval.low, chance), scaled(interval.high, chance)});
    const double whole = static_cast<double>(at.right_words) / static_cast<double>(at.words);
    rows.push_back({with_thousands(at.length), with_thousands(at.words),
                    fmt::format("{:.4f}", scaled(at.accuracy(), chance)),
                    fmt::format("{:.4f} … {:.4f}", scaled(interval.low, chance), scaled(interval.high, chance)),
                    fmt::format("{:.4f}", whole)});
    json["lengths"].push_back({{"length", at.length},
                               {"words", at.words},
                               {"answers", at.targets},
                               {"right", at.right},
                               {"scaled_accuracy", scaled(at.accuracy(), chance)},
                               {"low", scaled(interval.low, chance)},
                               {"high", scaled(interval.high, chance)},
                               {"words_right", at.right_words}});
  }
  if (!options.plot.empty())
    write_file(options.plot,
               accuracy_svg({fmt::format("{}: {}", measured.task, measured.model), {{"", points}}, shaded}));
  if (options.json) {
    if (on_cuda) json["device"] = cuda_status();
    print_json(json);
    return kDone;
  }
  fmt::print("{}: {} on {}, {}{}\n{}", visible(options.folder), visible(measured.model), visible(measured.task),
             measured.reading, on_cuda ? ", read on " + cuda_status() : "", format_table(rows));
  return kDone;
}

}  // namespace

void add_eval(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<EvalArguments>();
  Verb verb = add_verb(app, kEvalHelp);
  verb.add_option("FOLDER", options->folder, "A folder that `krohn train` wrote, or a checkpoint").required();
  verb.add_option("--lengths", options->lengths, "Lengths to measure at").separated_by(',').type_name("N,…");
  add_count(verb, "--words", options->words, "Samples of every length");
  verb.add_option("--plot", options->plot, "Draw accuracy by length").type_name("FILE.svg");
  verb.add_flag("--rescaled", options->rescaled, "Keep the norm of a linear state, as the paper does at inference");
  add_device(verb, options->device,
             "Where; on a device models of one linear layer and a linear read-out run, with the same answers");
  add_seed(verb, options->seed);
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return evaluate(*options); }; });
}

}  // namespace krohn
