// Runs that are stopped at any step and gone on with.
#include "krohn/simulate/train/trained_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "krohn/groups/error.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "tests/scratch.h"

using namespace krohn;
using namespace krohn::test;

namespace {

constexpr char kModel[] = "bilinear:diagonal,hidden=6,inputs=4";
constexpr std::uint64_t kSteps = 16;

TrainOptions options_of(std::uint64_t patience, std::uint64_t samples) {
  TrainOptions options;
  options.optimiser.steps = kSteps;
  options.optimiser.learning_rate = 2e-2;
  options.optimiser.schedule = Schedule::kCosine;
  options.optimiser.weight_decay = 0.01;
  options.validate_every = 5;
  options.smoothing = 0.1;
  options.words = 8;
  options.lengths = {2, 5};
  options.patience = patience;
  options.samples = samples;
  options.seed = 9;
  return options;
}

/// Everything but the time.
void check_same(const TrainedRun& one, const TrainedRun& other) {
  CHECK(one.record.rate == other.record.rate);
  CHECK(one.record.seed == other.record.seed);
  CHECK(one.record.steps == other.record.steps);
  CHECK(one.record.end == other.record.end);
  CHECK(one.record.validation_loss == other.record.validation_loss);
  CHECK(one.record.right == other.record.right);
  CHECK(one.record.targets == other.record.targets);
  CHECK(std::ranges::equal(one.model->parameters(), other.model->parameters()));
}

}  // namespace

TEST_CASE("a run that is interrupted after any step ends as one that is not, bit for bit") {
  const auto task = make_task("modadd2");
  const Scratch place("stopped-runs");
  for (const auto& [patience, samples] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{0, 16}}) {
    const TrainOptions options = options_of(static_cast<std::uint64_t>(patience), static_cast<std::uint64_t>(samples));
    const TrainedRun whole = train_run(*task, kModel, options, {});
    for (std::uint64_t stop = 1; stop < whole.record.steps; ++stop) {
      CAPTURE(patience);
      CAPTURE(stop);
      const std::string kept = (place / ("run-" + std::to_string(stop))).string();
      std::uint64_t steps = 0;
      CHECK_THROWS_AS(train_run(
                          *task, kModel, options,
                          [&] {
                            if (++steps == stop) throw Interrupted("interrupted");
                          },
                          kept),
                      Interrupted);
      REQUIRE(std::filesystem::exists(kept));
      std::uint64_t more = 0;
      const TrainedRun gone_on = train_run(
          *task, kModel, options, [&] { ++more; }, kept);
      CHECK(more == whole.record.steps - stop);
      check_same(gone_on, whole);
    }
    std::filesystem::remove_all(place.path());
    std::filesystem::create_directories(place.path());
  }
}

TEST_CASE("runs share their samples where a seed of the samples is given, and nothing else") {
  const auto task = make_task("modadd2");
  const auto letters_of = [&](std::uint64_t seed, std::optional<std::uint64_t> sample_seed) {
    TrainOptions options = options_of(0, 0);
    options.seed = seed;
    options.sample_seed = sample_seed;
    return Trainer(*task, kModel, options).batch_of(3).letters;
  };
  CHECK(letters_of(4, {}) != letters_of(5, {}));
  CHECK(letters_of(4, 9) == letters_of(5, 9));
  CHECK(letters_of(4, 9) == letters_of(9, {}));
  TrainOptions options = options_of(0, 0);
  options.optimiser.steps = 20;
  const Trainer own(*task, kModel, options);
  options.sample_seed = 4;
  Trainer shared(*task, kModel, options);
  CHECK(std::ranges::equal(own.model().parameters(), shared.model().parameters()));
  CHECK_THROWS_AS(shared.resume(own.checkpoint()), InputError);
}

TEST_CASE("a table's run that is stopped leaves its checkpoint, and at its end only its model") {
  const Scratch place("stopped-cell");
  Experiment cell;
  cell.task = "modadd2";
  cell.model = kModel;
  cell.training = options_of(0, 0);
  cell.training.optimiser.steps = 200;
  ExperimentOptions options;
  options.folder = place.path().string();
  options.progress = [](std::uint64_t, std::uint64_t) { throw Interrupted("interrupted"); };
  CHECK_THROWS_AS(train_once(cell, 1e-2, 4, options), Interrupted);
  CHECK(std::filesystem::exists(model_path(options.folder, 1e-2, 4) + ".checkpoint"));
  CHECK(!std::filesystem::exists(model_path(options.folder, 1e-2, 4)));
  std::uint64_t reports = 0;
  options.progress = [&](std::uint64_t, std::uint64_t) { ++reports; };
  train_once(cell, 1e-2, 4, options);
  CHECK(reports == (200 - 64) / 64);  // 64 steps between reports were done before
  CHECK(!std::filesystem::exists(model_path(options.folder, 1e-2, 4) + ".checkpoint"));
  REQUIRE(std::filesystem::exists(model_path(options.folder, 1e-2, 4)));
  const TrainedRun kept = load_trained_run(description(cell), model_path(options.folder, 1e-2, 4));
  TrainOptions whole = cell.training;
  whole.optimiser.learning_rate = 1e-2;
  whole.seed = 4;
  check_same(kept, train_run(*make_task(cell.task), cell.model, whole, {}));
}
