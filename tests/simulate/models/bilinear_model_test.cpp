// Models in training: runs that resume bit for bit, what they learn, and the network
// that a trained model is.

#include "krohn/simulate/models/bilinear_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "krohn/groups/error.h"
#include "krohn/groups/random.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/models/model_file.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/scratch.h"

using namespace krohn;
using krohn::test::Scratch;

namespace {

const std::vector<const char*> kShapes = {"bilinear:hidden=6,inputs=3",
                                          "bilinear:hidden=6,inputs=3,bias,input-bias",
                                          "bilinear:rank=4,hidden=5,inputs=3,bias",
                                          "bilinear:block=2,hidden=6,inputs=3,input-bias",
                                          "bilinear:diagonal,hidden=5,inputs=4",
                                          "bilinear:rotations,hidden=6,inputs=3",
                                          "bilinear:rotations,hidden=6,inputs=3,bias",
                                          "bilinear:hidden=6,inputs=3,scale-free",
                                          "bilinear:block=2,hidden=6,inputs=3,scale-free"};

Trainer trained(const Task& task, const char* shape, TrainOptions options) {
  Trainer trainer(task, shape, options);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  return trainer;
}

}  // namespace

TEST_CASE("a batch holds the task's own samples") {
  const auto task = make_task("S3");
  const TrainingBatch batch = draw_batch(*task, {3, 9}, 2, 100, 20);
  std::size_t targets = 0;
  for (std::uint32_t word = 0; word < batch.words; ++word) {
    State state = task->oracle()->initial();
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t) {
      state = task->oracle()->next(state, batch.letters[t * batch.words + word]);
      for (const auto& target : batch.targets)
        if (target.word == word && target.position == t) {
          CHECK(target.label == task->oracle()->output(state));
          ++targets;
        }
    }
  }
  CHECK(targets == batch.targets.size());
  CHECK(draw_batch(*task, {3, 9}, 2, 100, 20).letters == batch.letters);
  CHECK(draw_batch(*task, {3, 9}, 3, 100, 20).letters != batch.letters);
}

TEST_CASE("what is added to a state begins within its own bounds, and nothing else by others") {
  for (const std::string shape : {"bilinear:rotations,hidden=6,inputs=3,bias,input-bias",
                                  "bilinear:full,hidden=6,inputs=3,input-bias,spread=0.5"}) {
    const auto usual = make_model<float>(shape, 3, 2, 5),
               small = make_model<float>(shape + ",bias-spread=0.001", 3, 2, 5);
    CHECK(small->name() == shape + ",bias-spread=0.001");
    std::size_t place = 0;
    for (const ParameterPart& part : usual->tensor_parts()) {
      CAPTURE(part.name);
      const std::size_t end =
          place + std::accumulate(part.shape.begin(), part.shape.end(), std::size_t{1}, std::multiplies<>());
      for (; place < end; ++place) {
        const float before = usual->parameters()[place], after = small->parameters()[place];
        if (part.name == "bias" || part.name == "input_bias") {
          CHECK(std::abs(after) <= 0.001F);
          CHECK(after != before);
        } else {
          CHECK(after == before);
        }
      }
    }
    CHECK(place == usual->parameters().size());
  }
  CHECK_THROWS_WITH_AS(parse_bilinear_shape("bilinear:full,bias-spread=0.001"),
                       doctest::Contains("add bias or input-bias"), InputError);
  // First weights that are zero in fp32 would never leave it.
  for (const char* part : {"spread=9.9e-31", "bias,bias-spread=9.9e-31", "spread=1e-300", "spread=0", "spread=101"})
    CHECK_THROWS_WITH_AS(parse_bilinear_shape(std::string("bilinear:full,") + part),
                         doctest::Contains("needs a number from 1e-30 to 100"), InputError);
  CHECK(parse_bilinear_shape("bilinear:full,spread=1e-30").spread == 1e-30);
  const auto least = make_model<float>("bilinear:full,spread=1e-30", 2, 2, 1);
  CHECK(std::ranges::none_of(least->parameters(), [](float x) { return x != 0 && std::abs(x) < 1e-38F; }));
}

