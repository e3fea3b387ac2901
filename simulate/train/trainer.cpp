#include "krohn/simulate/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

/// Validation samples lie far behind those of any training run.
constexpr std::uint64_t kFirstValidationSample = std::uint64_t{1} << 60;

/// And those by whose words a model settles.
constexpr std::uint64_t kFirstSettlingSample = std::uint64_t{1} << 61;
constexpr LengthRange kSettlingLengths{512, 1024};
constexpr std::uint32_t kSettlingWords = 16;

/// The identity of a run's configuration, and its progress; kept in a checkpoint's metadata.
constexpr char kRunKey[] = "run", kStepsKey[] = "steps", kStateKey[] = "state", kWaitedKey[] = "waited";

std::uint64_t count_of(const TensorFile& file, const char* key) {
  const std::string text = file.text(key);
  const auto count = number_in<std::uint64_t>(text);
  if (!count)
    throw InputError(
        fmt::format("the checkpoint's number \"{}\" is \"{}\"; delete it to start from scratch", key, text));
  return *count;
}

/// Every other word goes on, from some letter on, by repeating its last letters: what a cell forgets slowly adds up
/// along such words, and random ones hardly ever are so. Tasks that do not answer after every letter stay as they are.
void repeat_endings(TrainingBatch& batch, const Task& task, std::uint64_t seed) {
  constexpr std::uint64_t kLongestPeriod = 6;
  const Dfa* const oracle = task.oracle();
  if (oracle == nullptr || task.info().place != TargetPlace::kEveryPosition) return;
  Random random(seed);
  for (std::uint32_t word = 0; word < batch.words; word += 2) {
    const auto letter = [&](std::uint64_t t) -> Letter& { return batch.letters[t * batch.words + word]; };
    const std::uint64_t length = batch.lengths[word], period = 1 + random.below(kLongestPeriod);
    for (std::uint64_t t = period + random.below(length); t < length; ++t)
      if (std::max(letter(t), letter(t - period)) < task.input_letters()) letter(t) = letter(t - period);
  }
  std::vector<State> state(batch.words, oracle->initial());
  std::uint32_t read = 0;
  for (TrainingBatch::Target& target : batch.targets) {
    for (; read <= target.position; ++read)
      for (std::uint32_t word = 0; word < batch.words; ++word)
        if (read < batch.lengths[word])
          state[word] = oracle->next(state[word], batch.letters[std::size_t{read} * batch.words + word]);
    target.label = static_cast<TaskLabel>(oracle->output(state[target.word]));
  }
}

}  // namespace

TrainingBatch Trainer::draw(LengthRange lengths, std::uint64_t first_sample, std::uint32_t words) const {
  TrainingBatch batch = draw_batch(task_, lengths, options_.seed_of_samples(), first_sample, words);
  for (TrainingBatch::Target& target : batch.targets) target.smoothing = static_cast<float>(options_.smoothing);
  return batch;
}

std::string Trainer::fingerprint() const {
  const OptimiserOptions& by = options_.optimiser;
  std::string text = fmt::format("{} {} lengths={}-{} words={} learning_rate={} clip={} seed={}", task_.info().name,
                                 model_->name(), options_.lengths.least, options_.lengths.greatest, options_.words,
                                 by.learning_rate, by.clip, options_.seed);
  if (!task_.info().content.empty()) text += " language=" + task_.info().content;
  if (options_.smoothing > 0) text += fmt::format(" smoothing={}", options_.smoothing);
  if (options_.contract > 0) text += fmt::format(" contract={} of {}", options_.contract, by.steps);
  if (options_.sample_seed) text += fmt::format(" sample_seed={}", *options_.sample_seed);
  if (options_.samples > 0) text += fmt::format(" samples={}", options_.samples);
  if (by.schedule == Schedule::kCosine) text += fmt::format(" cosine={}-{}", by.steps, by.least_rate);
  if (by.warm_up > 0) text += fmt::format(" warm_up={}", by.warm_up);
  if (by.weight_decay > 0) text += fmt::format(" weight_decay={}", by.weight_decay);
  if (options_.patience > 0) text += fmt::format(" patience={} of {}", options_.patience, by.steps);
  if (options_.patience > 0 && options_.validate_every != TrainOptions{}.validate_every)
    text += fmt::format(" every {}", options_.validate_every);
  if (options_.validation_lengths)
    text += fmt::format(" validation={}-{}", options_.validation_lengths->least, options_.validation_lengths->greatest);
  if (by.coupled_decay > 0) text += fmt::format(" coupled_decay={}", by.coupled_decay);
  if (options_.validation_words != TrainOptions{}.validation_words)
    text += fmt::format(" validation_words={}", options_.validation_words);
  if (options_.validate_last) text += " validate_last";
  if (options_.keep_most_right)
    text += fmt::format(" keep_most_right of {} every {}", by.steps, options_.validate_every);
  if (model_->settles()) text += fmt::format(" settled after {} or below {}", by.steps, options_.stop_at);
  if (!options_.start.empty()) text += fmt::format(" start={}", options_.start);
  return text;
}

