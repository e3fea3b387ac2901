// Every family of models: the adjoint against central finite differences in double, readers against the loss, names.

#include "krohn/simulate/models/sequence_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/groups/error.h"
#include "krohn/simulate/models/linear_model_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"

using namespace krohn;

namespace {

const std::vector<const char*> kModels = {
    "bilinear:hidden=6,inputs=3", "bilinear:hidden=6,inputs=3,bias,input-bias",
    "bilinear:rank=4,hidden=5,inputs=3,bias", "bilinear:block=2,hidden=6,inputs=3,input-bias",
    "bilinear:diagonal,hidden=5,inputs=4", "bilinear:rotations,hidden=6,inputs=3",
    "bilinear:rotations,hidden=6,inputs=3,bias", "bilinear:hidden=6,inputs=3,scale-free",
    "bilinear:rank=4,hidden=5,inputs=3,scale-free", "bilinear:block=2,hidden=6,inputs=3,scale-free",
    "bilinear:rotations,hidden=6,inputs=3,scale-free", "dense:size=3",
    // One layer without a convolution combines values, or where letters' are more than a value has numbers, axes.
    "deltaproduct:width=4,heads=2,keys=3,values=3,mlp=3", "deltaproduct:width=4,heads=2,keys=3,values=5,signed,mlp=3",
    "deltaproduct:width=3,heads=1,keys=3,values=12,reflections=2,mlp=0",
    "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=2,mlp=0",
    "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,mlp=2",
    "diagonal:width=3,channels=4,states=2,conv=0", "diagonal:width=3,channels=4,states=2,signed,conv=3,mlp=2",
    "diagonal:layers=2,width=3,channels=3,states=2,fixed,conv=0",
    "diagonal:width=3,channels=4,states=2,complex,conv=2,mlp=2",
    "diagonal:layers=2,width=3,channels=3,states=2,complex,fixed,conv=0", "fan:blocks=2,size=2",
    "fan:blocks=2,size=3,generator=4,norm=1", "fan:blocks=2,size=2,layers=2,mlp=3",
    "fan-released:blocks=2,size=3,norm=1.5", "fan-released:layers=2,blocks=2,size=2", "rnn:hidden=4,inputs=3",
    "rnn-relu:hidden=4,inputs=3", "gru:hidden=4,inputs=3", "gru:layers=2,hidden=3,one-hot,unbiased",
    "lstm:hidden=3,inputs=2", "lstm:layers=2,hidden=3,one-hot"};

/// Positions first … first + count − 1 of a batch.
TrainingBatch part_of(const TrainingBatch& batch, std::uint32_t first, std::uint32_t count) {
  TrainingBatch part{batch.words, count, {}, {}, {}};
  part.letters.assign(batch.letters.begin() + std::ptrdiff_t{first} * batch.words,
                      batch.letters.begin() + std::ptrdiff_t{first + count} * batch.words);
  for (const std::uint32_t length : batch.lengths)
    part.lengths.push_back(std::min(length - std::min(length, first), count));
  for (const TrainingBatch::Target& target : batch.targets)
    if (target.position >= first && target.position < first + count)
      part.targets.push_back({target.position - first, target.word, target.label});
  return part;
}

}  // namespace

TEST_CASE("the gradient is that of finite differences") {
  for (const char* task_name : {"modadd3", "parity"}) {
    const auto task = make_task(task_name);
    const TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
    for (const char* name : kModels) {
      CAPTURE(name);
      const auto model = make_model<double>(name, *task, 9);
      std::vector<double> gradient(model->parameters().size(), 0);
      const BatchLoss loss = model->loss(batch, gradient);
      CHECK(loss.loss == doctest::Approx(model->loss(batch, {}).loss).epsilon(1e-14));
      double worst = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        constexpr double kStep = 1e-5;
        const double here = model->parameters()[i];
        model->parameters()[i] = here + kStep;
        const double above = model->loss(batch, {}).loss;
        model->parameters()[i] = here - kStep;
        const double below = model->loss(batch, {}).loss;
        model->parameters()[i] = here;
        const double slope = (above - below) / (2 * kStep);
        worst = std::max(worst, std::abs(slope - gradient[i]) / (1e-7 + 1e-5 * std::abs(slope)));
      }
      CHECK(worst < 1);
    }
  }
}

TEST_CASE("a gradient is added to what stands there") {
  const auto task = make_task("parity");
  const TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto model = make_model<double>(name, *task, 9);
    std::vector<double> once(model->parameters().size(), 0), twice = once;
    model->loss(batch, once);
    for (int i = 0; i < 2; ++i) model->loss(batch, twice);
    for (std::size_t i = 0; i < once.size(); ++i) REQUIRE(twice[i] == doctest::Approx(2 * once[i]).epsilon(1e-12));
  }
}

