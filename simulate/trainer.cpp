#include "simulate/trainer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "constructions/tensor_values.h"
#include "groups/error.h"

namespace krohn {
namespace {

// Adam's constants, as published.
constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f, kEpsilon = 1e-8f;
constexpr std::uint32_t kValidationWords = 1024;
/// Validation samples lie far behind those of any training run.
constexpr std::uint64_t kFirstValidationSample = std::uint64_t{1} << 60;

std::string fingerprint(const Task& task, const BilinearShape& shape, const TrainOptions& options) {
  return fmt::format("{} {} lengths={}-{} words={} learning_rate={} clip={} seed={}", task.info().name,
                     to_string(shape), options.lengths.least, options.lengths.greatest, options.words,
                     options.learning_rate, options.clip, options.seed);
}

/// What tells runs of one configuration apart from others; kept in a checkpoint's metadata.
constexpr char kRunKey[] = "run", kStepsKey[] = "steps", kStateKey[] = "state";

}  // namespace

Trainer::Trainer(const Task& task, const BilinearShape& shape, const TrainOptions& options)
    : task_(task),
      options_(options),
      model_(shape, task.alphabet().size(), static_cast<std::uint32_t>(task.labels().size()), options.seed),
      gradient_(model_.parameters().size(), 0),
      mean_(gradient_),
      square_(gradient_),
      kept_(model_.parameters().begin(), model_.parameters().end()) {
  validate();
}

void Trainer::validate() {
  validation_ = model_.loss(
      draw_batch(task_, options_.lengths, options_.seed, kFirstValidationSample, kValidationWords), std::span<float>());
  if (!std::isfinite(validation_.loss)) return diverge();
  kept_.assign(model_.parameters().begin(), model_.parameters().end());
  if (validation_.loss < options_.stop_at) state_ = State::kStopped;
}

void Trainer::diverge() {
  std::ranges::copy(kept_, model_.parameters().begin());
  state_ = State::kDiverged;
}

void Trainer::step() {
  if (state_ != State::kRunning) return;
  const TrainingBatch batch =
      draw_batch(task_, options_.lengths, options_.seed, steps_ * options_.words, options_.words);
  std::ranges::fill(gradient_, 0.f);
  loss_ = model_.loss(batch, gradient_);
  double norm = 0;
  for (const float number : gradient_) norm += double{number} * number;
  norm = std::sqrt(norm);
  if (!std::isfinite(norm) || !std::isfinite(loss_.loss)) return diverge();
  ++steps_;
  const auto scale = static_cast<float>(options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1);
  const auto count = static_cast<double>(steps_);
  const auto rate = static_cast<float>(options_.learning_rate * std::sqrt(1 - std::pow(double{kSquareDecay}, count)) /
                                       (1 - std::pow(double{kMeanDecay}, count)));
  const std::span<float> parameters = model_.parameters();
  for (std::size_t i = model_.first_trained(); i < parameters.size(); ++i) {
    const float by = gradient_[i] * scale;
    mean_[i] += (1 - kMeanDecay) * (by - mean_[i]);
    square_[i] += (1 - kSquareDecay) * (by * by - square_[i]);
    parameters[i] -= rate * mean_[i] / (std::sqrt(square_[i]) + kEpsilon);
  }
  if (steps_ % options_.validate_every == 0 || steps_ == options_.steps) validate();
  if (state_ == State::kRunning && steps_ >= options_.steps) state_ = State::kFinished;
}

TensorFile Trainer::checkpoint() const {
  TensorFile file = model_.tensors();
  const Shape shape{gradient_.size()};
  file.tensors.emplace("adam.mean", make_tensor(mean_, shape));
  file.tensors.emplace("adam.square", make_tensor(square_, shape));
  file.tensors.emplace("kept", make_tensor(kept_, shape));
  file.tensors.emplace("validation",
                       make_tensor(std::vector<double>{validation_.loss, static_cast<double>(validation_.right),
                                                       static_cast<double>(validation_.targets)},
                                   {3}));
  file.metadata[kRunKey] = fingerprint(task_, model_.shape(), options_);
  file.metadata[kStepsKey] = std::to_string(steps_);
  file.metadata[kStateKey] = to_string(state_);
  return file;
}

void Trainer::resume(const TensorFile& checkpoint) {
  const auto text = [&](const char* key) {
    const auto found = checkpoint.metadata.find(key);
    return found == checkpoint.metadata.end() ? std::string() : found->second;
  };
  const std::string own = fingerprint(task_, model_.shape(), options_);
  if (text(kRunKey) != own)
    throw InputError(
        fmt::format("the checkpoint is of another run (\"{}\", not \"{}\"); choose another folder, or the same "
                    "options",
                    text(kRunKey), own));
  model_.load(checkpoint);
  TensorReader reader(checkpoint);
  const Shape shape{gradient_.size()};
  mean_ = reader.values<float>("adam.mean", shape);
  square_ = reader.values<float>("adam.square", shape);
  kept_ = reader.values<float>("kept", shape);
  const std::vector<double> validation = reader.reals("validation", {3});
  validation_ = {validation[0], static_cast<std::uint64_t>(validation[1]), static_cast<std::uint64_t>(validation[2])};
  const std::string steps = text(kStepsKey);
  const auto [end, error] = std::from_chars(steps.data(), steps.data() + steps.size(), steps_);
  if (error != std::errc() || end != steps.data() + steps.size())
    throw InputError(fmt::format("the checkpoint's number of steps is \"{}\"; delete it to start anew", steps));
  state_ = text(kStateKey) == to_string(State::kDiverged) ? State::kDiverged
           : validation_.loss < options_.stop_at          ? State::kStopped
           : steps_ >= options_.steps                     ? State::kFinished
                                                          : State::kRunning;
}

std::string to_string(Trainer::State state) {
  switch (state) {
    case Trainer::State::kRunning:
      return "running";
    case Trainer::State::kStopped:
      return "stopped early";
    case Trainer::State::kFinished:
      return "finished";
    default:
      return "diverged";
  }
}

}  // namespace krohn
