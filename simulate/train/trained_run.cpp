#include "krohn/simulate/train/trained_run.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <filesystem>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/models/model_file.h"

namespace krohn {
namespace {

template <class Number>
Number number_of(const TensorFile& file, const char* key, const std::string& path) {
  const auto found = file.metadata.find(key);
  const std::string text = found == file.metadata.end() ? "" : found->second;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw InputError(path, fmt::format("its metadata \"{}\" is not a number; delete it, and it is trained again", key));
  return value;
}

std::string text_of(const TensorFile& file, const char* key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? std::string() : found->second;
}

}  // namespace

RunRecord record_of(const Trainer& trainer, double seconds) {
  const BatchLoss& validation = trainer.validation();
  return {trainer.options().optimiser.learning_rate,
          trainer.options().seed,
          trainer.steps(),
          to_string(trainer.state()),
          validation.loss,
          validation.right,
          validation.targets,
          seconds};
}

TrainedRun train_run(const Task& task, std::string_view model, const TrainOptions& options,
                     const std::function<void()>& on_step, const std::string& checkpoint) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::minutes kPause{1};
  Trainer trainer(task, model, options);
  double before = 0;  // seconds that are in the checkpoint
  if (!checkpoint.empty() && std::filesystem::exists(checkpoint)) {
    const TensorFile kept = read_safetensors(checkpoint);
    before = number_of<double>(kept, "seconds", checkpoint);
    try {
      trainer.resume(kept);
    } catch (const InputError& error) {
      throw InputError(checkpoint, error.what());
    }
  }
  const auto start = Clock::now();
  auto saved = start;
  const auto seconds = [&] { return before + std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto save = [&] {
    if (checkpoint.empty() || trainer.state() != Trainer::State::kRunning) return;
    TensorFile file = trainer.checkpoint();
    file.metadata["seconds"] = fmt::format("{}", seconds());
    write_safetensors(file, checkpoint);
    saved = Clock::now();
  };
  try {
    while (trainer.state() == Trainer::State::kRunning) {
      trainer.step();
      if (on_step) on_step();
      if (Clock::now() - saved > kPause) save();
    }
  } catch (...) {
    save();
    throw;
  }
  TrainedRun run;
  run.record = record_of(trainer, seconds());
  run.model = trainer.take_model();
  return run;
}

void save_trained_run(const TrainedRun& run, const std::string& task, const std::string& description,
                      const std::string& path) {
  const RunRecord& record = run.record;
  save_model(task, *run.model, path,
             {{"trained", description},
              {"rate", fmt::format("{}", record.rate)},
              {"seed", std::to_string(record.seed)},
              {"steps", std::to_string(record.steps)},
              {"end", record.end},
              {"validation_loss", fmt::format("{}", record.validation_loss)},
              {"right", std::to_string(record.right)},
              {"targets", std::to_string(record.targets)},
              {"seconds", fmt::format("{}", record.seconds)}});
}

TrainedRun load_trained_run(const std::string& description, const std::string& path) {
  const TensorFile file = read_safetensors(path);
  const std::string trained = text_of(file, "trained");
  if (trained != description)
    throw InputError(
        path, fmt::format("holds another model (\"{}\", not \"{}\"); choose another folder", trained, description));
  return {{number_of<double>(file, "rate", path), number_of<std::uint64_t>(file, "seed", path),
           number_of<std::uint64_t>(file, "steps", path), text_of(file, "end"),
           number_of<double>(file, "validation_loss", path), number_of<std::uint64_t>(file, "right", path),
           number_of<std::uint64_t>(file, "targets", path), number_of<double>(file, "seconds", path)},
          load_model(path).model};
}

}  // namespace krohn