TEST_CASE("an interrupted run goes on bit for bit") {
  const auto task = make_task("modadd3");
  const char* const shape = "bilinear:block=2,hidden=8,inputs=4";
  TrainOptions options;
  options.optimiser.steps = 60;
  options.validate_every = 25;
  options.words = 8;
  Trainer whole(*task, shape, options);
  while (whole.state() == Trainer::State::kRunning) whole.step();
  for (const int first : {1, 25, 59}) {
    Trainer before(*task, shape, options);
    for (int i = 0; i < first; ++i) before.step();
    Trainer after(*task, shape, options);
    after.resume(before.checkpoint());
    CHECK(after.steps() == static_cast<std::uint64_t>(first));
    while (after.state() == Trainer::State::kRunning) after.step();
    CHECK(std::ranges::equal(after.model().parameters(), whole.model().parameters()));
    CHECK(after.validation().loss == whole.validation().loss);
  }
  options.optimiser.learning_rate = 1e-2;
  Trainer other(*task, shape, options);
  CHECK_THROWS_WITH_AS(other.resume(whole.checkpoint()), doctest::Contains("another run"), InputError);
}

TEST_CASE("the gradient by the weights, left as a product, is the one written out") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  for (const char* const shape : kShapes) {
    CAPTURE(shape);
    const BilinearModel<double> model(parse_bilinear_shape(shape), task->alphabet().size(),
                                      static_cast<std::uint32_t>(task->labels().size()), 9);
    std::vector<double> whole(model.parameters().size(), 0), rest = whole;
    OuterGradient<double> weights;
    const BatchLoss loss = model.loss(batch, whole), same = model.loss(batch, rest, weights);
    CHECK(loss.loss == same.loss);
    CHECK((weights.terms > 0) ==
          (model.shape().form == BilinearShape::Form::kFull || model.shape().form == BilinearShape::Form::kBlocks));
    for (std::size_t i = 0; i < weights.rows * weights.columns; ++i) {
      REQUIRE(rest[weights.first + i] == 0);
      for (std::size_t t = 0; t < weights.terms; ++t)
        rest[weights.first + i] += weights.left[t * weights.rows + i / weights.columns] *
                                   weights.right[t * weights.columns + i % weights.columns];
    }
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(rest[i] == doctest::Approx(whole[i]).epsilon(1e-12));
  }
}

TEST_CASE("a learning rate that diverges is said, and the last good parameters stay") {
  const auto task = make_task("modadd3");
  TrainOptions options;
  options.optimiser.learning_rate = 1e30;
  options.optimiser.steps = 50;
  const Trainer trainer = trained(*task, "bilinear:hidden=8,inputs=4", options);
  CHECK(trainer.state() == Trainer::State::kDiverged);
  for (const float number : trainer.model().parameters()) CHECK(std::isfinite(number));
}

TEST_CASE("rotations learn modular addition far past the lengths of training; a frozen recurrence stays as it was") {
  const auto task = make_task("modadd3");
  TrainOptions options;
  options.optimiser.steps = 4000;
  options.optimiser.learning_rate = 3e-3;
  const Trainer trainer = trained(*task, "bilinear:rotations,hidden=32,inputs=16", options);
  CHECK(trainer.validation().right == trainer.validation().targets);
  EvaluateModelOptions evaluation;
  evaluation.words = 100;
  for (const std::uint64_t length : {10u, 200u}) {
    const ModelAccuracy at = evaluate_model(trainer.model(), *task, length, evaluation);
    CHECK(at.targets == 100);
    CHECK(at.right == 100);
    CHECK(at.right_words == 100);
  }
  options.optimiser.steps = 5;
  const BilinearShape frozen = parse_bilinear_shape("bilinear:diagonal,hidden=8,inputs=4,frozen");
  const BilinearModel<float> start(frozen, task->alphabet().size(), 3, options.seed);
  const Trainer kept = trained(*task, "bilinear:diagonal,hidden=8,inputs=4,frozen", options);
  const std::size_t first = start.first_trained();
  CHECK(first < start.parameters().size());
  CHECK(std::ranges::equal(kept.model().parameters().first(first), start.parameters().first(first)));
  CHECK(!std::ranges::equal(kept.model().parameters().subspan(first), start.parameters().subspan(first)));
}

