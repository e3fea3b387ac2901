#include "krohn/gpu/training/stepper.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <span>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/gpu/trained_shapes.h"

using namespace krohn;

namespace {

constexpr std::uint32_t kWords = 9;

TrainingBatch batch_of(const Task& task, std::uint64_t first, LengthRange lengths = {1, 7}) {
  return draw_batch(task, lengths, 1, first, kWords);
}

void load(Stepper& stepper, std::uint32_t m, const SequenceModel<float>& model) {
  const std::vector<float> zeros(model.parameters().size(), 0);
  stepper.load(m, model.parameters(), zeros, zeros);
}

/// What the model in double, with the same parameters, says of a batch.
std::vector<double> expected_gradient(const char* shape, const Task& task, const SequenceModel<float>& narrow,
                                      const TrainingBatch& batch, double& loss) {
  const auto model = make_model<double>(shape, task, 1);
  std::copy(narrow.parameters().begin(), narrow.parameters().end(), model->parameters().begin());
  std::vector<double> gradient(model->parameters().size(), 0);
  loss = model->loss(batch, gradient).loss;
  return gradient;
}

/// Of the gradient of models 1, 2, … side by side, tensor by tensor.
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
