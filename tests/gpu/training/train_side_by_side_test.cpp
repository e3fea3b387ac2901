#include "krohn/gpu/training/train_side_by_side.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

namespace {

constexpr char kShape[] = "bilinear:hidden=8,inputs=4,rotations";
const char* const kShapes[] = {kShape, "deltaproduct:width=8,heads=2,reflections=2,signed,conv=2,mlp=6",
                               "diagonal:width=6,channels=8,states=2,signed", "fan:blocks=2,size=3,layers=2",
                               "dense:size=4"};

TrainOptions options_of(double rate, std::uint64_t seed, std::uint64_t steps) {
  TrainOptions options;
  options.lengths = {2, 6};
  options.words = 16;
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