TEST_CASE("where there is one label, nothing is to be learned, smoothed or not") {
  const auto task = make_task("Z1");
  TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  for (TrainingBatch::Target& target : batch.targets) target.smoothing = 0.1f;
  const auto model = make_model<float>("bilinear:hidden=6,inputs=3", *task, 9);
  std::vector<float> gradient(model->parameters().size(), 0);
  const BatchLoss loss = model->loss(batch, gradient);
  CHECK(loss.loss == 0);
  CHECK(loss.right == loss.targets);
  CHECK(std::ranges::count(gradient, 0.f) == std::ranges::ssize(gradient));
}

TEST_CASE("readers answer as the loss counts, however the words are cut into pieces") {
  const auto task = make_task("S3");
  const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 7);
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto model = make_model<float>(name, *task, 9);
    const auto readers = model->readers(false);
    std::vector<TaskLabel> whole(batch.targets.size()), pieces;
    readers(batch.words)->read(batch, whole);
    std::uint64_t right = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) right += whole[i] == batch.targets[i].label;
    CHECK(right == model->loss(batch, {}).right);
    const auto reader = readers(batch.words);
    for (std::uint32_t first = 0, count = 1; first < batch.positions; first += count, ++count) {
      count = std::min(count, batch.positions - first);
      const TrainingBatch part = part_of(batch, first, count);
      std::vector<TaskLabel> answers(part.targets.size());
      reader->read(part, answers);
      pieces.insert(pieces.end(), answers.begin(), answers.end());
    }
    CHECK(pieces == whole);
  }
}

TEST_CASE("models by name, there and back, and through their tensors") {
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto model = make_model<float>(name, 4, 3, 1);
    const auto again = make_model<float>(model->name(), 4, 3, 2);
    CHECK(again->name() == model->name());
    CHECK(!std::ranges::equal(again->parameters(), model->parameters()));
    again->load(model->tensors());
    CHECK(std::ranges::equal(again->parameters(), model->parameters()));
  }
}

TEST_CASE("models that do not fit are refused") {
  struct Fact {
    const char *name, *why;
  };
  for (const auto& [name, why] :
       {Fact{"lsmt", "Did you mean \"lstm\"?"}, Fact{"transformer", "deltanet"},
        Fact{"bilinaer:full", "Did you mean \"bilinear\"?"}, Fact{"mamba:wdth=3", "\"wdth=3\" is not known"},
        Fact{"bilinear:width=3", "\"width=3\" is not known"}, Fact{"deltaproduct:heads=3", "divide"},
        Fact{"deltaproduct:reflections=0", "from 1 to"}, Fact{"deltaproduct:signed,signed", "twice"},
        Fact{"deltaproduct:signed=1", "no value"}, Fact{"diagonal:rank=2", "fixed"}, Fact{"diagonal:states", "value"},
        Fact{"diagonal:signed,complex", "leave signed out"}, Fact{"dense:size=100000", "from 1 to"},
        Fact{"fan:norm=0.5", "below 1"}, Fact{"fan:mlp=8", "layers=2"}, Fact{"fan-released:norm=0.5", "below 1"},
        Fact{"fan-released:size=1", "from 2 to"}})
    CHECK_THROWS_WITH_AS(make_model<float>(name, 4, 3, 1), doctest::Contains(why), InputError);
  CHECK_THROWS_AS(make_model<float>("fan:blocks=1024,size=128", 4, 3, 1), LimitError);
  CHECK_THROWS_AS(make_model<float>("bilinear:hidden=16384,inputs=16384", 4, 3, 1), LimitError);
  // A model of another shape's tensors.
  const auto small = make_model<float>("deltaproduct:width=4,heads=1", 4, 3, 1);
  CHECK_THROWS_WITH_AS(make_model<float>("deltaproduct:width=8,heads=1", 4, 3, 1)->load(small->tensors()),
                       doctest::Contains("embedding"), InputError);
}

TEST_CASE("recurrences with negative eigenvalues learn parity past the lengths of training, others do not") {
  const auto task = make_task("parity");
  TrainOptions options;
  options.lengths = {2, 16};
  options.words = 32;
  options.optimiser.steps = 300;
  options.optimiser.learning_rate = 1e-2;
  options.optimiser.clip = 1;
  EvaluateModelOptions evaluation;
  evaluation.words = 100;
  evaluation.threads = 1;
  struct Fact {
    const char* model;
    bool learns;
  };
  for (const auto& [model, learns] :
       {Fact{"deltaproduct:signed,width=16,heads=1,mlp=16", true}, Fact{"deltaproduct:width=16,heads=1,mlp=16", false},
        Fact{"diagonal:signed,width=16,channels=16,states=4,conv=0", true},
        Fact{"diagonal:width=16,channels=16,states=4,conv=0", false}}) {
    CAPTURE(model);
    Trainer trainer(*task, model, options);
    while (trainer.state() == Trainer::State::kRunning) trainer.step();
    const double accuracy = evaluate_model(trainer.model(), *task, 64, evaluation).accuracy();
    CHECK((learns ? accuracy > 0.99 : accuracy < 0.6));
  }
}

