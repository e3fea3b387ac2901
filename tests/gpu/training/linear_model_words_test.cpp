#include "krohn/gpu/training/linear_model_words.h"

#include <doctest/doctest.h>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

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

EvaluateModelOptions words(std::uint64_t count) {
  EvaluateModelOptions options;
  options.words = count;
  return options;
}

}  // namespace

TEST_CASE("samples of every kind, with special tokens and without, are those of the task") {
  // Answers everywhere and at the end; uniform, alternating and spaced letters; tokens before, after, and padding.
  for (const char* task : {"sum5", "modarith5", "parity", "modarith-equals5", "S5/swaps", "S5/tokens=4", "Z60/tokens=2",
                           "modadd10", "rsm:m=10,seed=1", "ltrarith10"})
    for (const std::uint64_t length : {11, 33, 127})
      check_evaluation(task, "bilinear:hidden=9,inputs=4", length, words(33));
}

TEST_CASE("every linear model: blocks, rotations, additions") {
  for (const char* shape : {"bilinear:hidden=1,inputs=3", "bilinear:hidden=6,inputs=4,block=2,bias",
                            "bilinear:hidden=8,inputs=3,rotations", "bilinear:hidden=5,inputs=4,rank=3,input-bias",
                            "bilinear:hidden=4,inputs=3,diagonal", "bilinear:hidden=33,inputs=3"})
    for (const std::uint64_t length : {1, 2, 8, 9, 65}) check_evaluation("S5", shape, length, words(7));
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
  const auto stacked = make_model<float>("deltaproduct:width=8,heads=1,layers=1", 2, 2, 1);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *stacked, *parity, 10, words(1)), InputError);
  const auto linear = make_model<float>("bilinear:hidden=4,inputs=3", 2, 2, 1);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *linear, *brackets, 11, words(1)), InputError);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *linear, *make_task("modadd5", {}), 0, words(1)), InputError);
  const auto large = make_model<float>("bilinear:hidden=6200,inputs=2,rotations", 2, 2, 1);
  CHECK_THROWS_AS(evaluate_words(Place::kProcessor, *large, *parity, 10, words(1)), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(evaluate_words(Place::kDevice, *linear, *parity, 10, words(1)), SystemError);
}
