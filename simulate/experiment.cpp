#include "simulate/experiment.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "automata/equivalence.h"
#include "groups/error.h"
#include "simulate/certify.h"
#include "simulate/extract_automaton.h"
#include "simulate/snap_network.h"
#include "simulate/tasks.h"

namespace krohn {
namespace {

constexpr std::uint64_t kLeastWords = 4;
constexpr std::uint64_t kReportEvery = 64;
constexpr std::uint64_t kMostPairs = 100'000;

MeasuredLength measure(const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                       const ExperimentOptions& options) {
  EvaluateModelOptions evaluation;
  evaluation.words = std::clamp(options.letters / length, kLeastWords, std::max(options.words, kLeastWords));
  evaluation.threads = options.threads;
  const ModelAccuracy at = evaluate_model(model, task, length, evaluation);
  const double chance = task.info().chance;
  const Interval interval =
      confidence(static_cast<std::uint64_t>(at.accuracy() * static_cast<double>(at.words)), at.words);
  return {length, at.words, scaled(at.accuracy(), chance), scaled(interval.low, chance), scaled(interval.high, chance)};
}

bool holds(const SequenceModel<float>& model, const Task& task, std::uint64_t length,
           const ExperimentOptions& options) {
  return measure(model, task, length, options).scaled == 1;
}

/// What can be said of the model as a network, in fp32, letter after letter.
void examine(const Network& network, ExperimentResult& result) {
  CertifyOptions options;
  options.max_pairs = kMostPairs;
  const Extraction learned = extract_automaton(network, options.arithmetic, {});
  const bool is_right = equivalent(learned.automaton, network.automaton);
  if (is_right) {
    const SnapResult snapped =
        snap_network(learned.automaton, state_centres(network, learned.automaton, options.arithmetic));
    const Certificate proof = certify(snapped.network, options);
    if (proof.claim == Claim::kProved) result.snapped = snapped.choices[snapped.chosen].construction;
  }
  const auto difference = distinguishing_word(learned.automaton, network.automaton);
  const Certificate certificate = certify(network, options);
  result.claim = to_string(certificate.claim);
  if (certificate.claim == Claim::kProvedUpTo) result.claim_length = certificate.length;
  if (certificate.claim == Claim::kRefuted && certificate.failing_word)
    result.claim_length = certificate.failing_word->size();
  if (certificate.claim == Claim::kProved || certificate.claim == Claim::kRefuted) return;
  // The search of pairs goes by length; errors add up in words that it does not reach.
  const std::optional<std::uint64_t> wrong = difference ? std::optional<std::uint64_t>(difference->size())
                                             : learned.beyond
                                                 ? std::optional<std::uint64_t>(learned.beyond->word.size())
                                                 : std::nullopt;
  if (!wrong) return;
  result.claim = to_string(Claim::kRefuted);
  result.claim_length = *wrong;
}

}  // namespace

ExperimentResult run_experiment(const Experiment& experiment, const ExperimentOptions& options) {
  const auto task = make_task(experiment.task);
  ExperimentResult result;
  std::unique_ptr<Trainer> best;
  const std::uint64_t all = experiment.training.optimiser.steps * experiment.rates.size() * experiment.seeds.size();
  std::uint64_t done = 0;
  for (const double rate : experiment.rates)
    for (const std::uint64_t seed : experiment.seeds) {
      TrainOptions training = experiment.training;
      training.optimiser.learning_rate = rate;
      training.seed = seed;
      const auto start = std::chrono::steady_clock::now();
      auto trainer = std::make_unique<Trainer>(*task, experiment.model, training);
      while (trainer->state() == Trainer::State::kRunning) {
        trainer->step();
        if (options.progress && ++done % kReportEvery == 0) options.progress(done, all);
      }
      result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ++result.runs;
      if (experiment.rates.size() * experiment.seeds.size() > 1 && trainer->state() != Trainer::State::kDiverged)
        result.holding_runs += holds(trainer->model(), *task, experiment.length, options);
      if (best != nullptr &&
          (trainer->state() == Trainer::State::kDiverged || trainer->validation().loss >= best->validation().loss))
        continue;
      best = std::move(trainer);
      result.rate = rate;
      result.seed = training.seed;
    }
  const BatchLoss& validation = best->validation();
  result.steps = best->steps();
  result.end = to_string(best->state());
  result.validation_loss = validation.loss;
  result.validation_accuracy = scaled(
      static_cast<double>(validation.right) / static_cast<double>(std::max<std::uint64_t>(validation.targets, 1)),
      task->info().chance);
  for (const std::uint64_t length : options.lengths) {
    result.lengths.push_back(measure(best->model(), *task, length, options));
    if (result.lengths.back().low <= 0) break;
  }
  if (result.runs == 1)
    result.holding_runs = result.lengths[0].length == experiment.length && result.lengths[0].scaled == 1;
  try {
    examine(network_of(best->model(), *task), result);
  } catch (const Error& error) {
    if (result.claim.empty()) result.claim = error.what();
  }
  return result;
}

}  // namespace krohn
