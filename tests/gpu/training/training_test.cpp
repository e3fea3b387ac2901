#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/gpu/training/stepper.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/gpu/samples.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

void check_evaluation(const char* task_name, const char* shape, std::uint64_t length, EvaluateModelOptions options) {
  CAPTURE(task_name);
  CAPTURE(shape);
  CAPTURE(length);
  options.threads = 1;
  const auto task = make_task(task_name, {});
  const auto model = make_model<float>(shape, *task, 3);
  for (const bool rescaled : {true, false}) {
    options.rescaled = rescaled;
    const ModelAccuracy expected = evaluate_model(*model, *task, length, options);
    const ModelAccuracy found = evaluate_words(Place::kProcessor, *model, *task, length, options);
    CHECK(found.right == expected.right);
    CHECK(found.targets == expected.targets);
    CHECK(found.right_words == expected.right_words);
    CHECK(found.targets > 0);
  }
}

EvaluateModelOptions words(std::uint64_t count) { return {.words = count}; }

}  // namespace

TEST_CASE("samples of every kind, with special tokens and without, are those of the task") {
  // Answers everywhere and at the end; uniform, alternating and spaced letters; tokens before, after, and padding.
  for (const char* task : {"sum5", "modarith5", "parity", "modarith-equals5", "S5/swaps", "S5/tokens=4", "Z60/tokens=2",
                           "modadd10", "rsm:m=10,seed=1", "ltrarith10"})
    for (const std::uint64_t length : {11, 33, 127}) {
      check_evaluation(task, "bilinear:hidden=9,inputs=4", length, words(33));
      check_evaluation(task, "gru:hidden=5,inputs=3", length, words(33));
      check_evaluation(task, "deltaproduct:width=4,heads=1,keys=3,values=4,layers=2,conv=2,mlp=3", length, words(33));
    }
}

TEST_CASE("every linear model: blocks, rotations, additions") {
  for (const char* shape : {"bilinear:hidden=1,inputs=3", "bilinear:hidden=6,inputs=4,block=2,bias",
                            "bilinear:hidden=8,inputs=3,rotations", "bilinear:hidden=5,inputs=4,rank=3,input-bias",
                            "bilinear:hidden=4,inputs=3,diagonal", "bilinear:hidden=33,inputs=3"})
    for (const std::uint64_t length : {1, 2, 8, 9, 65}) check_evaluation("S5", shape, length, words(7));
  // The largest matrix that is read word by word, one larger, and a state that no block holds.
  for (const char* shape :
       {"bilinear:hidden=128,inputs=3", "bilinear:hidden=129,inputs=3,bias", "bilinear:hidden=6200,inputs=2,rotations"})
    check_evaluation("S5", shape, 9, words(35));
}

TEST_CASE("a long word keeps its scale") {
  // Without scaling this state overflows; rescaled, every answer counts.
  check_evaluation("parity", "bilinear:hidden=5,inputs=3", 127'323, words(2));
  const auto task = make_task("parity", {});
  const auto model = make_model<float>("bilinear:hidden=8,inputs=3", 2, 2, 1);
  EvaluateModelOptions rescaled = words(3);
  rescaled.rescaled = true;
  const ModelAccuracy at = evaluate_words(Place::kProcessor, *model, *task, 20'000, rescaled);
  CHECK(at.right > at.targets / 3);  // the other answers are wrong, not missing
}

TEST_CASE("what devices do not evaluate is refused") {
  const auto parity = make_task("parity", {}), brackets = make_task("modarith-brackets5", {});
  const auto linear = make_model<float>("bilinear:hidden=4,inputs=3", 2, 2, 1);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *linear, *brackets, 11, words(1)), InputError);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *linear, *make_task("modadd5", {}), 0, words(1)), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(evaluate_words(Place::kDevice, *linear, *parity, 10, words(1)), SystemError);
}

