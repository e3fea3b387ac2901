// Smoothed targets, and a table's cells as experiments.

#include "krohn/simulate/train/tables/table_cell.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "krohn/groups/error.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/cross_entropy.h"
#include "krohn/simulate/tasks/dataset.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/scratch.h"

using namespace krohn;
using krohn::test::Scratch;

TEST_CASE("smoothed cross-entropy: by hand, its gradient by differences, and none when nothing is smoothed") {
  const std::vector<double> logits{0.3, -1.2, 2.0, 0.5, 0.1, -0.4};
  for (const float smoothing : {0.f, 0.1f, 0.5f}) {
    CAPTURE(smoothing);
    const std::vector<TrainingBatch::Target> targets{{0, 0, 2, smoothing}, {0, 1, 0, smoothing}};
    const auto loss_at = [&](std::vector<double> at) { return cross_entropy<double>(at, 3, targets).loss; };
    double by_hand = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      double sum = 0;
      for (std::size_t l = 0; l < 3; ++l) sum += std::exp(logits[3 * i + l]);
      for (std::size_t l = 0; l < 3; ++l) {
        const double wanted = double{smoothing} / 3 + (l == targets[i].label ? 1 - double{smoothing} : 0);
        by_hand -= wanted * (logits[3 * i + l] - std::log(sum)) / 2;
      }
    }
    CHECK(loss_at(logits) == doctest::Approx(by_hand).epsilon(1e-12));
    std::vector<double> gradient = logits;
    cross_entropy<double>(gradient, 3, targets);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      std::vector<double> up = logits, down = logits;
      up[i] += 1e-5, down[i] -= 1e-5;
      CHECK(gradient[i] == doctest::Approx((loss_at(up) - loss_at(down)) / 2e-5).epsilon(1e-7));
    }
  }
}

TEST_CASE("cross-entropy of more rows than one product of their sums holds, each counted once or several times") {
  for (const std::uint32_t rows : {1U, 285U, 286U, 287U, 288U, 2000U})  // 5^286 < 10^200 < 5^287
    for (const bool counted : {false, true}) {
      CAPTURE(rows);
      CAPTURE(counted);
      std::vector<double> logits(std::size_t{rows} * 5, 0.25);  // every sum is 5, or less
      for (std::uint32_t i = 0; rows == 2000 && i < rows; i += 7) logits[std::size_t{i} * 5 + i % 5] = -1.5;
      std::vector<TrainingBatch::Target> targets;
      std::vector<std::uint32_t> counts;
      double loss = 0, all = 0;
      for (std::uint32_t i = 0; i < rows; ++i) {
        targets.push_back({0, i, i % 3});
        counts.push_back(counted ? 1 + i % 4 : 1);
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k) sum += std::exp(logits[std::size_t{i} * 5 + k]);
        loss += counts.back() * (std::log(sum) - logits[std::size_t{i} * 5 + i % 3]);
        all += counts.back();
      }
      if (!counted) counts.clear();
      const BatchLoss found = cross_entropy<double>(logits, 5, targets, counts);
      CHECK(found.loss == doctest::Approx(loss / all).epsilon(1e-13));
      CHECK(found.targets == static_cast<std::uint64_t>(all));
    }
}

TEST_CASE("smoothed targets keep the modulus at 1 and the angles exact, far past the lengths of training") {
  const auto task = make_task("modadd3");
  TrainOptions options;
  options.smoothing = 0.1;
  options.stop_at = 0;
  options.optimiser.steps = 3000;
  options.optimiser.learning_rate = 3e-3;
  options.optimiser.schedule = Schedule::kCosine;
  Trainer trainer(*task, "bilinear:full,hidden=8,inputs=8,spread=0.1", options);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  EvaluateModelOptions evaluation;
  evaluation.words = 50;
  CHECK(evaluate_model(trainer.model(), *task, 2000, evaluation).right == 50);
  const Network network = network_of(trainer.model(), *task);
  const Spectrum found = spectrum(network);
  CHECK(found.alive == 2);  // a plane of nine coordinates
  for (Letter letter = 0; letter < network.automaton.letters(); ++letter) {
    CHECK(found.letters[letter].spectral_radius == doctest::Approx(1).epsilon(0.01));
    CHECK(found.letters[letter].orthogonality_defect < 0.9);  // 1 where dead modes count
    const Mode& mode = found.letters[letter].modes[0];
    const Turn turn = nearest_exact_turn(network.automaton.letter_map(letter), mode.turn());
    CHECK(turn_distance(mode.turn(), double(turn.numerator) / double(turn.denominator)) < 1e-3);
  }
}