Trainer::Trainer(const Task& task, std::string_view model, const TrainOptions& options,
                 const std::function<void(SequenceModel<float>&)>& prepare)
    : task_(task),
      options_(options),
      model_(make_model<float>(model, task, options.seed)),
      optimiser_(model_->parameters().size()),
      gradient_(model_->parameters().size(), 0) {
  const FloatEnvironment environment;
  model_->use_threads(options.threads);
  if (!(options.contract >= 0) || !std::isfinite(options.contract))
    throw InputError("the weight by which a cell learns to contract is a number from 0 on");
  if (options.contract > 0 && !model_->reads_twice())
    throw InputError(
        fmt::format("{} cannot be trained to contract: only cells (rnn, rnn-relu, gru, lstm) and layers of other "
                    "libraries can; leave "
                    "--contract out",
                    model_->name()));
  if (prepare) prepare(*model_);
  kept_.assign(model_->parameters().begin(), model_->parameters().end());
  validation_.loss = INFINITY;
  if (options_.keep_most_right && options_.patience > 0)
    throw InputError("a run either keeps the parameters with the most right answers or has patience with its loss");
  if (!options_.keep_most_right || options.optimiser.steps == 0) validate();
  if (state_ == State::kRunning && options.optimiser.steps == 0) state_ = State::kFinished;
}

void Trainer::validate() {
  std::uint64_t first = kFirstValidationSample;
  if (options_.keep_most_right) first += steps_ * options_.validation_words;  // other words every time
  TrainingBatch batch = draw(options_.validation_lengths.value_or(options_.lengths), first, options_.validation_words);
  if (options_.validate_last)
    std::erase_if(batch.targets, [&](const TrainingBatch::Target& target) {
      return target.position + 1 != batch.lengths[target.word];
    });
  const BatchLoss now = model_->loss(batch, std::span<float>());
  if (!std::isfinite(now.loss)) {
    validation_diverged_ = true;
    return return_to_kept(State::kDiverged);
  }
  if (options_.keep_most_right) {
    if (validation_.targets == 0 || now.right > validation_.right) keep(now);
    if (all_right() || validation_.loss < options_.stop_at) return_to_kept(State::kStopped);
  } else if (options_.patience == 0 || now.loss < validation_.loss) {
    keep(now);
    if (now.loss < options_.stop_at) return_to_kept(State::kStopped);
  } else if (++waited_ >= options_.patience) {
    return_to_kept(State::kStopped);
  }
}

bool Trainer::all_right() const {
  return options_.keep_most_right && validation_.targets > 0 && validation_.right == validation_.targets;
}

void Trainer::keep(const BatchLoss& validation) {
  validation_ = validation;
  waited_ = 0;
  kept_.assign(model_->parameters().begin(), model_->parameters().end());
}

void Trainer::return_to_kept(State state) {
  std::ranges::copy(kept_, model_->parameters().begin());
  state_ = state;
  if (state != State::kDiverged && steps_ > 0 && model_->settles()) settle(*model_);
}

void Trainer::settle(SequenceModel<float>& model) const {
  model.settle(draw(kSettlingLengths, kFirstSettlingSample, kSettlingWords));
}

std::unique_ptr<SequenceModel<float>> Trainer::settled_copy() const {
  if (!model_->settles()) return nullptr;
  auto copy = make_model<float>(model_->name(), task_, options_.seed);
  std::ranges::copy(model_->parameters(), copy->parameters().begin());
  settle(*copy);
  return copy;
}

void Trainer::step() {
  const FloatEnvironment environment;
  if (state_ != State::kRunning) return;
  const TrainingBatch batch = batch_of(steps_);
  // A loop of stores would cost a tenth of a step.
  const auto clear = [&](std::size_t first, std::size_t end) {
    std::memset(gradient_.data() + first, 0, (end - first) * sizeof(float));
  };
  clear(0, outer_.first);
  clear(outer_.first + outer_.rows * outer_.columns, gradient_.size());
  if (!learn(batch)) return return_to_kept(State::kDiverged);
  ++steps_;
  end_step();
}

bool Trainer::learn(const TrainingBatch& batch) {
  const SubnormalsAsZero as_zero;
  loss_ = loss_of(batch);
  if (!std::isfinite(loss_.loss) || !optimiser_.step(options_.optimiser, steps_ + 1, model_->first_trained(), gradient_,
                                                     outer_, model_->parameters(), options_.threads))
    return false;
  model_->restore_fixed();
  return true;
}