namespace {

constexpr std::uint32_t kWords = 9;

TrainingBatch batch_of(const Task& task, std::uint64_t first, LengthRange lengths = {1, 7}) {
  return draw_batch(task, lengths, 1, first, kWords);
}

void load(Stepper& stepper, std::uint32_t m, const SequenceModel<float>& model) {
  const std::vector<float> zeros(model.parameters().size(), 0);
  stepper.load(m, model.parameters(), zeros, zeros);
}

/// The outputs of the model in double, with the same parameters, on a batch.
std::vector<double> expected_gradient(const char* shape, const Task& task, const SequenceModel<float>& narrow,
                                      const TrainingBatch& batch, double& loss) {
  const auto model = make_model<double>(shape, task, 1);
  std::copy(narrow.parameters().begin(), narrow.parameters().end(), model->parameters().begin());
  std::vector<double> gradient(model->parameters().size(), 0);
  loss = model->loss(batch, gradient).loss;
  return gradient;
}

/// Checks the gradients of models 1, 2, … side by side, tensor by tensor.
void check_gradients(const char* shape, const Task& task, const Stepper& stepper, std::span<const ModelStep> steps) {
  for (std::uint32_t m = 0; m < steps.size(); ++m) {
    CAPTURE(m);
    const auto model = make_model<float>(shape, task, m + 1);
    double loss = 0;
    const std::vector<double> expected = expected_gradient(shape, task, *model, steps[m].batch, loss);
    CHECK(stepper.loss(m) == doctest::Approx(loss).epsilon(1e-5));
    const std::vector<float> found = stepper.gradient(m);
    std::size_t begin = 0;
    double greatest_of_all = 0;
    for (const double by : expected) greatest_of_all = std::max(greatest_of_all, std::fabs(by));
    for (const ParameterPart& part : model->tensor_parts()) {
      CAPTURE(part.name);
      std::size_t size = 1;
      for (const std::uint64_t extent : part.shape) size *= extent;
      double greatest = 0, error = 0;
      for (std::size_t i = begin; i < begin + size; ++i) {
        greatest = std::max(greatest, std::fabs(expected[i]));
        error = std::max(error, std::fabs(expected[i] - double{found[i]}));
      }
      begin += size;
      CHECK(error <= 2e-5 * greatest + 2e-6 * greatest_of_all);
    }
    CHECK(begin == expected.size());
  }
}

}  // namespace

TEST_CASE("gradients by stages are those of the model") {
  const auto task = make_task("modadd5", {});
  for (const char* shape : kTrainedShapes) {
    CAPTURE(shape);
    const auto first = make_model<float>(shape, *task, 1);
    Stepper stepper(Place::kProcessor, *first, 2, kWords, 0);
    std::vector<ModelStep> steps;
    for (std::uint32_t m = 0; m < 2; ++m) {
      load(stepper, m, *make_model<float>(shape, *task, m + 1));
      steps.push_back({batch_of(*task, 100 * m), 0, 1});
      for (auto& target : steps.back().batch.targets) target.smoothing = 0.1F * static_cast<float>(m);
    }
    stepper.step(steps);
    check_gradients(shape, *task, stepper, steps);
    // Again, on what is left of the first; then on words that need more room.
    for (auto& step : steps) step.batch = batch_of(*task, 1000, {1, 4});
    stepper.step(steps);
    check_gradients(shape, *task, stepper, steps);
    steps[1].batch = batch_of(*task, 2000, {20, 50});
    stepper.step(steps);
    check_gradients(shape, *task, stepper, steps);
  }
}

TEST_CASE("a step has the same bits every time, alone, beside other models, and without a graph") {
  const auto task = make_task("modadd5", {});
  for (const char* shape : kTrainedShapes) {
    CAPTURE(shape);
    const auto first = make_model<float>(shape, *task, 1);
    const auto run = [&](std::uint32_t models, bool graph) {
      Stepper stepper(Place::kProcessor, *first, models, kWords, 1);
      for (std::uint32_t m = 0; m < models; ++m) load(stepper, m, *make_model<float>(shape, *task, m + 1));
      for (std::uint64_t step = 0; step < 3; ++step) {
        std::vector<ModelStep> steps;
        for (std::uint32_t m = 0; m < models; ++m)
          steps.push_back({batch_of(*task, step * kWords + m, {1, 7 + 30 * m}), 1e-2F, 0.99F});
        graph ? stepper.step(steps) : stepper.step_one_by_one(steps);
      }
      CHECK_FALSE(stepper.has_failed(0));
      std::vector<float> parameters(first->parameters().size());
      stepper.store_parameters(0, parameters);
      return parameters;
    };
    const std::vector<float> alone = run(1, true);
    CHECK(run(1, true) == alone);
    CHECK(run(3, true) == alone);
    CHECK(run(2, false) == alone);
    CHECK_FALSE(std::equal(alone.begin(), alone.end(), first->parameters().begin()));
  }
}