TEST_CASE("a fixed number of samples is trained on again and again") {
  const auto task = make_task("modadd2");
  TrainOptions options;
  options.samples = 2;
  options.optimiser.steps = 200;
  options.optimiser.learning_rate = 0.1;
  Trainer trainer(*task, "bilinear:diagonal,hidden=16,inputs=8,frozen", options);
  trainer.step();
  const double first = trainer.last_loss().loss;
  CHECK(trainer.last_loss().targets == 2);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  CHECK(trainer.last_loss().loss < first / 10);
}

TEST_CASE("an experiment says how far its model holds and what it snaps to") {
  Experiment cell;
  cell.task = "modadd2";
  cell.model = "bilinear:full,hidden=8,inputs=8,spread=0.1";
  cell.rates = {3e-3};
  cell.seeds = {1, 2};
  cell.training.optimiser.steps = 2000;
  cell.training.stop_at = 0;
  cell.training.smoothing = 0.1;
  cell.training.optimiser.schedule = Schedule::kCosine;
  cell.length = 100;
  cell.words = 50;
  ExperimentOptions options;
  options.lengths = {100, 1000};
  options.words = 20;
  const ExperimentResult result = run_experiment(cell, options);
  REQUIRE(result.runs.size() == 2);
  CHECK(result.runs[0].record.steps == 2000);
  CHECK(result.runs[0].at.words == 50);
  CHECK(result.holding_runs() >= 1);
  CHECK(result.runs[result.best].record.validation_loss <= result.runs[1 - result.best].record.validation_loss);
  REQUIRE(!result.lengths.empty());
  CHECK(result.lengths[0].scaled == 1);
  CHECK(result.lengths[0].whole == 1);
  CHECK(!result.snapped.empty());
  CHECK(!result.claim.empty());
}

namespace {

Experiment short_parity() {
  Experiment cell;
  cell.task = "modadd2";
  cell.model = "bilinear:diagonal,hidden=8,inputs=4";
  cell.rates = {1e-2};
  cell.seeds = {1, 2};
  cell.training.optimiser.steps = 50;
  cell.length = 20;
  cell.words = 20;
  return cell;
}

}  // namespace

TEST_CASE("kept runs are examined again without training, and only as what they are") {
  const Scratch folder("kept-runs");
  Experiment cell = short_parity();
  ExperimentOptions options;
  options.lengths = {20};
  options.folder = folder.path().string();
  std::uint64_t steps = 0;
  options.progress = [&steps](std::uint64_t done, std::uint64_t) { steps = done; };
  const ExperimentResult first = run_experiment(cell, options);
  CHECK(steps > 0);
  steps = 0;
  const ExperimentResult again = run_experiment(cell, options);
  CHECK(steps == 0);
  REQUIRE(again.runs.size() == 2);
  CHECK(again.best == first.best);
  for (std::size_t i = 0; i < 2; ++i) {
    const RunRecord &before = first.runs[i].record, &after = again.runs[i].record;
    CHECK(after.steps == before.steps);
    CHECK(after.end == before.end);
    CHECK(after.validation_loss == before.validation_loss);
    CHECK(after.right == before.right);
    CHECK(after.targets == before.targets);
    CHECK(again.runs[i].at.scaled == first.runs[i].at.scaled);
  }
  CHECK(again.reading == "as trained");
  CHECK(!again.claim.empty());
  // Another function is measured, and nothing is claimed of the model.
  options.rescaled = true;
  const ExperimentResult rescaled = run_experiment(cell, options);
  CHECK(rescaled.reading != again.reading);
  CHECK(rescaled.claim.empty());
  cell.training.optimiser.clip = 1;
  CHECK_THROWS_WITH_AS(run_experiment(cell, options), doctest::Contains("another model"), InputError);
}

