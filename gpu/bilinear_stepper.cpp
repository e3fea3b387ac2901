#include "gpu/bilinear_stepper.h"

#include <algorithm>

#include "groups/error.h"

namespace krohn {

BilinearStepper::BilinearStepper(Place place, const BilinearPlan& plan, std::uint32_t models, std::uint32_t words,
                                 float clip)
    : place_(place),
      parameters_(place, models * plan.parameters),
      gradient_(place, parameters_.size()),
      mean_(place, parameters_.size()),
      square_(place, parameters_.size()),
      given_(place, std::uint64_t{models} * plan.letters * plan.generated),
      by_given_(place, given_.size()),
      matrices_(place, models * plan.matrix_numbers()),
      by_matrices_(place, matrices_.size()),
      columns_(place, matrices_.size()),
      additions_(place, std::uint64_t{models} * plan.letters * plan.hidden),
      by_additions_(place, additions_.size()),
      states_(place),
      by_states_(place),
      logits_(place),
      rates_(place, models),
      kept_(place, models),
      losses_(place),
      embedding_parts_(place),
      norm_parts_(place),
      norms_(place, models),
      right_(place),
      failed_(place, models),
      letters_(place),
      lengths_(place, std::uint64_t{models} * words),
      target_counts_(place, models),
      readers_(place),
      first_reader_(place, std::uint64_t{models} * (plan.letters + 1)),
      targets_(place) {
  t_.p = plan;
  t_.models = models;
  t_.words = words;
  t_.clip = clip;
  embedding_parts_ =
      Buffer<double>(place, std::uint64_t{models} * plan.letters * plan.inputs * t_.parts_of(plan.generated));
  norm_parts_ = Buffer<double>(place, models * t_.parts_of(plan.parameters));
  t_.parameters = parameters_.data();
  t_.gradient = gradient_.data();
  t_.mean = mean_.data();
  t_.square = square_.data();
  t_.given = given_.data();
  t_.by_given = by_given_.data();
  t_.matrices = matrices_.data();
  t_.by_matrices = by_matrices_.data();
  t_.columns = columns_.data();
  t_.additions = additions_.data();
  t_.by_additions = by_additions_.data();
  t_.embedding_parts = embedding_parts_.data();
  t_.norm_parts = norm_parts_.data();
  t_.norms = norms_.data();
  t_.failed = failed_.data();
  t_.lengths = lengths_.data();
  t_.target_counts = target_counts_.data();
  t_.first_reader = first_reader_.data();
  t_.rates = rates_.data();
  t_.kept = kept_.data();
}

void BilinearStepper::load(std::uint32_t model, std::span<const float> parameters, std::span<const float> mean,
                           std::span<const float> square) {
  parameters_.write(parameters, model * t_.p.parameters);
  mean_.write(mean, model * t_.p.parameters);
  square_.write(square, model * t_.p.parameters);
}

void BilinearStepper::store_parameters(std::uint32_t model, std::span<float> parameters) const {
  parameters_.read(parameters, model * t_.p.parameters);
}

void BilinearStepper::store_memory(std::uint32_t model, std::span<float> mean, std::span<float> square) const {
  mean_.read(mean, model * t_.p.parameters);
  square_.read(square, model * t_.p.parameters);
}

bool BilinearStepper::has_failed(std::uint32_t model) const {
  std::uint32_t failed = 0;
  failed_.read({&failed, 1}, model);
  return failed != 0;
}

std::vector<float> BilinearStepper::gradient(std::uint32_t model) const {
  std::vector<float> gradient(t_.p.parameters);
  gradient_.read(gradient, model * t_.p.parameters);
  return gradient;
}

double BilinearStepper::loss(std::uint32_t model) const {
  std::uint32_t count = 0;
  target_counts_.read({&count, 1}, model);
  std::vector<double> losses(count);
  losses_.read(losses, std::uint64_t{model} * t_.most_targets);
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / std::max(count, 1U);
}

/// Memory grows when a batch is longer than those before it.
void BilinearStepper::make_room(std::uint32_t positions, std::uint32_t targets) {
  t_.positions = positions;
  t_.most_targets = targets;
  if (positions > taken_positions_) {
    states_ = Buffer<float>(place_, t_.models * t_.state_numbers());
    by_states_ = Buffer<float>(place_, states_.size());
    letters_ = Buffer<std::uint32_t>(place_, std::uint64_t{t_.models} * positions * t_.words);
    readers_ = Buffer<std::uint32_t>(place_, letters_.size());
    taken_positions_ = positions;
  }
  if (targets > taken_targets_) {
    const std::uint64_t all = std::uint64_t{t_.models} * targets;
    logits_ = Buffer<float>(place_, all * t_.p.labels);
    losses_ = Buffer<double>(place_, all);
    right_ = Buffer<std::uint32_t>(place_, all);
    targets_ = Buffer<DeviceTarget>(place_, all);
    taken_targets_ = targets;
  }
  t_.states = states_.data();
  t_.by_states = by_states_.data();
  t_.words_letters = letters_.data();
  t_.readers = readers_.data();
  t_.logits = logits_.data();
  t_.losses = losses_.data();
  t_.right = right_.data();
  t_.targets = targets_.data();
}

void BilinearStepper::upload(std::span<const ModelStep> steps) {
  if (steps.size() != t_.models) throw InputError("a step needs one batch for every model");
  std::uint32_t positions = 1, most_targets = 1;
  for (const ModelStep& step : steps) {
    if (step.batch.words != t_.words) throw InputError("a step's batches need the words that it was made for");
    positions = std::max(positions, step.batch.positions);
    most_targets = std::max(most_targets, static_cast<std::uint32_t>(step.batch.targets.size()));
  }
  make_room(positions, most_targets);
  const std::uint64_t tokens = std::uint64_t{positions} * t_.words;
  std::vector<std::uint32_t> letters(t_.models * tokens, 0), readers(letters.size(), 0), lengths, counts, firsts;
  std::vector<DeviceTarget> targets(std::uint64_t{t_.models} * most_targets);
  std::vector<float> rates, kept;
  for (std::size_t m = 0; m < steps.size(); ++m) {
    const TrainingBatch& batch = steps[m].batch;
    std::copy(batch.letters.begin(), batch.letters.end(), letters.begin() + static_cast<std::ptrdiff_t>(m * tokens));
    lengths.insert(lengths.end(), batch.lengths.begin(), batch.lengths.end());
    counts.push_back(static_cast<std::uint32_t>(batch.targets.size()));
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      targets[m * most_targets + i] = {batch.targets[i].position, batch.targets[i].word, batch.targets[i].label,
                                       batch.targets[i].smoothing};
    rates.push_back(steps[m].rate);
    kept.push_back(steps[m].kept);
    std::uint32_t next = 0;
    for (std::uint32_t letter = 0; letter < t_.p.letters; ++letter) {
      firsts.push_back(next);
      for (std::uint32_t at = 0; at < batch.positions * t_.words; ++at)
        if (batch.letters[at] == letter && at / t_.words < batch.lengths[at % t_.words])
          readers[m * tokens + next++] = at;
    }
    firsts.push_back(next);
  }
  letters_.write(letters);
  readers_.write(readers);
  lengths_.write(lengths);
  target_counts_.write(counts);
  first_reader_.write(firsts);
  targets_.write(targets);
  rates_.write(rates);
  kept_.write(kept);
}

template <TrainingStage kStage>
void BilinearStepper::run(std::uint64_t items) {
  launch(place_, TrainingJob<kStage>{t_}, items);
}

void BilinearStepper::run_over_time(bool adjoint) {
#ifdef KROHN_WITH_CUDA
  if (place_ == Place::kDevice) return cuda_run_over_time(t_, adjoint);
#endif
  for (std::uint64_t item = 0; item < std::uint64_t{t_.models} * t_.words; ++item)
    for (std::uint32_t i = 0; i < t_.positions; ++i)
      for (std::uint32_t row = 0; row < t_.p.hidden; ++row)
        adjoint ? t_.step_adjoint(item, t_.positions - 1 - i, row) : t_.step_forward(item, i, row);
}

void BilinearStepper::run_forward() {
  using enum TrainingStage;
  const std::uint64_t letters = std::uint64_t{t_.models} * t_.p.letters;
  const std::uint64_t targets = std::uint64_t{t_.models} * t_.most_targets;
  run<kGiven>(letters * t_.p.generated);
  run<kMatrix>(letters * t_.p.hidden * t_.p.block);
  if (t_.p.adds()) run<kAddition>(letters * t_.p.hidden);
  run<kStart>(t_.models * t_.step_numbers());
  run_over_time(false);
  run<kLogit>(targets * t_.p.labels);
  run<kLoss>(targets);
}

void BilinearStepper::run_adjoint() {
  using enum TrainingStage;
  const std::uint64_t letters = std::uint64_t{t_.models} * t_.p.letters;
  gradient_.clear();
  run<kByReadout>(std::uint64_t{t_.models} * t_.p.labels * (t_.p.hidden + 1));
  if (t_.p.frozen) return;
  by_states_.clear();
  run<kByStates>(std::uint64_t{t_.models} * t_.most_targets * t_.p.hidden);
  run_over_time(true);
  run<kByMatrix>(letters * t_.p.hidden * t_.p.block);
  if (t_.p.adds()) run<kByAddition>(letters * t_.p.hidden);
  run<kByGiven>(letters * t_.p.generated);
  if (t_.p.rank > 0) run<kByFactor>(std::uint64_t{t_.models} * 2 * t_.p.hidden * t_.p.rank);
  run<kByWeights>(std::uint64_t{t_.models} * t_.p.inputs * t_.p.generated);
  run<kByEmbeddingParts>(letters * t_.p.inputs * t_.parts_of(t_.p.generated));
  run<kByEmbedding>(letters * t_.p.inputs);
  run<kByVectors>(std::uint64_t{t_.models} * t_.p.hidden);
}

void BilinearStepper::step(std::span<const ModelStep> steps) {
  using enum TrainingStage;
  upload(steps);
  run_forward();
  run_adjoint();
  run<kSquares>(t_.models * t_.parts_of(t_.p.parameters));
  run<kNorm>(t_.models);
  run<kMove>(t_.models * t_.p.parameters);
}

}  // namespace krohn