TEST_CASE("complex values learn to count modulo 3, real ones do not") {
  const auto task = make_task("Z3");
  TrainOptions options;
  options.lengths = {2, 12};
  options.words = 32;
  options.smoothing = 0.1;
  options.stop_at = 0;
  options.optimiser.steps = 1200;
  options.optimiser.learning_rate = 1e-2;
  options.optimiser.clip = 1;
  options.optimiser.schedule = Schedule::kCosine;
  for (const bool complex : {true, false}) {
    const std::string name =
        fmt::format("diagonal:{},width=16,channels=16,states=4,conv=0", complex ? "complex" : "signed");
    Trainer trainer(*task, name, options);
    while (trainer.state() == Trainer::State::kRunning) trainer.step();
    const BatchLoss& seen = trainer.validation();
    const double accuracy = static_cast<double>(seen.right) / static_cast<double>(seen.targets);
    CHECK((complex ? accuracy > 0.99 : accuracy < 0.95));
  }
}

TEST_CASE("one layer of blocks is the network that its linear view says") {
  const auto task = make_task("modadd3");
  const auto model = make_model<float>("fan:blocks=2,size=3,generator=4", *task, 9);
  const LinearModel view = model->linear_view().value();
  const TrainingBatch batch = draw_batch(*task, {2, 9}, 3, 0, 20);
  std::vector<TaskLabel> said(batch.targets.size()), seen(said);
  model->readers(false)(batch.words)->read(batch, said);
  linear_readers(view, false)(batch.words)->read(batch, seen);
  CHECK(said == seen);
  CHECK(!make_model<float>("fan:blocks=2,size=3,layers=2", *task, 9)->linear_view());
  CHECK(!make_model<float>("dense:size=3", *task, 9)->linear_view());
}

TEST_CASE("a state that a letter sends to 0 is not rescaled") {
  // Letter 0 keeps the state, letter 1 ends it; what remains is the bias, which says 1.
  LinearModel view;
  view.hidden = view.block = 2;
  view.letters = view.labels = 2;
  view.matrices = {1, 0, 0, 1, 0, 0, 0, 0};
  view.initial = {3, 4};
  view.readout = {1, 1, 0, 0};
  view.readout_bias = {0, 1};
  TrainingBatch batch;
  batch.words = 1;
  batch.positions = 24;
  batch.letters.assign(batch.positions, 0);
  batch.letters[20] = 1;
  batch.lengths = {batch.positions};
  for (std::uint32_t position = 0; position < batch.positions; ++position) batch.targets.push_back({position, 0, 0});
  for (const bool rescaled : {true, false}) {
    std::vector<TaskLabel> answers(batch.targets.size(), ModelReader::kNoAnswer);
    linear_readers(view, rescaled)(1)->read(batch, answers);
    for (std::uint32_t position = 0; position < batch.positions; ++position)
      CHECK(answers[position] == (position < 20 ? 0u : 1u));
  }
}

TEST_CASE("columns of the blocks have p-norm at most 1") {
  const auto view = make_model<float>("fan:blocks=3,size=4,norm=1.5", 6, 2, 3)->linear_view().value();
  for (std::size_t first = 0; first < view.matrices.size(); first += 16)
    for (std::size_t column = 0; column < 4; ++column) {
      double sum = 0;
      for (std::size_t row = 0; row < 4; ++row) sum += std::pow(std::abs(view.matrices[first + 4 * row + column]), 1.5);
      CHECK(sum <= 1 + 1e-5);
    }
}

TEST_CASE("usual names stand for a family with some of its parts") {
  struct Fact {
    const char *usual, *ours;
  };
  for (const auto& [usual, ours] :
       {Fact{"mamba", "diagonal"}, Fact{"mamba:signed,width=16", "diagonal:signed,width=16"},
        Fact{"s4d:width=16", "diagonal:fixed,complex,width=16"}, Fact{"lru", "diagonal:fixed,complex"},
        Fact{"deltanet", "deltaproduct:reflections=1"}, Fact{"deltanet:", "deltaproduct:reflections=1"},
        Fact{"deltanet:width=16,heads=1", "deltaproduct:width=16,heads=1"}, Fact{"deltaproduct", "deltaproduct:"}}) {
    CAPTURE(usual);
    CHECK(make_model<float>(usual, 2, 2, 1)->name() == make_model<float>(ours, 2, 2, 1)->name());
  }
  // Every name of the list makes a model, and the pattern of every family begins with one of them.
  for (const std::string& name : model_names()) CHECK_NOTHROW(make_model<float>(name, 2, 2, 1));
  CHECK(model_names().size() == model_families().size());
}
