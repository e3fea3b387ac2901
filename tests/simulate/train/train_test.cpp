#include "krohn/groups/base/random.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/optimiser.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "krohn/simulate/train/trained_run.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::test;

// The optimiser beside its definition in double, its schedules, and runs that stop for want of progress.

TEST_CASE("learning rates by step") {
  OptimiserOptions options{.learning_rate = 1, .warm_up = 10, .least_rate = 0.2, .steps = 110};
  struct Fact {
    Schedule schedule;
    std::uint64_t step;
    double rate;
  };
  for (const auto& [schedule, step, rate] :
       {Fact{Schedule::kConstant, 1, 0.1}, Fact{Schedule::kConstant, 10, 1}, Fact{Schedule::kConstant, 110, 1},
        Fact{Schedule::kCosine, 5, 0.5}, Fact{Schedule::kCosine, 10, 1}, Fact{Schedule::kCosine, 60, 0.6},
        Fact{Schedule::kCosine, 110, 0.2}, Fact{Schedule::kCosine, 200, 0.2}}) {
    CAPTURE(step);
    options.schedule = schedule;
    CHECK(learning_rate_at(options, step) == doctest::Approx(rate).epsilon(1e-12));
  }
  for (const Schedule schedule : {Schedule::kConstant, Schedule::kCosine})
    CHECK(parse_schedule(to_string(schedule)) == schedule);
  CHECK_THROWS_WITH_AS(parse_schedule("linear"), doctest::Contains("cosine"), InputError);
}

