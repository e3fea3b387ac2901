#include "gpu/bilinear_stepper.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "gpu/bilinear_plan.h"
#include "gpu/device.h"
#include "groups/error.h"
#include "simulate/tasks.h"

using namespace krohn;

namespace {

constexpr std::uint32_t kWords = 9;

const char* const kShapes[] = {"bilinear:hidden=5,inputs=3",
                               "bilinear:hidden=6,inputs=4,block=2,bias",
                               "bilinear:hidden=8,inputs=3,rotations",
                               "bilinear:hidden=5,inputs=4,rank=3,input-bias",
                               "bilinear:hidden=4,inputs=3,diagonal,bias,input-bias",
                               "bilinear:hidden=6,inputs=3,frozen"};

TrainingBatch batch_of(const Task& task, std::uint64_t first) { return draw_batch(task, {2, 7}, 1, first, kWords); }

template <class Real>
BilinearModel<Real> model_of(const char* shape, const Task& task, std::uint64_t seed) {
  return {parse_bilinear_shape(shape), task.alphabet().size(), static_cast<std::uint32_t>(task.labels().size()), seed};
}

}  // namespace

TEST_CASE("gradients by items are those of the model") {
  const auto task = make_task("modadd5", {});
  for (const char* shape : kShapes) {
    CAPTURE(shape);
    BilinearStepper stepper(Place::kProcessor, plan_of(model_of<float>(shape, *task, 1)), 2, kWords, 0);
    std::vector<ModelStep> steps;
    for (std::uint32_t m = 0; m < 2; ++m) {
      const auto model = model_of<float>(shape, *task, m + 1);
      const std::vector<float> zeros(model.parameters().size(), 0);
      stepper.load(m, model.parameters(), zeros, zeros);
      steps.push_back({batch_of(*task, 100 * m), 0, 1});
      for (auto& target : steps.back().batch.targets) target.smoothing = 0.1F * static_cast<float>(m);
    }
    stepper.step(steps);
    for (std::uint32_t m = 0; m < 2; ++m) {
      // The reference is in double, with the same parameters.
      auto model = model_of<double>(shape, *task, m + 1);
      const auto narrow = model_of<float>(shape, *task, m + 1);
      std::copy(narrow.parameters().begin(), narrow.parameters().end(), model.parameters().begin());
      std::vector<double> expected(model.parameters().size(), 0);
      const BatchLoss loss = model.loss(steps[m].batch, expected);
      CHECK(stepper.loss(m) == doctest::Approx(loss.loss).epsilon(1e-5));
      const std::vector<float> found = stepper.gradient(m);
      double greatest = 0, error = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        greatest = std::max(greatest, std::fabs(expected[i]));
        error = std::max(error, std::fabs(expected[i] - double{found[i]}));
      }
      CAPTURE(m);
      CHECK(greatest > 0);
      CHECK(error < 1e-5 * greatest);
    }
  }
}

TEST_CASE("a step has the same bits every time, whatever models are beside it") {
  const auto task = make_task("modadd5", {});
  const char* const shape = "bilinear:hidden=6,inputs=3,bias";
  const auto run = [&](std::uint32_t models) {
    BilinearStepper stepper(Place::kProcessor, plan_of(model_of<float>(shape, *task, 1)), models, kWords, 1);
    for (std::uint32_t m = 0; m < models; ++m) {
      const auto model = model_of<float>(shape, *task, m + 1);
      const std::vector<float> zeros(model.parameters().size(), 0);
      stepper.load(m, model.parameters(), zeros, zeros);
    }
    for (std::uint64_t step = 0; step < 4; ++step) {
      std::vector<ModelStep> steps;
      for (std::uint32_t m = 0; m < models; ++m) steps.push_back({batch_of(*task, step * kWords + m), 1e-2F, 0.99F});
      stepper.step(steps);
    }
    std::vector<float> parameters(stepper.gradient(0).size());
    stepper.store_parameters(0, parameters);
    return parameters;
  };
  const std::vector<float> alone = run(1);
  CHECK(run(1) == alone);
  CHECK(run(3) == alone);
  const auto start = model_of<float>(shape, *task, 1);
  CHECK_FALSE(std::equal(alone.begin(), alone.end(), start.parameters().begin()));
}

TEST_CASE("training by items learns, and a model that diverges stops for good") {
  const auto task = make_task("parity", {});
  const char* const shape = "bilinear:hidden=8,inputs=4,rotations";
  BilinearStepper stepper(Place::kProcessor, plan_of(model_of<float>(shape, *task, 3)), 2, kWords, 0);
  for (std::uint32_t m = 0; m < 2; ++m) {
    auto model = model_of<float>(shape, *task, 3);
    if (m == 1) model.parameters()[0] = INFINITY;
    const std::vector<float> zeros(model.parameters().size(), 0);
    stepper.load(m, model.parameters(), zeros, zeros);
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
  const auto model = model_of<float>("bilinear:hidden=4,inputs=2,rotations", *task, 1);
  BilinearStepper stepper(Place::kProcessor, plan_of(model), 2, kWords, 0);
  CHECK_THROWS_AS(stepper.step({}), InputError);
  CHECK_THROWS_AS(stepper.step(std::vector<ModelStep>(2)), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(BilinearStepper(Place::kDevice, plan_of(model), 1, kWords, 0), SystemError);
}