BatchLoss Trainer::loss_of(const TrainingBatch& batch) {
  if (options_.contract > 0) {
    constexpr double kNoise = 0.1, kGrowing = 0.3;
    const double grown =
        std::min(1.0, static_cast<double>(steps_) / (kGrowing * static_cast<double>(options_.optimiser.steps)));
    const TwinReading twin{options_.contract * grown, kNoise * grown, Random(options_.seed).next() + steps_};
    return model_->twin_loss(batch, twin, gradient_);
  }
  const auto* const bilinear =
      AdamW::takes_outer(options_.optimiser) ? dynamic_cast<const BilinearModel<float>*>(model_.get()) : nullptr;
  return bilinear != nullptr ? bilinear->loss(batch, gradient_, outer_) : model_->loss(batch, gradient_);
}

void Trainer::end_step() {
  const bool last = steps_ >= options_.optimiser.steps;
  if (steps_ % options_.validate_every == 0 || last) validate();
  if (state_ == State::kRunning && last) return_to_kept(State::kFinished);
}

TrainingBatch Trainer::batch_of(std::uint64_t step) const {
  std::uint64_t words = options_.words, first = step * words;
  if (options_.samples > 0) {
    words = std::min(words, options_.samples);
    first = step % (options_.samples / words) * words;
  }
  TrainingBatch batch = draw(options_.lengths, first, static_cast<std::uint32_t>(words));
  if (options_.contract > 0) repeat_endings(batch, task_, Random(options_.seed_of_samples()).next() + first);
  return batch;
}

std::uint64_t Trainer::steps_to_validation() const {
  return std::min(options_.validate_every - steps_ % options_.validate_every, options_.optimiser.steps - steps_);
}

void Trainer::go_on_from(std::uint64_t steps, std::span<const float> parameters) {
  const FloatEnvironment environment;
  if (state_ != State::kRunning) return;
  std::ranges::copy(parameters, model_->parameters().begin());
  steps_ += steps;
  if (steps > 0) end_step();
}

void Trainer::diverge() {
  if (state_ == State::kRunning) return_to_kept(State::kDiverged);
}

TensorFile Trainer::checkpoint() const {
  TensorFile file = model_->tensors();
  const Shape shape{gradient_.size()};
  file.tensors.emplace("adam.mean", make_tensor(optimiser_.mean, shape));
  file.tensors.emplace("adam.square", make_tensor(optimiser_.square, shape));
  file.tensors.emplace("kept", make_tensor(kept_, shape));
  file.tensors.emplace("validation", make_tensor(std::vector<double>{validation_.targets > 0 ? validation_.loss : 0,
                                                                     static_cast<double>(validation_.right),
                                                                     static_cast<double>(validation_.targets)},
                                                 {3}));
  file.metadata[kRunKey] = fingerprint();
  file.metadata[kStepsKey] = std::to_string(steps_);
  file.metadata[kStateKey] = to_string(state_);
  if (options_.patience > 0) file.metadata[kWaitedKey] = std::to_string(waited_);
  return file;
}

void Trainer::resume(const TensorFile& checkpoint) {
  const FloatEnvironment environment;
  const std::string own = fingerprint(), other = checkpoint.text(kRunKey);
  if (other != own)
    throw InputError(
        fmt::format("the checkpoint is of another run (\"{}\", not \"{}\"); choose another folder, or the same "
                    "options",
                    other, own));
  if (const std::uint64_t steps = count_of(checkpoint, kStepsKey); steps > options_.optimiser.steps)
    throw InputError(
        fmt::format("the checkpoint is of {}, more than the {} that are asked for; ask for as many, or choose "
                    "another folder",
                    counted(steps, "step"), options_.optimiser.steps));
  model_->load(checkpoint);
  TensorReader reader(checkpoint);
  const Shape shape{gradient_.size()};
  optimiser_.mean = reader.values<float>("adam.mean", shape);
  optimiser_.square = reader.values<float>("adam.square", shape);
  kept_ = reader.values<float>("kept", shape);
  const std::vector<double> validation = reader.reals("validation", {3});
  validation_ = {validation[0], static_cast<std::uint64_t>(validation[1]), static_cast<std::uint64_t>(validation[2])};
  if (validation_.targets == 0) validation_.loss = INFINITY;  // there was none
  steps_ = count_of(checkpoint, kStepsKey);
  if (options_.patience > 0) waited_ = count_of(checkpoint, kWaitedKey);
  const bool stopped =
      validation_.loss < options_.stop_at || all_right() || (options_.patience > 0 && waited_ >= options_.patience);
  state_ = checkpoint.text(kStateKey) == to_string(State::kDiverged) ? State::kDiverged
           : stopped                                                 ? State::kStopped
           : steps_ >= options_.optimiser.steps                      ? State::kFinished
                                                                     : State::kRunning;
}

std::string to_string(Trainer::State state) {
  constexpr const char* kNames[] = {"running", "stopped early", "finished", "diverged"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace krohn