TEST_CASE("all that a run depends on stands in its description") {
  const Experiment cell = short_parity();
  const auto differs = [&](auto change) {
    Experiment other = cell;
    change(other);
    return description(other) != description(cell);
  };
  CHECK(!differs([](Experiment& e) { e.words = 7, e.paper = 1, e.row = "another"; }));
  CHECK(differs([](Experiment& e) { e.task = "modadd3"; }));
  CHECK(differs([](Experiment& e) { e.model += ",bias"; }));
  CHECK(differs([](Experiment& e) { e.training.lengths = {2, 9}; }));
  CHECK(differs([](Experiment& e) { e.training.words = 63; }));
  CHECK(differs([](Experiment& e) { e.training.samples = 64; }));
  CHECK(differs([](Experiment& e) { e.training.smoothing = 0.1; }));
  CHECK(differs([](Experiment& e) { e.training.stop_at = 0; }));
  CHECK(differs([](Experiment& e) { e.training.patience = 3; }));
  CHECK(differs([](Experiment& e) { e.training.validate_every = 100; }));
  CHECK(differs([](Experiment& e) { e.training.validation_lengths = {20, 30}; }));
  CHECK(differs([](Experiment& e) { e.training.validation_words = 128; }));
  CHECK(differs([](Experiment& e) { e.training.validate_last = true; }));
  CHECK(differs([](Experiment& e) { e.training.keep_most_right = true; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.coupled_decay = 0.1; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.steps = 51; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.warm_up = 5; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.clip = 1; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.weight_decay = 0.1; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.least_rate = 1e-5; }));
  CHECK(differs([](Experiment& e) { e.training.optimiser.schedule = Schedule::kCosine; }));
}

TEST_CASE("mean and deviation, by hand") {
  const Spread spread = spread_of({1, 0.5, 0.75, 0.75});
  CHECK(spread.mean == doctest::Approx(0.75));
  CHECK(spread.deviation == doctest::Approx(std::sqrt(0.125 / 3)));
  CHECK(spread.least == 0.5);
  CHECK(spread.greatest == 1);
  CHECK(spread_of({0.25}).deviation == 0);
}

TEST_CASE("a length that the task lacks is measured at the next") {
  Experiment cell = short_parity();
  cell.task = "modarith5";  // odd lengths
  cell.model = "fan:blocks=1,size=4,norm=1";
  cell.training.lengths = {1, 5};
  cell.length = 19;
  ExperimentOptions options;
  options.lengths = {10};
  const ExperimentResult result = run_experiment(cell, options);
  REQUIRE(result.lengths.size() == 1);
  CHECK(result.lengths[0].length == 11);
  CHECK(result.runs[0].at.length == 19);
}

TEST_CASE("words of a range of lengths: each length as often, counted as by hand") {
  Experiment cell = short_parity();
  cell.seeds = {3};
  cell.test_lengths = LengthRange{5, 9};
  cell.words = 400;
  ExperimentOptions options;
  options.lengths = {20};
  const ExperimentRun run = run_once(cell, 1e-2, 3, options);
  CHECK(run.at.words == 400);
  CHECK(run.at.length == 9);
  // Every length's share, by the lengths of the same data set.
  const auto task = make_task(cell.task);
  TrainOptions training = cell.training;
  training.optimiser.learning_rate = 1e-2;
  training.seed = 3;
  const TrainedRun trained = train_run(*task, cell.model, training, {});
  DatasetOptions dataset;
  dataset.lengths = {5, 9};
  dataset.seed = EvaluateModelOptions{}.seed;
  std::vector<std::uint64_t> words_of(10, 0);
  for (std::uint64_t word = 0; word < 400; ++word) ++words_of[sample_length(*task, dataset, word)];
  double right = 0, targets = 0;
  for (std::uint64_t length = 5; length <= 9; ++length) {
    CHECK(words_of[length] > 40);
    EvaluateModelOptions evaluation;
    evaluation.words = words_of[length];
    const ModelAccuracy at = evaluate_model(*trained.model, *task, length, evaluation);
    right += static_cast<double>(at.right), targets += static_cast<double>(at.targets);
  }
  CHECK(targets == 400);
  CHECK(run.at.scaled == doctest::Approx(scaled(right / targets, 0.5)));
}

