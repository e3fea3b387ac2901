// Models that begin with constructions: every family and form that takes them computes the task at once, those that do
// not say why, and training brings a perturbed one back.

#include "krohn/simulate/learned/initialise_model.h"

#include <doctest/doctest.h>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/task_automaton.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"

using namespace krohn;

namespace {

/// Of a language by name, or of the task's own automaton; by name, or the planner's choice.
Network construction(const Task& task, const std::string& language, const std::string& name) {
  BuildOptions wishes;
  if (!name.empty()) wishes.construction = name;
  return build(language.empty() ? input_machine(task).automaton : named_language(language), wishes);
}

std::unique_ptr<SequenceModel<float>> started(const char* model, const Task& task, const Network& network) {
  auto result = make_model<float>(model, task, 3);
  initialise_from(*result, network, task);
  return result;
}

double accuracy(const SequenceModel<float>& model, const Task& task, std::uint64_t length) {
  EvaluateModelOptions options;
  options.words = 100;
  options.threads = 1;
  return evaluate_model(model, task, length, options).accuracy();
}

struct Fit {
  const char *task, *language, *construction, *model;
};

}  // namespace

TEST_CASE("a model that begins with a construction is right on long words without a step") {
  for (const auto& [task_name, language, name, model_name] :
       {Fit{"modadd5", "Z5", "permutation", "bilinear:full,hidden=5,inputs=7"},
        Fit{"modadd5", "Z5", "permutation", "bilinear:full,hidden=11,inputs=16,bias,input-bias"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:rotations,hidden=8,inputs=8"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:block=2,hidden=6,inputs=8"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:block=2,hidden=6,inputs=8,scale-free"},
        Fit{"modadd5", "Z5", "permutation", "bilinear:rank=30,hidden=8,inputs=8"},
        Fit{"modadd5", "Z5", "permutation", "dense:size=6"}, Fit{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6"},
        Fit{"modadd5", "Z5", "rotation", "fan:blocks=4,size=2,norm=2"},
        Fit{"parity", "parity", "parity-scalar", "bilinear:diagonal,hidden=4,inputs=4"},
        Fit{"parity", "parity", "parity-scalar", "bilinear:rotations,hidden=4,inputs=4"},
        Fit{"parity", "parity", "", "bilinear:block=2,hidden=4,inputs=4"},
        Fit{"S3", "S3", "", "bilinear:full,hidden=24,inputs=12"}, Fit{"S3", "S3", "", "dense:size=16"},
        Fit{"rsm:m=5,seed=1", "", "one-hot", "bilinear:full,hidden=24,inputs=16"},
        Fit{"rsm:m=5,seed=1", "", "one-hot", "fan:blocks=2,size=12"}}) {
    CAPTURE(model_name);
    CAPTURE(task_name);
    const auto task = make_task(task_name);
    CHECK(accuracy(*started(model_name, *task, construction(*task, language, name)), *task, 300) == 1);
  }
}

TEST_CASE("constructions and models that do not fit say so") {
  struct Fact {
    const char *task, *language, *construction, *model, *why;
  };
  for (const auto& [task_name, language, name, model_name, why] :
       {Fact{"modadd5", "Z5", "permutation", "bilinear:full,hidden=4,inputs=8", "larger"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:full,hidden=8,inputs=6", "inputs=7"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:rotations,hidden=16,inputs=8", "mix 5"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:diagonal,hidden=16,inputs=8", "blocks of 1"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:rank=9,hidden=16,inputs=8", "rank=25"},
        Fact{"modadd5", "Z5", "permutation", "dense:size=4", "size=5"},
        Fact{"modadd5", "Z5", "rotation", "fan:blocks=4,size=2", "norm=2"},
        Fact{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6,generator=4", "generator"},
        Fact{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6,layers=2", "norms"},
        Fact{"modadd5", "Z5", "permutation", "deltaproduct:width=16,heads=1", "fla-deltanet"},
        Fact{"modadd5", "Z5", "permutation", "diagonal:width=16", "norms"},
        Fact{"modadd5", "parity", "", "bilinear:full,hidden=16,inputs=8", "no letter \"2\""},
        Fact{"modadd5", "evenpair5", "", "bilinear:full,hidden=64,inputs=8", "language"}}) {
    CAPTURE(model_name);
    const auto task = make_task(task_name);
    CHECK_THROWS_WITH_AS(started(model_name, *task, construction(*task, language, name)), doctest::Contains(why),
                         InputError);
  }
}

TEST_CASE("a perturbed construction comes back by training") {
  const auto task = make_task("modadd5");
  const Network network = construction(*task, "Z5", "permutation");
  TrainOptions options;
  options.optimiser.learning_rate = 1e-3;
  options.optimiser.schedule = Schedule::kCosine;
  options.smoothing = 0.1;
  options.stop_at = 0;
  constexpr char kModel[] = "bilinear:full,hidden=8,inputs=8";
  const auto prepare = [&](SequenceModel<float>& model) {
    initialise_from(model, network, *task);
    perturb(model, 0.1, 5);
  };
  options.optimiser.steps = 0;
  const Trainer before(*task, kModel, options, prepare);
  CHECK(before.state() == Trainer::State::kFinished);
  const double wrong = accuracy(before.model(), *task, 60);
  options.optimiser.steps = 600;
  Trainer after(*task, kModel, options, prepare);
  while (after.state() == Trainer::State::kRunning) after.step();
  const double right = accuracy(after.model(), *task, 60);
  CAPTURE(wrong);
  CAPTURE(right);
  CHECK(wrong < 0.9);
  CHECK(right > 0.99);
}

TEST_CASE("noise has the stated deviation, of every tensor, and is the seed's") {
  const auto task = make_task("modadd5");
  const auto model = make_model<float>("bilinear:full,hidden=32,inputs=16", 7, 5, 1);
  const std::vector<float> first(model->parameters().begin(), model->parameters().end());
  const auto again = make_model<float>("bilinear:full,hidden=32,inputs=16", 7, 5, 1);
  perturb(*model, 0.2, 8);
  perturb(*again, 0.2, 8);
  CHECK(std::ranges::equal(model->parameters(), again->parameters()));
  const std::size_t begin = 7 * 16, count = 16 * 32 * 32;  // the weights, after the embedding
  double squares = 0, noise = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    squares += double{first[i]} * first[i];
    const double change = double{model->parameters()[i]} - first[i];
    noise += change * change;
  }
  CHECK(std::sqrt(noise / squares) == doctest::Approx(0.2).epsilon(0.03));
}