TEST_CASE("steps are those of Adam's definition, with a decay beside the step or in the clipped gradient") {
  using Gradient = std::vector<float>;
  struct Fact {
    OptimiserOptions options;
    std::vector<float> parameters;
    std::size_t first;  ///< those before it are not trained
    std::function<Gradient(float step)> gradient;
  };
  for (const auto& [options, start, first, gradient_of] : std::vector<Fact>{
           {{.learning_rate = 0.01, .weight_decay = 0.3, .clip = 1.5},
            {1, -2, 3},
            1,
            [](float step) {
              return Gradient{std::sin(step), 2, -0.5F * std::fmod(step, 3.F)};
            }},
           {{.learning_rate = 0.01, .coupled_decay = 0.2, .clip = 1},
            {1, -2},
            0,
            [](float) {
              return Gradient{3, -4};
            }},
           // As small as ε, as PyTorch has them: before the correction of the square ε is a fifth of the step and less.
           {{.learning_rate = 0.01}, {0, 0}, 0, [](float) {
              return Gradient{1e-8F, 3e-7F};
            }}}) {
    CAPTURE(options.clip);
    const std::size_t count = start.size();
    std::vector<float> parameters = start;
    AdamW optimiser(count);
    std::vector<double> mean(count, 0), square(count, 0), expected(start.begin(), start.end());
    for (int step = 1; step <= 20; ++step) {
      const Gradient gradient = gradient_of(static_cast<float>(step));
      double norm = 0;
      for (const float g : gradient) norm += double{g} * g;
      const double scale = options.clip > 0 ? std::min(1.0, options.clip / std::sqrt(norm)) : 1;
      for (std::size_t i = first; i < count; ++i) {
        const double g = scale * gradient[i] + options.coupled_decay * expected[i];
        mean[i] = 0.9 * mean[i] + 0.1 * g;
        square[i] = 0.999 * square[i] + 0.001 * g * g;
        expected[i] *= 1 - options.learning_rate * options.weight_decay;
        expected[i] -= options.learning_rate * mean[i] / (1 - std::pow(0.9, step)) /
                       (std::sqrt(square[i] / (1 - std::pow(0.999, step))) + 1e-8);
      }
      CHECK(optimiser.step(options, static_cast<std::uint64_t>(step), first, gradient, parameters));
      for (std::size_t i = 0; i < count; ++i) CHECK(parameters[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
    const std::vector<float> before = parameters;
    CHECK(!optimiser.step(options, 21, first, Gradient(count, NAN), parameters));
    CHECK(parameters == before);
  }
  CHECK(corrected_epsilon(1) == doctest::Approx(1e-8 * std::sqrt(0.001)).epsilon(1e-4));
  CHECK(corrected_epsilon(100'000) == 1e-8F);
}

TEST_CASE("a coupled decay moves every parameter as the gradient with the decay in it does, bit for bit") {
  OptimiserOptions coupled, alone;
  coupled.coupled_decay = 0.25;
  for (const std::size_t count : {1U, 1023U, 1024U, 1025U, 32'768U, 33'793U}) {
    for (const std::size_t first : {std::size_t{0}, count / 2}) {
      CAPTURE(count);
      CAPTURE(first);
      Random random(count);
      std::vector<float> gradient(count), sum(count), moved(count);
      for (std::size_t i = 0; i < count; ++i) {
        gradient[i] = static_cast<float>(random.next() % 2001) / 1024 - 1;
        moved[i] = static_cast<float>(random.next() % 2001) / 1024 - 1;
        sum[i] = gradient[i] + 0.25F * moved[i];
      }
      std::vector<float> expected = moved;
      AdamW one(count), other(count);
      CHECK(one.step(coupled, 3, first, gradient, moved, 2));
      CHECK(other.step(alone, 3, first, sum, expected, 1));
      CHECK(moved == expected);
      CHECK(one.mean == other.mean);
      CHECK(one.square == other.square);
    }
  }
}

TEST_CASE("a gradient that is a product moves parameters as the same one written out") {
  OptimiserOptions options{.learning_rate = 0.01, .weight_decay = 0.3};
  REQUIRE(AdamW::takes_outer(options));
  // Less and more than a vector, several together, a stretch and one number past it; other parameters on both sides.
  for (const std::size_t columns : {1u, 15u, 16u, 63u, 64u, 65u, 511u, 512u, 513u, 1100u})
    for (const std::size_t terms : {1u, 7u}) {
      CAPTURE(columns);
      CAPTURE(terms);
      constexpr std::size_t kFirst = 5, kRows = 3, kAfter = 4;
      const std::size_t end = kFirst + kRows * columns, all = end + kAfter;
      OuterGradient<float> outer{kFirst, kRows, columns, terms, {}, {}};
      AdamW one(all), other(all);
      std::vector<float> moved(all), expected(all);
      for (std::size_t i = 0; i < all; ++i) moved[i] = expected[i] = std::sin(static_cast<float>(i));
      for (std::uint64_t step = 1; step <= 3; ++step) {
        const auto wave = [&](std::size_t i) { return std::sin(static_cast<float>(i * step + i)); };
        outer.left.clear(), outer.right.clear();
        for (std::size_t i = 0; i < terms * kRows; ++i) outer.left.push_back(wave(3 * i + 1));
        for (std::size_t i = 0; i < terms * columns; ++i) outer.right.push_back(wave(i + 2));
        std::vector<float> apart(all), whole(all);
        for (std::size_t i = 0; i < all; ++i) {
          const bool inside = i >= kFirst && i < end;
          apart[i] = inside ? NAN : wave(i);  // not read
          double sum = inside ? 0 : wave(i);
          for (std::size_t t = 0; inside && t < terms; ++t)
            sum += double{outer.left[t * kRows + (i - kFirst) / columns]} *
                   outer.right[t * columns + (i - kFirst) % columns];
          whole[i] = static_cast<float>(sum);
        }
        REQUIRE(one.step(options, step, 0, apart, outer, moved, 2));
        REQUIRE(other.step(options, step, 0, whole, expected));
      }
      for (std::size_t i = 0; i < all; ++i) {
        REQUIRE(one.mean[i] == doctest::Approx(other.mean[i]).epsilon(1e-4));
        REQUIRE(std::abs(moved[i] - expected[i]) < 2e-4);  // of moves of 0.01
      }
      const std::vector<float> before = moved;
      outer.right[terms * columns - 1] = INFINITY;
      CHECK_FALSE(one.step(options, 4, 0, std::vector<float>(all, 0), outer, moved, 1));
      CHECK(moved == before);
    }
}

TEST_CASE("the validation with the most right answers counts, and all right ends a run") {
  const auto task = make_task("modadd2");
  TrainOptions options{.words = 8, .stop_at = 0, .validate_every = 5, .validation_words = 16, .keep_most_right = true};
  options.optimiser.steps = 2000;
  options.optimiser.learning_rate = 1e-2;
  const char* const model = "bilinear:diagonal,hidden=16,inputs=8";
  Trainer trainer(*task, model, options);
  CHECK(trainer.validation().targets == 0);  // none before the first step
  std::uint64_t most = 0, steps = 0;
  std::vector<float> best;
  while (trainer.state() == Trainer::State::kRunning) {
    trainer.step();
    if (++steps % 5 != 0) continue;
    // Other words at every validation; the first of the best ones counts.
    const TrainingBatch batch = draw_batch(*task, {2, 10}, options.seed, (std::uint64_t{1} << 60) + steps * 16, 16);
    const std::uint64_t right = trainer.model().loss(batch, {}).right;
    if (trainer.state() == Trainer::State::kRunning && (best.empty() || right > most)) {
      most = right;
      best.assign(trainer.model().parameters().begin(), trainer.model().parameters().end());
      CHECK(right < 16);
    }
    if (trainer.state() == Trainer::State::kRunning) CHECK(trainer.validation().right == most);
  }
  CHECK(trainer.state() == Trainer::State::kStopped);
  CHECK(trainer.validation().right == 16);
  CHECK(steps < 2000);
  // Without success the parameters of the best validation come back.
  options.optimiser.learning_rate = 0.5;
  options.optimiser.steps = 40;
  options.validation_lengths = LengthRange{200, 200};
  Trainer failing(*task, model, options);
  std::vector<std::uint64_t> counts;
  std::vector<std::vector<float>> parameters;
  while (failing.state() == Trainer::State::kRunning) {
    failing.step();
    if (failing.steps() % 5 != 0 || failing.state() != Trainer::State::kRunning) continue;
    parameters.emplace_back(failing.model().parameters().begin(), failing.model().parameters().end());
    counts.push_back(failing.validation().right);
  }
  if (failing.state() == Trainer::State::kFinished && failing.validation().right == counts.back()) {
    const auto first = std::ranges::find(counts, counts.back()) - counts.begin();
    CHECK(std::ranges::equal(failing.model().parameters(), parameters[static_cast<std::size_t>(first)]));
  }

  // Interrupted and resumed it is the same run.
  Trainer before(*task, model, options), after(*task, model, options);
  for (int i = 0; i < 12; ++i) before.step();
  after.resume(before.checkpoint());
  while (before.state() == Trainer::State::kRunning) before.step();
  while (after.state() == Trainer::State::kRunning) after.step();
  CHECK(std::ranges::equal(before.model().parameters(), after.model().parameters()));
  CHECK(before.validation().right == after.validation().right);
  options.patience = 2;
  CHECK_THROWS_AS(Trainer(*task, model, options), InputError);
}

TEST_CASE("of words with an answer at every letter the last alone may validate") {
  const auto task = make_task("sum3/prefixes");
  TrainOptions options;
  options.optimiser.steps = 0;
  options.lengths = {7, 7};
  options.validation_words = 100;
  for (const bool last : {false, true}) {
    options.validate_last = last;
    const Trainer trainer(*task, "fan:blocks=1,size=4", options);
    CHECK(trainer.validation().targets == (last ? 100u : 700u));
  }
}

TEST_CASE("patience ends a run that makes no progress, with its best parameters") {
  const auto task = make_task("modadd3");
  TrainOptions options{.words = 4, .validate_every = 10, .patience = 3};
  options.optimiser.steps = 200;
  options.optimiser.learning_rate = 0.5;  // only ever worse
  options.validation_lengths = LengthRange{4, 4};
  const char* const model = "bilinear:diagonal,hidden=4,inputs=2";
  Trainer trainer(*task, model, options);
  const double first = trainer.validation().loss;
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  CHECK(trainer.state() == Trainer::State::kStopped);
  CHECK(trainer.steps() < 200);
  CHECK(trainer.validation().loss <= first);
  const TrainingBatch batch = draw_batch(*task, {4, 4}, options.seed, std::uint64_t{1} << 60, 1024);
  CHECK(trainer.model().loss(batch, {}).loss == trainer.validation().loss);

  Trainer before(*task, model, options), after(*task, model, options);
  for (int i = 0; i < 12; ++i) before.step();
  after.resume(before.checkpoint());
  while (after.state() == Trainer::State::kRunning) after.step();
  CHECK(after.steps() == trainer.steps());
  CHECK(std::ranges::equal(after.model().parameters(), trainer.model().parameters()));
  options.optimiser.weight_decay = 0.1;
  Trainer other(*task, model, options);
  CHECK_THROWS_WITH_AS(other.resume(before.checkpoint()), doctest::Contains("weight_decay"), InputError);
}

// A step of training on several threads: the same bits as on one.

TEST_CASE("threads change no bit of a run") {
  struct Run {
    const char *task, *model;
    double clip = 0.5, contract = 0;
  };
  // Matrices in several stretches and uneven halves; words in several slices, with shared prefixes and without.
  for (const auto& [name, model, clip, contract] :
       {Run{"modadd3", "bilinear:hidden=64,inputs=20"},
        {"modadd3", "bilinear:hidden=64,inputs=20", 0},
        {"S3/swaps", "bilinear:hidden=35,inputs=3,bias"},
        {"S3/swaps", "bilinear:hidden=35,inputs=3,scale-free"},
        {"S3/swaps", "deltaproduct:signed,width=8,heads=2,keys=4,values=5,mlp=6"},
        {"parity", "deltaproduct:layers=2,width=8,heads=1,keys=4,values=4,mlp=6"},
        {"parity", "diagonal:width=6,channels=4,states=2"},
        {"modadd5", "lstm:layers=2,hidden=35,inputs=3"},
        {"S3/swaps", "gru:layers=2,hidden=9", 0.5, 3},
        {"parity", "rnn:hidden=17,one-hot"}}) {
    CAPTURE(model);
    const auto task = make_task(name);
    TrainOptions options{.lengths = {5, 30}};
    options.optimiser.steps = 4;
    options.optimiser.clip = clip;
    options.contract = contract;
    options.validate_every = 2;
    std::vector<float> expected;
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      CAPTURE(threads);
      options.threads = threads;
      Trainer trainer(*task, model, options);
      while (trainer.state() == Trainer::State::kRunning) trainer.step();
      REQUIRE(trainer.state() == Trainer::State::kFinished);
      const auto parameters = trainer.model().parameters();
      if (threads == 1)
        expected.assign(parameters.begin(), parameters.end());
      else
        CHECK(std::ranges::equal(parameters, expected));
    }
  }
}

// Runs that are stopped at any step and gone on with.

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
  struct Run {
    std::uint64_t patience, samples;
    const char* model = kModel;
    double contract = 0;
  };
  for (const auto& [patience, samples, model, contract] :
       {Run{0, 0}, Run{1, 0}, Run{0, 16}, Run{0, 0, "lstm:hidden=3,inputs=2", 3}}) {
    TrainOptions options = options_of(patience, samples);
    options.contract = contract;
    const TrainedRun whole = train_run(*task, model, options, {});
    for (std::uint64_t stop = 1; stop < whole.record.steps; ++stop) {
      CAPTURE(patience);
      CAPTURE(stop);
      const std::string kept = (place / ("run-" + std::to_string(stop))).string();
      std::uint64_t steps = 0;
      CHECK_THROWS_AS(train_run(
                          *task, model, options,
                          [&] {
                            if (++steps == stop) throw Interrupted("interrupted");
                          },
                          kept),
                      Interrupted);
      REQUIRE(std::filesystem::exists(kept));
      std::uint64_t more = 0;
      const TrainedRun gone_on = train_run(
          *task, model, options, [&] { ++more; }, kept);
      CHECK(more == whole.record.steps - stop);
      check_same(gone_on, whole);
      TrainOptions other = options;
      other.words = 9;
      CHECK_THROWS_WITH_AS(train_run(*task, model, other, {}, kept), doctest::Contains("run-"), InputError);
    }
    std::filesystem::remove_all(place.path());
    std::filesystem::create_directories(place.path());
  }
}

TEST_CASE("runs that are to contract are told by their weight, and read words that repeat their letters") {
  const auto task = make_task("S3/swaps");
  const auto trainer = [&](const Task& on, double contract) {
    TrainOptions options = options_of(0, 0);
    options.contract = contract;
    options.lengths = {20, 40};
    return Trainer(on, "gru:hidden=3,inputs=2", options);
  };
  Trainer plain = trainer(*task, 0), own = trainer(*task, 3);
  own.resume(trainer(*task, 3).checkpoint());
  CHECK_THROWS_AS(own.resume(trainer(*task, 2).checkpoint()), InputError);
  CHECK_THROWS_AS(own.resume(plain.checkpoint()), InputError);
  CHECK_THROWS_AS(plain.resume(own.checkpoint()), InputError);
  TrainOptions options = options_of(0, 0);
  options.contract = 3;
  CHECK_THROWS_AS(Trainer(*task, kModel, options), InputError);
  options.contract = -1;
  CHECK_THROWS_AS(Trainer(*task, "gru", options), InputError);

  const TrainingBatch drawn = plain.batch_of(2), read = own.batch_of(2);
  REQUIRE(read.lengths == drawn.lengths);
  REQUIRE(read.targets.size() == drawn.targets.size());
  std::vector<std::vector<Letter>> words(read.words);
  std::vector<std::uint64_t> changed(read.words, 0);
  for (std::uint32_t word = 0; word < read.words; ++word)
    for (std::uint32_t t = 0; t < read.lengths[word]; ++t) {
      words[word].push_back(read.letters[std::size_t{t} * read.words + word]);
      changed[word] += words[word].back() != drawn.letters[std::size_t{t} * read.words + word];
    }
  for (const TrainingBatch::Target& target : read.targets) {
    State state = task->oracle()->initial();
    for (std::uint32_t t = 0; t <= target.position; ++t) state = task->oracle()->next(state, words[target.word][t]);
    CHECK(target.label == task->oracle()->output(state));
    CHECK(target.smoothing == 0.1F);
  }
  for (std::uint32_t word = 0; word < read.words; ++word) CHECK((changed[word] == 0 || word % 2 == 0));
  CHECK(std::ranges::count(changed, 0U) < static_cast<std::ptrdiff_t>(read.words));
  const auto at_end = make_task("modadd2");  // one answer: its words stay as they are
  CHECK(trainer(*at_end, 3).batch_of(2).letters == trainer(*at_end, 0).batch_of(2).letters);
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
  Experiment cell{.task = "modadd2", .model = kModel, .training = options_of(0, 0)};
  cell.training.optimiser.steps = 200;
  ExperimentOptions options{.folder = place.path().string(),
                            .progress = [](std::uint64_t, std::uint64_t) { throw Interrupted("interrupted"); }};
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

TEST_CASE("runs of a table that are trained side by side are each what it is alone, stopped on the way or not") {
  const Scratch place("cell-side-by-side");
  Experiment cell{.task = "modadd2", .model = kModel, .training = options_of(0, 0)};
  cell.training.optimiser.steps = 200;
  cell.rates = {1e-2, 1e-3};
  cell.seeds = {4, 5};
  ExperimentOptions options{.folder = place.path().string()};
  // Ten steps of every run between two reports.
  const TrainSideBySide train = [](std::span<Trainer* const> trainers, const auto& progress) {
    std::uint64_t steps = 0;
    const auto is_running = [](const Trainer* trainer) { return trainer->state() == Trainer::State::kRunning; };
    while (std::ranges::any_of(trainers, is_running)) {
      for (Trainer* const trainer : trainers)
        for (int i = 0; i < 10 && is_running(trainer); ++i, ++steps) trainer->step();
      progress(steps);
    }
  };
  train_once(cell, 1e-3, 5, options);  // there already: three are left
  std::uint64_t reports = 0;
  options.progress = [&](std::uint64_t, std::uint64_t all) {
    CHECK(all == 600);
    if (++reports == 7) throw Interrupted("interrupted");
  };
  CHECK_THROWS_AS(train_together(cell, options, train), Interrupted);
  CHECK(std::filesystem::exists(model_path(options.folder, 1e-2, 4) + ".checkpoint"));
  train_together(cell, options, train);
  CHECK(reports == 20);
  for (const double rate : cell.rates)
    for (const std::uint64_t seed : cell.seeds) {
      const std::string path = model_path(options.folder, rate, seed);
      CHECK(!std::filesystem::exists(path + ".checkpoint"));
      const TrainedRun kept = load_trained_run(description(cell), path);
      CHECK(kept.record.on_device == !(rate == 1e-3 && seed == 5));
      TrainOptions alone = cell.training;
      alone.optimiser.learning_rate = rate;
      alone.seed = seed;
      check_same(kept, train_run(*make_task(cell.task), cell.model, alone, {}));
    }
  // Estimating a run's cost leaves nothing behind, and the estimate is about time that passed.
  const RunCost here = run_cost(cell), beside = run_cost(cell, 3, train);
  for (const RunCost& cost : {here, beside}) {
    CHECK(cost.step > 0);
    CHECK(cost.validation > 0);
    CHECK(cost.bytes >= 16 * make_model<float>(kModel, *make_task(cell.task), 1)->parameters().size());
    CHECK(cost.seconds(cell.training) > 200 * cost.step);
  }
}