TEST_CASE("a run that is interrupted goes on within itself, bit for bit") {
  struct Stop {};
  const Scratch folder("interrupted-runs");
  const auto task = make_task("modadd2");
  TrainOptions training;
  training.optimiser.steps = 60;
  const std::string model = "bilinear:diagonal,hidden=8,inputs=4", file = (folder / "run.checkpoint").string();
  const TrainedRun whole = train_run(*task, model, training, {});
  std::uint64_t steps = 0;
  CHECK_THROWS_AS(train_run(
                      *task, model, training,
                      [&] {
                        if (++steps == 25) throw Stop();
                      },
                      file),
                  Stop);
  REQUIRE(std::filesystem::exists(file));
  const TrainedRun rest = train_run(
      *task, model, training, [&] { ++steps; }, file);
  CHECK(steps == 60);
  CHECK(rest.record.steps == 60);
  CHECK(std::ranges::equal(rest.model->parameters(), whole.model->parameters()));
  CHECK(rest.record.validation_loss == whole.record.validation_loss);
  training.words = 32;
  CHECK_THROWS_WITH_AS(train_run(*task, model, training, {}, file), doctest::Contains("run.checkpoint"), InputError);

  // In a folder of cells the checkpoint goes when the model is there.
  Experiment cell = short_parity();
  cell.seeds = {1};
  ExperimentOptions options;
  options.folder = folder.path().string();
  options.progress = [](std::uint64_t, std::uint64_t) { throw Stop(); };
  cell.training.optimiser.steps = 100;
  CHECK_THROWS_AS(run_once(cell, 1e-2, 1, options), Stop);
  const std::string path = model_path(options.folder, 1e-2, 1);
  CHECK(std::filesystem::exists(path + ".checkpoint"));
  options.progress = {};
  CHECK(run_once(cell, 1e-2, 1, options).record.steps == 100);
  CHECK(std::filesystem::exists(path));
  CHECK(!std::filesystem::exists(path + ".checkpoint"));
}

TEST_CASE("trained on answers at every prefix, tested at the end") {
  Experiment cell = short_parity();
  cell.task = "sum2/prefixes";
  cell.test_task = "sum2";
  cell.model = "fan-released:layers=1,blocks=2,size=2";
  cell.training.lengths = {6, 6};
  cell.training.validation_lengths = LengthRange{12, 12};
  cell.training.validation_words = 64;
  cell.training.validate_last = true;
  ExperimentOptions options;
  options.lengths = {20};
  const ExperimentResult result = run_experiment(cell, options);
  CHECK(result.runs[0].record.targets == 64);  // one of a word
  CHECK(result.runs[0].at.words == 20);
  CHECK(!result.claim.empty());
}

TEST_CASE("an experiment examines models that are no networks too") {
  Experiment cell;
  cell.task = "parity";
  cell.model = "deltaproduct:width=8,heads=1,keys=4,values=4,signed,mlp=8";
  cell.rates = {0.01};
  cell.seeds = {1};
  cell.training.optimiser.steps = 600;
  cell.training.stop_at = 0;
  cell.training.lengths = {2, 20};
  cell.length = 40;
  ExperimentOptions options;
  options.lengths = {40};
  options.words = 20;
  const ExperimentResult result = run_experiment(cell, options);
  CHECK(result.lengths[0].scaled == 1);
  CHECK((result.claim == "refuted" || result.claim == "proved up to a length"));
  CHECK(result.claim_length > 10);
  CHECK(!result.snapped.empty());
  cell.model = "deltaproduct:width=8,heads=1,keys=4,values=4,mlp=8";  // eigenvalues in [0, 1] cannot
  cell.training.optimiser.steps = 100;
  const ExperimentResult weak = run_experiment(cell, options);
  CHECK(weak.claim == "refuted");
  CHECK(weak.claim_length > 0);
  CHECK(weak.snapped.empty());
}