TEST_CASE("the network of a model answers as the model does") {
  for (const auto& [name, shape] : {std::pair{"modadd3", "bilinear:rotations,hidden=8,inputs=4"},
                                    {"modadd3", "bilinear:hidden=6,inputs=4,bias"},
                                    {"rsm:m=4,seed=1", "bilinear:block=2,hidden=8,inputs=4"}}) {
    CAPTURE(name);
    CAPTURE(shape);
    const auto task = make_task(name);
    const BilinearModel<float> model(parse_bilinear_shape(shape), task->alphabet().size(),
                                     static_cast<std::uint32_t>(task->labels().size()), 4);
    const Network network = network_of(model, *task);
    // The model over whole samples, in double, beside the network in fp64 over the input letters.
    const LinearModel view = *model.linear_view();
    const auto evaluator = make_evaluator(network, Precision::kFp64);
    for (std::uint64_t index = 0; index < 20; ++index) {
      const std::vector<TaskToken> sample = task->sample(task->info().least_length + index % 5, 3, index);
      std::vector<double> state(view.initial.begin(), view.initial.end());
      evaluator->reset();
      std::optional<State> said;
      for (const TaskToken& token : sample) {
        const std::size_t hidden = state.size(), block = view.block;
        std::vector<double> next(hidden, 0);
        for (std::size_t row = 0; row < hidden; ++row) {
          for (std::size_t column = 0; column < block; ++column)
            next[row] += double{view.matrices[(token.letter * hidden + row) * block + column]} *
                         state[row / block * block + column];
          if (!view.additions.empty()) next[row] += double{view.additions[token.letter * hidden + row]};
        }
        state = next;
        const std::string& letter = task->alphabet().name(token.letter);
        if (const auto own = network.automaton.alphabet().find(letter)) said = evaluator->step(*own);
      }
      std::size_t best = 0;
      std::vector<double> logits;
      for (std::size_t label = 0; label < model.labels(); ++label) {
        logits.push_back(view.readout_bias[label]);
        for (std::size_t i = 0; i < state.size(); ++i)
          logits.back() += double{view.readout[label * state.size() + i]} * state[i];
        if (logits[label] > logits[best]) best = label;
      }
      REQUIRE(said.has_value());
      CHECK(network.automaton.output(*said) == best);
    }
  }
}

TEST_CASE("models are saved and read back; others are refused") {
  const Scratch scratch("model-file");
  const std::string path = (scratch / "model-file.safetensors").string();
  const auto model = make_model<float>("bilinear:rank=3,hidden=4,inputs=2,bias", 5, 3, 7);
  save_model("modadd3", *model, path);
  const TrainedModel read = load_model(path);
  CHECK(read.task == "modadd3");
  CHECK(read.model->name() == model->name());
  CHECK(std::ranges::equal(read.model->parameters(), model->parameters()));
  TensorFile file = read_safetensors(path);
  file.metadata["model"] = "bilinear:rank=3,hidden=8,inputs=2,bias";
  write_safetensors(file, path);
  CHECK_THROWS_AS(load_model(path), InputError);
  file.metadata.erase("task");
  write_safetensors(file, path);
  CHECK_THROWS_WITH_AS(load_model(path), doctest::Contains("krohn train"), InputError);
}

TEST_CASE("models by name, there and back") {
  for (const char* text : kShapes) {
    const BilinearShape shape = parse_bilinear_shape(text);
    CHECK(parse_bilinear_shape(to_string(shape)) == shape);
  }
  CHECK(parse_bilinear_shape("bilinear").hidden == 64);
  for (const char* wrong :
       {"transformer", "bilinear:block=0", "bilinear:block=5", "bilinear:hidden=7,rotations", "bilinear:width=3",
        "bilinear:spread=-1", "bilinear:rank", "bilinear:full=3", "bilinear:full,block=2", "bilinear:bias,bias",
        "bilinear:bias,scale-free", "bilinear:rotations,input-bias,scale-free"})
    CHECK_THROWS_AS(make_model<float>(wrong, 3, 2, 1), InputError);
}

TEST_CASE("Wilson's interval and scaled accuracy") {
  CHECK(confidence(0, 10).low == 0);
  CHECK(confidence(0, 10).high == doctest::Approx(0.2775).epsilon(1e-3));
  CHECK(confidence(10, 10).high == doctest::Approx(1));
  CHECK(confidence(5, 10).low == doctest::Approx(0.2366).epsilon(1e-3));
  CHECK(scaled(0.2, 0.2) == 0);
  CHECK(scaled(1, 0.2) == 1);
}
