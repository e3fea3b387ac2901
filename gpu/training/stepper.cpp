#include "krohn/gpu/training/stepper.h"

#include <algorithm>

#include "krohn/gpu/training/model_programs.h"

namespace krohn {

Stepper::Stepper(Place place, const SequenceModel<float>& model, std::uint32_t models, std::uint32_t words, float clip)
    : place_(place),
      model_(model),
      models_(models),
      words_(words),
      numbers_(model.parameters().size()),
      clip_(clip),
      parameters_(place, models * numbers_),
      gradient_(place, models * numbers_),
      mean_(place, models * numbers_),
      square_(place, models * numbers_),
      norm_parts_(place, models * ((numbers_ + OptimiserStep::kPart - 1) / OptimiserStep::kPart)),
      norms_(place, models),
      losses_(place),
      failed_(place, models),
      target_counts_(models, 0) {}

void Stepper::load(std::uint32_t model, std::span<const float> parameters, std::span<const float> mean,
                   std::span<const float> square) {
  parameters_.write(parameters, model * numbers_);
  mean_.write(mean, model * numbers_);
  square_.write(square, model * numbers_);
}

void Stepper::store_parameters(std::uint32_t model, std::span<float> parameters) const {
  parameters_.read(parameters, model * numbers_);
}

void Stepper::store_memory(std::uint32_t model, std::span<float> mean, std::span<float> square) const {
  mean_.read(mean, model * numbers_);
  square_.read(square, model * numbers_);
}

bool Stepper::has_failed(std::uint32_t model) const {
  std::uint32_t failed = 0;
  failed_.read({&failed, 1}, model);
  return failed != 0;
}

std::vector<float> Stepper::gradient(std::uint32_t model) const {
  std::vector<float> gradient(numbers_);
  gradient_.read(gradient, model * numbers_);
  return gradient;
}

double Stepper::loss(std::uint32_t model) const {
  std::vector<double> losses(target_counts_[model]);
  losses_.read(losses, std::uint64_t{model} * room_.targets);
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(std::max<std::size_t>(losses.size(), 1));
}

void Stepper::record(const BatchRoom& room) {
  program_.reset();  // its memory first
  batches_.reset();
  room_ = {std::max(room.rows, room_.rows), std::max(room.targets, room_.targets)};
  batches_ = std::make_unique<BatchQueue>(place_, models_, words_, model_.letters(), room_.rows, room_.targets);
  losses_ = Buffer<double>(place_, std::uint64_t{models_} * room_.targets);
  program_ = std::make_unique<StepProgram>(place_, batches_->rows(), model_.tensor_parts(), parameters_.data(),
                                           gradient_.data(), losses_.data());
  record_model(*program_, model_);

  OptimiserStep by;
  by.b = batches_->rows();
  by.parameters = numbers_;
  by.first_trained = model_.first_trained();
  by.values = parameters_.data();
  by.gradient = gradient_.data();
  by.mean = mean_.data();
  by.square = square_.data();
  by.losses = losses_.data();
  by.norm_parts = norm_parts_.data();
  by.norms = norms_.data();
  by.failed = failed_.data();
  by.clip = clip_;
  program_->teams(AddSquares{by});
  program_->teams(FindNorm{by});
  program_->items(MoveParameters{by}, parameters_.size());
}

void Stepper::send(std::span<const ModelStep> steps) {
  require_one_each(steps, models_, words_);
  if (!batches_ || !batches_->fits(steps)) record(room_for(steps));
  batches_->send(steps);
  for (std::size_t m = 0; m < steps.size(); ++m)
    target_counts_[m] = static_cast<std::uint32_t>(steps[m].batch.targets.size());
}

void Stepper::step(std::span<const ModelStep> steps) {
  send(steps);
  program_->graph().replay();
}

void Stepper::step_one_by_one(std::span<const ModelStep> steps) {
  send(steps);
  program_->graph().run_one_by_one();
}

}  // namespace krohn