TEST_CASE("words of many tokens are summed in parts") {
  const auto task = make_task("modadd5", {});
  for (const char* shape : {"deltaproduct:width=8,heads=2,reflections=2,signed,conv=3,mlp=9",
                            "diagonal:width=6,channels=70,states=3", "fan:blocks=2,size=3,layers=2"}) {
    CAPTURE(shape);
    const auto model = make_model<float>(shape, *task, 1);
    Stepper stepper(Place::kProcessor, *model, 1, kWords, 0);
    load(stepper, 0, *model);
    const std::vector<ModelStep> steps{{batch_of(*task, 0, {60, 90}), 0, 1}};
    stepper.step(steps);
    check_gradients(shape, *task, stepper, steps);
  }
}

TEST_CASE("states too large for a team's own memory are worked on elsewhere") {
  const auto task = make_task("parity", {});
  const char* const shape = "deltaproduct:width=4,heads=1,keys=160,values=160,mlp=0";
  const auto model = make_model<float>(shape, *task, 1);
  Stepper stepper(Place::kProcessor, *model, 1, kWords, 0);
  load(stepper, 0, *model);
  const std::vector<ModelStep> steps{{batch_of(*task, 0, {1, 4}), 0, 1}};
  stepper.step(steps);
  check_gradients(shape, *task, stepper, steps);
}

TEST_CASE("training by stages learns, and a model that diverges stops for good") {
  const auto task = make_task("parity", {});
  const char* const shape = "bilinear:hidden=8,inputs=4,rotations";
  const auto first_model = make_model<float>(shape, *task, 3);
  Stepper stepper(Place::kProcessor, *first_model, 2, kWords, 0);
  for (std::uint32_t m = 0; m < 2; ++m) {
    const auto model = make_model<float>(shape, *task, 3);
    if (m == 1) model->parameters()[0] = INFINITY;
    load(stepper, m, *model);
  }
  double first = 0, last = 0;
  for (std::uint64_t step = 1; step <= 120; ++step) {
    const double count = static_cast<double>(step);
    const auto rate = static_cast<float>(1e-2 * std::sqrt(1 - std::pow(0.999, count)) / (1 - std::pow(0.9, count)));
    const std::vector<ModelStep> steps(2, {batch_of(*task, step * kWords), rate, 1});
    stepper.step(steps);
    (step == 1 ? first : last) = stepper.loss(0);
  }
  CHECK(last < first / 2);
  CHECK_FALSE(stepper.has_failed(0));
  CHECK(stepper.has_failed(1));
}

