#include "tools/krohn/models/measured_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/operations/operation_words.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/progress.h"

namespace krohn {
namespace {

/// On random words of the checkpoint's automaton: the token of the state after every letter.
class MeasuredCheckpoint final : public MeasuredModel {
 public:
  explicit MeasuredCheckpoint(const MeasureOptions& options)
      : options_(options), checkpoint_(checkpoint_of(options)), network_(checkpoint_, Precision::kFp32) {
    std::set<std::uint32_t> answers(checkpoint_.tokens.of_state.begin(), checkpoint_.tokens.of_state.end());
    answers.erase(TokenTable::kNone);
    model = traits_of(checkpoint_.config.family).model_type;
    task = "the state after every letter";
    reading = "fp32, token by token" + loaded_otherwise(checkpoint_, "fp32");
    chance = 1.0 / static_cast<double>(answers.size());
    on_cuda = wants_cuda(options.device);
  }

  ModelAccuracy at(std::uint64_t length) override {
    if (length == 0) throw InputError("--lengths", "words have at least one letter");
    Progress progress("reading letters");
    CheckpointSampleOptions asked{length, options_.words, options_.seed, {}};
    asked.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
    const auto on_processor = [&]() -> ModelAccuracy {
      on_cuda = false;
      const CheckpointScore score = krohn::score(checkpoint_, network_, asked);
      return {length, options_.words, score.right, score.letters, score.right_words};
    };
    if (!on_cuda) return on_processor();
    return on_device(
        options_.device,
        [&]() -> ModelAccuracy {
          const TrackedAutomaton tracked = tracked_by(checkpoint_);
          const WordCounts counts =
              count_answers(Place::kDevice, checkpoint_operations(checkpoint_, network_), tensors_in_file(checkpoint_),
                            drawn_tokens(tracked, options_.seed), options_.words, length, asked.progress);
          return {length, options_.words, counts.right, counts.due, counts.right_words};
        },
        on_processor);
  }
  std::uint64_t length_from(std::uint64_t length) const override { return std::max<std::uint64_t>(length, 1); }

 private:
  static Checkpoint checkpoint_of(const MeasureOptions& options) {
    if (options.rescaled) throw InputError("--rescaled", "a checkpoint's layers have their own norms");
    Checkpoint checkpoint = load_checkpoint(options.folder);
    if (!checkpoint.automaton)
      throw InputError(options.folder, "a checkpoint without automaton.json and tokens.json, which say what is right");
    if (checkpoint.automaton->letters() == 0) throw InputError(options.folder, "its automaton has no letters");
    return checkpoint;
  }

  MeasureOptions options_;
  Checkpoint checkpoint_;
  CheckpointModel network_;
};

/// On samples of its task.
class MeasuredRun final : public MeasuredModel {
 public:
  explicit MeasuredRun(const MeasureOptions& options)
      : options_(options), subject_(load_trained_subject(file_of_run(options.folder), options.reading)) {
    on_cuda = wants_cuda(options.device);
    const Task& of = *subject_.task;
    const SequenceModel<float>& trained = *subject_.trained.model;
    if (of.alphabet().size() != trained.letters() || of.labels().size() != trained.labels())
      throw InputError(options.folder,
                       fmt::format("its model has {} and {}, and the task {} has {} and {}",
                                   counted(trained.letters(), "letter"), counted(trained.labels(), "answer"),
                                   subject_.trained.task, of.alphabet().size(), of.labels().size()));
    model = trained.name();
    task = subject_.task_name;
    reading = reading_of(trained, options.rescaled);
    chance = of.info().chance;
    if (options.rescaled && reading == reading_of(trained, false))
      throw InputError(
          "--rescaled",
          fmt::format("{} adds to its state or is no linear recurrence, so its state has no scale to choose; "
                      "leave the option out",
                      model));
  }

  /// On the device, or where it cannot and was not insisted on, on the processor.
  ModelAccuracy at(std::uint64_t length) override {
    Progress progress("reading letters");
    EvaluateModelOptions evaluation;
    evaluation.words = options_.words;
    evaluation.seed = options_.seed;
    evaluation.threads = options_.threads;
    evaluation.rescaled = options_.rescaled;
    evaluation.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
    const auto on_processor = [&] {
      on_cuda = false;
      return evaluate_model(*subject_.trained.model, *subject_.task, length, evaluation);
    };
    if (!on_cuda) return on_processor();
    return on_device(
        options_.device,
        [&] { return evaluate_words(Place::kDevice, *subject_.trained.model, *subject_.task, length, evaluation); },
        on_processor);
  }
  std::uint64_t length_from(std::uint64_t length) const override {
    while (!subject_.task->has_length(length)) ++length;
    return length;
  }

 private:
  MeasureOptions options_;
  TrainedSubject subject_;
};

}  // namespace

std::unique_ptr<MeasuredModel> load_measured_model(const MeasureOptions& options) {
  if (is_checkpoint_folder(options.folder)) return std::make_unique<MeasuredCheckpoint>(options);
  require_model(file_of_run(options.folder), "eval");
  return std::make_unique<MeasuredRun>(options);
}

LengthRange trained_lengths(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(file_of_run(folder)).parent_path() / "run.json";
  if (!std::filesystem::is_regular_file(path)) return {};
  const auto run = parse_strict_json(read_file(path.string()), path.string());
  const auto lengths = run.is_object() ? run.find("lengths") : run.end();
  if (!run.is_object() || lengths == run.end() || !lengths->is_array() || lengths->size() != 2 ||
      !(*lengths)[0].is_number_unsigned() || !(*lengths)[1].is_number_unsigned())
    throw InputError(path.string(), "does not tell the lengths of training, as `krohn train` writes them");
  return {(*lengths)[0], (*lengths)[1]};
}

AccuracyPoint accuracy_point(const ModelAccuracy& at, double chance) {
  const ProportionInterval interval = at.interval();
  return {at.length, scaled(at.accuracy(), chance), scaled(interval.low, chance), scaled(interval.high, chance)};
}

nlohmann::ordered_json accuracy_json(const ModelAccuracy& at, double chance) {
  const AccuracyPoint point = accuracy_point(at, chance);
  nlohmann::ordered_json json{{"length", at.length},
                              {"words", at.words},
                              {"answers", at.targets},
                              {"right", at.right},
                              {"scaled_accuracy", point.value},
                              {"low", point.low},
                              {"high", point.high},
                              {"words_right", at.right_words}};
  if (at.not_finite > 0) json["not_finite"] = at.not_finite;
  return json;
}

}  // namespace krohn