TEST_CASE("batches that do not fit are refused") {
  const auto task = make_task("parity", {});
  const auto model = make_model<float>("bilinear:hidden=4,inputs=2,rotations", *task, 1);
  Stepper stepper(Place::kProcessor, *model, 2, kWords, 0);
  CHECK_THROWS_AS(stepper.step({}), InputError);
  CHECK_THROWS_AS(stepper.step(std::vector<ModelStep>(2)), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(Stepper(Place::kDevice, *model, 1, kWords, 0), SystemError);
}

namespace {

constexpr char kShape[] = "bilinear:hidden=8,inputs=4,rotations";
const char* const kShapes[] = {kShape, "deltaproduct:width=8,heads=2,reflections=2,signed,conv=2,mlp=6",
                               "diagonal:width=6,channels=8,states=2,signed", "fan:blocks=2,size=3,layers=2",
                               "dense:size=4"};

TrainOptions options_of(double rate, std::uint64_t seed, std::uint64_t steps) {
  TrainOptions options{.lengths = {2, 6}, .words = 16};
  options.optimiser.learning_rate = rate;
  options.optimiser.steps = steps;
  options.validate_every = 20;
  options.stop_at = 1e-9;
  options.seed = seed;
  return options;
}

/// The parameters of three runs, taken to their ends together.
std::vector<std::vector<float>> run_three(const Task& task, std::uint64_t steps, const char* shape = kShape) {
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (const std::uint64_t seed : {1, 2, 3})
    trainers.push_back(std::make_unique<Trainer>(task, shape, options_of(seed == 2 ? 3e-3 : 1e-2, seed, steps)));
  const std::vector<Trainer*> all{trainers[0].get(), trainers[1].get(), trainers[2].get()};
  std::uint64_t told = 0;
  train_side_by_side(Place::kProcessor, all, [&](std::uint64_t done) { told = done; });
  CHECK(told == 3 * steps);
  std::vector<std::vector<float>> parameters;
  for (const auto& trainer : trainers) {
    CHECK(trainer->state() == Trainer::State::kFinished);
    CHECK(trainer->steps() == steps);
    parameters.emplace_back(trainer->model().parameters().begin(), trainer->model().parameters().end());
  }
  return parameters;
}

}  // namespace

TEST_CASE("runs side by side go where the trainer goes, up to the order of sums") {
  const auto task = make_task("parity", {});
  for (const char* shape : kShapes) {
    CAPTURE(shape);
    const auto found = run_three(*task, 50, shape);
    CHECK(run_three(*task, 50, shape) == found);
    Trainer alone(*task, shape, options_of(1e-2, 1, 50));
    while (alone.state() == Trainer::State::kRunning) alone.step();
    double difference = 0;
    for (std::size_t i = 0; i < found[0].size(); ++i)
      difference = std::max(difference, double{std::abs(found[0][i] - alone.model().parameters()[i])});
    CHECK(difference < 1e-3);
  }
}

TEST_CASE("an interrupted group goes on from a whole step, and lands where it would have") {
  const auto task = make_task("parity", {});
  const auto whole = run_three(*task, 40);
  Trainer first(*task, kShape, options_of(1e-2, 1, 40));
  Trainer* const only = &first;
  CHECK_THROWS_AS(train_side_by_side(Place::kProcessor, {&only, 1}, [](std::uint64_t) { throw Interrupted("stop"); }),
                  Interrupted);
  CHECK(first.steps() == 20);  // the validation was next
  Trainer second(*task, kShape, options_of(1e-2, 1, 40));
  second.resume(first.checkpoint());
  Trainer* const resumed = &second;
  train_side_by_side(Place::kProcessor, {&resumed, 1});
  CHECK(std::equal(whole[0].begin(), whole[0].end(), second.model().parameters().begin()));
}

TEST_CASE("runs that do not fit together are refused") {
  const auto task = make_task("parity", {});
  Trainer a(*task, kShape, options_of(1e-2, 1, 40)),
      b(*task, "bilinear:hidden=4,inputs=4,rotations", options_of(1e-2, 1, 40));
  const std::vector<Trainer*> both{&a, &b};
  CHECK_THROWS_AS(train_side_by_side(Place::kProcessor, both), InputError);
  CHECK_NOTHROW(train_side_by_side(Place::kProcessor, {}));
  Trainer turning(*task, "diagonal:width=4,states=2,complex", options_of(1e-2, 1, 40));
  Trainer* const only = &turning;
  CHECK_THROWS_AS(train_side_by_side(Place::kProcessor, {&only, 1}), NotOnDevice);  // --device auto goes on without one
  TrainOptions decayed = options_of(1e-2, 1, 40);
  decayed.optimiser.coupled_decay = 1e-4;
  Trainer coupled(*task, kShape, decayed), released(*task, "fan-released:blocks=1,size=2", options_of(1e-2, 1, 40)),
      free(*task, "bilinear:hidden=4,inputs=2,scale-free", options_of(1e-2, 1, 40));
  for (Trainer* const each : {&coupled, &released, &free})
    CHECK_THROWS_AS(train_side_by_side(Place::kProcessor, {&each, 1}), NotOnDevice);
  Trainer* const one = &a;
  if (!cuda_available()) CHECK_THROWS_AS(train_side_by_side(Place::kDevice, {&one, 1}), SystemError);
}
