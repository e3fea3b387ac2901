#include <Eigen/Core>

#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/letter_recurrence.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/models/token_layers.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/testing.h"

using namespace krohn;

// Models in training: runs that resume bit for bit, what they learn, and the network
// that a trained model is.

using krohn::test::Scratch;

namespace {

struct Tolerance {
  double absolute, relative;
};

/// The greatest distance of a gradient's number from the central difference of the loss, in units of the tolerance.
double worst_slope(SequenceModel<double>& model, const std::function<double()>& loss,
                   const std::vector<double>& gradient, double step, Tolerance tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double here = model.parameters()[i];
    model.parameters()[i] = here + step;
    const double above = loss();
    model.parameters()[i] = here - step;
    const double below = loss();
    model.parameters()[i] = here;
    const double slope = (above - below) / (2 * step);
    worst =
        std::max(worst, std::abs(slope - gradient[i]) / (tolerance.absolute + tolerance.relative * std::abs(slope)));
  }
  return worst;
}

std::function<double()> loss_of(const SequenceModel<double>& model, const TrainingBatch& batch) {
  return [&] { return model.loss(batch, {}).loss; };
}

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
    "lstm:hidden=3,inputs=2", "lstm:layers=2,hidden=3,one-hot", "mamba2:width=3,heads=2,states=2,taps=2",
    "gated-deltanet:width=4,negative,mlp=3", "delta:bare,width=3,heads=1,reflections=2,taps=0",
    "gla:width=4,rank=2,bare", "mlstm:width=4,layers=2", "slstm:width=4,taps=2",
    "rwkv7:layers=2,width=4,decay-rank=2,rate-rank=2,gate-rank=2", "m2rnn:width=4,q-heads=1,bare",
    "stock-gru:width=3,forward=linear-4/gelu/layer-3"};

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

TEST_CASE("the gradient by the weights, left as a product, is the one written out") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  for (const std::string shape : kModels) {
    if (!shape.starts_with("bilinear")) continue;
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
  TrainOptions options{.optimiser = {.learning_rate = 1e30, .steps = 50}};
  const Trainer trainer = trained(*task, "bilinear:hidden=8,inputs=4", options);
  CHECK(trainer.state() == Trainer::State::kDiverged);
  for (const float number : trainer.model().parameters()) CHECK(std::isfinite(number));
}

TEST_CASE("rotations learn modular addition far past the lengths of training; a frozen recurrence stays as it was") {
  const auto task = make_task("modadd3");
  TrainOptions options{.optimiser = {.learning_rate = 3e-3, .steps = 4000}};
  const Trainer trainer = trained(*task, "bilinear:rotations,hidden=32,inputs=16", options);
  CHECK(trainer.validation().right == trainer.validation().targets);
  EvaluateModelOptions evaluation{.words = 100};
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
                                    {"rsm:m=4,seed=1", "bilinear:block=2,hidden=8,inputs=4"},
                                    {"modadd3", "fan:blocks=2,size=3,generator=4"}}) {
    CAPTURE(name);
    CAPTURE(shape);
    const auto task = make_task(name);
    const auto model = make_model<float>(shape, *task, 4);
    const Network network = network_of(*model, *task);
    const TrainingBatch batch = draw_batch(*task, {2, 9}, 3, 0, 20);
    std::vector<TaskLabel> said(batch.targets.size());
    model_readers(*model, false)(batch.words)->read(batch, said);
    const auto evaluator = make_evaluator(network, Precision::kFp64);
    for (std::size_t i = 0; i < said.size(); ++i) {
      evaluator->reset();
      std::optional<State> state;
      for (std::uint32_t t = 0; t <= batch.targets[i].position; ++t) {  // the network reads the input letters alone
        const Letter letter = batch.letters[std::size_t{t} * batch.words + batch.targets[i].word];
        const auto own = network.automaton.alphabet().find(task->alphabet().name(letter));
        if (own) state = evaluator->step(*own);
      }
      REQUIRE(state.has_value());
      CHECK(network.automaton.output(*state) == said[i]);
    }
  }
  for (const char* none : {"fan:blocks=2,size=3,layers=2", "dense:size=3"})
    CHECK(!make_model<float>(none, 3, 2, 9)->linear_view());
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

TEST_CASE("Wilson's interval and scaled accuracy") {
  CHECK(confidence(0, 10).low == 0);
  CHECK(confidence(0, 10).high == doctest::Approx(0.2775).epsilon(1e-3));
  CHECK(confidence(1, 10).high == 1);
  CHECK(confidence(0.5, 10).low == doctest::Approx(0.2366).epsilon(1e-3));
  const ModelAccuracy nearly{17, 100, 1699, 1700};  // 99.94 of 100 words, not 99, whose interval ends before
  CHECK(nearly.interval().high >= nearly.accuracy());
  CHECK(scaled(0.2, 0.2) == 0);
  CHECK(scaled(1, 0.2) == 1);
}

// Models whose loss reads the direction of a state: scaled on the way and at the end, and the same answers throughout.

namespace {

const std::vector<const char*> kForms = {"full,hidden=6,inputs=3,", "rank=4,hidden=5,inputs=3,",
                                         "block=2,hidden=6,inputs=3,", "diagonal,hidden=5,inputs=4,",
                                         "rotations,hidden=6,inputs=3,"};

std::string scale_free(const char* form, const char* rest = "") {
  return fmt::format("bilinear:{}{}scale-free", form, rest);
}

double norm_after(const LinearModel& view, const TrainingBatch& words, std::uint32_t word) {
  std::vector<double> state(view.initial.begin(), view.initial.end()), next(state.size());
  for (std::uint32_t t = 0; t < words.lengths[word]; ++t) {
    const Letter letter = words.letters[std::size_t{t} * words.words + word];
    for (std::size_t row = 0; row < state.size(); ++row) {
      next[row] = 0;
      for (std::size_t column = 0; column < view.block; ++column)
        next[row] += double{view.matrices[(letter * state.size() + row) * view.block + column]} *
                     state[row / view.block * view.block + column];
    }
    state.swap(next);
  }
  double squares = 0;
  for (const double x : state) squares += x * x;
  return std::sqrt(squares);
}

std::vector<TaskLabel> answers(const SequenceModel<float>& model, const TrainingBatch& words) {
  std::vector<TaskLabel> result(words.targets.size());
  model_readers(model, false)(words.words)->read(words, result);
  return result;
}

}  // namespace

TEST_CASE("a state is scaled by a power of two, and 0 and infinities stay") {
  StateScales<float> none, some(2);
  CHECK_FALSE(none.are_on());
  CHECK(some.are_on());
  std::vector<float> state = {-0x1.8p90F, 0x1.000002p70F, 0}, by = {1, -3, 0};
  some.scale(1, state);
  CHECK(state == std::vector<float>{-0x1.8p-1F, 0x1.000002p-21F, 0});
  some.scale_gradient(1, by);
  CHECK(by == std::vector<float>{0x1p-91F, -0x1.8p-90F, 0});
  for (std::vector<float> odd : {std::vector<float>{0, 0}, {std::numeric_limits<float>::infinity(), 1}}) {
    StateScales<float> scales(1);
    const std::vector<float> before = odd;
    scales.scale(0, odd);
    CHECK(odd == before);
    scales.scale_gradient(0, odd);
    CHECK(odd == before);
  }
}

TEST_CASE_TEMPLATE("a state of any exponent is scaled to just below 1, and by nothing subnormal", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  const int least = Limits::min_exponent - Limits::digits, least_normal = Limits::min_exponent - 1;
  for (const Real sign : {Real{1}, Real{-1}})
    for (int exponent = least; exponent < Limits::max_exponent; ++exponent)
      for (const Real fraction : {Real{1}, Real{1} + Limits::epsilon(), Real{2} - Limits::epsilon()}) {
        const Real x = sign * std::ldexp(fraction, exponent);
        if (x == 0 || !std::isfinite(x)) continue;
        CAPTURE(exponent);
        StateScales<Real> scales(1);
        std::vector<Real> state = {0, x, x / 2}, by = {1};
        scales.scale(0, state);
        scales.scale_gradient(0, by);
        REQUIRE(state[1] == x * by[0]);
        REQUIRE(std::isnormal(by[0]));
        REQUIRE(std::isnormal(1 / by[0]));
        const Real size = std::abs(state[1]);
        // A subnormal number takes one more letter; the two greatest exponents would take a subnormal factor.
        if (std::abs(x) < Limits::min())
          REQUIRE(by[0] == std::ldexp(Real{1}, -least_normal));
        else if (exponent >= Limits::max_exponent - 2)
          REQUIRE((size >= Real{0.5} && size < 4));
        else
          REQUIRE((size >= Real{0.5} && size < 1));
      }
  for (const Real odd : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    StateScales<Real> scales(1);
    std::vector<Real> state = {1, odd, 3}, by = {5};
    scales.scale(0, state);
    CHECK((state[0] == 1 && state[2] == 3));
    scales.scale_gradient(0, by);
    CHECK(by[0] == 5);
  }
}

TEST_CASE("the gradient is that of finite differences on words that are scaled on the way, and at lengths beside it") {
  const auto task = make_task("modadd3");
  for (const LengthRange lengths : {LengthRange{6, 8}, {14, 17}, {30, 30}}) {
    const TrainingBatch batch = draw_batch(*task, lengths, 5, 0, 6);
    for (const char* form : kForms)
      for (const char* spread : {"", "spread=1.5,"}) {
        const std::string name = scale_free(form, std::string_view(form).starts_with("rotations") ? "" : spread);
        CAPTURE(name);
        const auto model = make_model<double>(name, *task, 9);
        std::vector<double> gradient(model->parameters().size(), 0);
        model->loss(batch, gradient);
        CHECK(worst_slope(*model, loss_of(*model, batch), gradient, 1e-6, {1e-6, 1e-4}) < 1);
      }
  }
}

TEST_CASE("the loss does not depend on the scale of a letter's matrix") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {2, 20}, 5, 0, 6);
  for (const char* form : {"full,hidden=6,inputs=3,", "block=2,hidden=6,inputs=3,", "diagonal,hidden=5,inputs=4,"}) {
    BilinearModel<double> model(parse_bilinear_shape(scale_free(form)), task->alphabet().size(), 3, 9);
    const BatchLoss before = model.loss(batch, {});
    for (std::size_t i = 0; i < std::size_t{task->alphabet().size()} * model.shape().inputs; ++i)
      model.parameters()[i] *= 7;
    const BatchLoss after = model.loss(batch, {});
    CHECK(after.loss == doctest::Approx(before.loss).epsilon(1e-12));
    CHECK(after.right == before.right);
  }
}

TEST_CASE("states that a letter shrinks or grows by 2^±40 have the gradient in floats that they have in doubles") {
  const auto task = make_task("modadd3");
  for (const LengthRange lengths : {LengthRange{2, 10}, {40, 60}}) {
    const TrainingBatch batch = draw_batch(*task, lengths, 5, 0, 8);
    for (const char* form : {"full,hidden=6,inputs=3,", "rank=2,hidden=16,inputs=16,spread=0.01,",
                             "rank=4,hidden=5,inputs=3,", "block=2,hidden=6,inputs=3,", "diagonal,hidden=5,inputs=4,"})
      for (int power = -40; power <= 40; power += 4) {
        const auto model = make_model<float>(scale_free(form), *task, 9);
        const auto exact = make_model<double>(scale_free(form), *task, 9);
        CAPTURE(model->name());
        CAPTURE(power);
        const std::size_t embedding = exact->begin_of("weights") - exact->begin_of("embedding");
        for (std::size_t i = 0; i < embedding; ++i) model->parameters()[i] = std::ldexp(model->parameters()[i], power);
        std::ranges::copy(model->parameters(), exact->parameters().begin());
        std::vector<float> gradient(model->parameters().size(), 0);
        std::vector<double> wanted(gradient.size(), 0);
        const BatchLoss right = exact->loss(batch, wanted);
        BatchLoss loss;
        {
          const SubnormalsAsZero as_zero;  // as a step does
          loss = model->loss(batch, gradient);
        }
        CHECK(loss.loss == doctest::Approx(right.loss).epsilon(1e-4));
        CHECK(model->loss(batch, {}).loss == doctest::Approx(right.loss).epsilon(1e-4));
        // By parts, whose gradients are as unlike as their scales.
        for (const auto& [first, count] :
             {std::pair<std::size_t, std::size_t>{0, embedding}, {embedding, gradient.size() - embedding}}) {
          double off = 0, all = 0;
          for (std::size_t i = first; i < first + count; ++i)
            off += std::pow(gradient[i] - wanted[i], 2), all += std::pow(wanted[i], 2);
          CHECK(off <= 1e-6 * all);
        }
      }
  }
}

TEST_CASE("small first weights, whose states one letter shrinks by 2^-20 and more, train") {
  const auto task = make_task("modadd3");
  for (const char* name :
       {"bilinear:scale-free,hidden=8,inputs=4,spread=1e-6", "bilinear:scale-free,hidden=8,inputs=4,spread=1e-7",
        "bilinear:rank=1,hidden=256,inputs=256,spread=0.01,scale-free",
        "bilinear:rank=2,hidden=256,inputs=256,spread=0.01,scale-free"})
    for (const std::uint64_t seed : {21, 24}) {
      CAPTURE(name);
      CAPTURE(seed);
      TrainOptions options;
      options.seed = seed, options.optimiser.steps = 2, options.validation_words = 8, options.words = 8;
      CHECK(trained(*task, name, options).state() == Trainer::State::kFinished);
    }
}

TEST_CASE("states that grow past every number of their kind still teach") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {150, 150}, 5, 0, 2);
  for (const char* form : {"full,hidden=6,inputs=3,spread=3,", "block=2,hidden=6,inputs=3,spread=3,"}) {
    const auto model = make_model<float>(scale_free(form), *task, 9);
    std::vector<float> gradient(model->parameters().size(), 0);
    const BatchLoss loss = model->loss(batch, gradient);
    CHECK(norm_after(*model->linear_view(), batch, 0) > std::numeric_limits<float>::max());
    CHECK(std::isfinite(loss.loss));
    CHECK(std::ranges::all_of(gradient, [](float x) { return std::isfinite(x); }));
    CHECK(std::ranges::any_of(gradient, [](float x) { return x != 0; }));
  }
}

TEST_CASE("settled, a model's states keep their size, and it answers as before") {
  const auto task = make_task("modadd3");
  const TrainingBatch words = draw_batch(*task, {300, 400}, 5, 0, 8), few = draw_batch(*task, {2, 20}, 6, 0, 200);
  for (const char* form : kForms) {
    const bool is_free = !std::string_view(form).starts_with("rotations");
    const auto model = make_model<float>(scale_free(form, is_free ? "spread=0.9," : ""), *task, 9);
    CAPTURE(model->name());
    CHECK(model->settles() == is_free);
    const std::vector<float> before(model->parameters().begin(), model->parameters().end());
    const std::vector<TaskLabel> said = answers(*model, few);
    model->settle(words);
    CHECK(std::ranges::equal(model->parameters(), before) == !is_free);
    CHECK(answers(*model, few) == said);
    const LinearModel view = *model->linear_view();
    for (std::uint32_t word = 0; word < words.words; ++word) {
      const double growth = std::log(norm_after(view, words, word)) / words.lengths[word];
      CHECK(std::abs(growth) < (is_free ? 0.1 : 1e-3));
    }
  }
  // Models that something is added to, or whose loss reads their scale, have none to settle.
  for (const char* name :
       {"bilinear:full,hidden=6,inputs=3", "bilinear:full,hidden=6,inputs=3,bias", "lstm:hidden=3"}) {
    const auto model = make_model<float>(name, *task, 9);
    CHECK_FALSE(model->settles());
    const std::vector<float> before(model->parameters().begin(), model->parameters().end());
    model->settle(words);
    CHECK(std::ranges::equal(model->parameters(), before));
  }
}

TEST_CASE("a model whose states die out on the words it should settle by stays as it is") {
  const auto task = make_task("modadd3");
  const auto model = make_model<float>(scale_free("diagonal,hidden=2,inputs=2,"), *task, 9);
  std::ranges::fill(model->parameters(), 0.0F);
  model->settle(draw_batch(*task, {3, 4}, 5, 0, 2));
  CHECK(std::ranges::all_of(model->parameters(), [](float x) { return x == 0; }));
  std::vector<float> gradient(model->parameters().size(), 0);
  CHECK(std::isfinite(model->loss(draw_batch(*task, {3, 12}, 5, 0, 2), gradient).loss));
  CHECK(std::ranges::all_of(gradient, [](float x) { return std::isfinite(x); }));
}

TEST_CASE("training ends settled, also early, and a run that stopped in between goes on to the same model") {
  const auto task = make_task("modadd3");
  TrainOptions options{.optimiser = {.learning_rate = 3e-3, .steps = 400}, .validate_every = 100};
  const std::string name = scale_free("block=2,hidden=16,inputs=8,", "spread=0.5,");
  for (const double stop_at : {0.0, 1.0}) {
    options.stop_at = stop_at;
    const Trainer whole = trained(*task, name.c_str(), options);
    CHECK((whole.steps() < 400) == (stop_at > 0));
    CHECK(whole.steps() > 0);
    const TrainingBatch words = draw_batch(*task, {200, 200}, 77, 0, 4);
    const LinearModel view = *whole.model().linear_view();
    for (std::uint32_t word = 0; word < words.words; ++word)
      CHECK(std::abs(std::log(norm_after(view, words, word))) / 200 < 0.05);
    Trainer before(*task, name, options), after(*task, name, options);
    for (int i = 0; i < 70; ++i) before.step();
    after.resume(before.checkpoint());
    while (after.state() == Trainer::State::kRunning) after.step();
    CHECK(std::ranges::equal(after.model().parameters(), whole.model().parameters()));
    // A settled model is trained no further, which another end would.
    options.stop_at /= 2;
    options.optimiser.steps += stop_at > 0 ? 0 : 1;
    CHECK_THROWS_WITH_AS(Trainer(*task, name, options).resume(whole.checkpoint()), doctest::Contains("another run"),
                         InputError);
    options.optimiser.steps = 400;
  }
}

// Every family of models: the adjoint against central finite differences in double, readers against the loss, names.

namespace {

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
      CHECK(worst_slope(*model, loss_of(*model, batch), gradient, 1e-5, {1e-7, 1e-5}) < 1);
      std::vector<double> twice = gradient;  // it is added to what stands there
      model->loss(batch, twice);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        REQUIRE(twice[i] == doctest::Approx(2 * gradient[i]).epsilon(1e-12));
    }
  }
}

TEST_CASE("two readings of a cell with noise: the gradient, the weight of the distance and of every word") {
  const auto task = make_task("parity");
  TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  TrainingBatch twice = batch;  // every word twice
  twice.words *= 2;
  twice.letters.clear();
  for (std::size_t t = 0; t < batch.positions; ++t)
    for (int i = 0; i < 2; ++i)
      twice.letters.insert(twice.letters.end(), batch.letters.begin() + std::ptrdiff_t{batch.words} * t,
                           batch.letters.begin() + std::ptrdiff_t{batch.words} * (t + 1));
  twice.lengths.insert(twice.lengths.end(), batch.lengths.begin(), batch.lengths.end());
  twice.targets.clear();
  for (std::uint32_t t = 0; t < batch.positions; ++t)
    for (std::uint32_t i = 0; i < 2; ++i)
      for (TrainingBatch::Target target : batch.targets)
        if (target.position == t) {
          target.word += i * batch.words;
          twice.targets.push_back(target);
        }
  for (const char* name : {"rnn:hidden=4,inputs=3", "rnn-relu:hidden=4,inputs=3", "gru:layers=2,hidden=3,one-hot",
                           "lstm:hidden=3,inputs=2", "lstm:layers=2,hidden=3,one-hot,unbiased"}) {
    CAPTURE(name);
    const auto made = make_model<double>(name, *task, 9);
    auto& model = dynamic_cast<CellModel<double>&>(*made);
    const auto at = [&](double weight, double noise) { return model.twin_loss(batch, {weight, noise, 4}, {}).loss; };
    std::vector<double> gradient(model.parameters().size(), 0);
    const BatchLoss loss = model.twin_loss(batch, {3, 0.1, 4}, gradient);
    CHECK(loss.loss == at(3, 0.1));
    CHECK(loss.targets == 2 * batch.targets.size());
    CHECK(worst_slope(model, [&] { return at(3, 0.1); }, gradient, 1e-5, {1e-7, 1e-5}) < 1);
    CHECK(at(3, 0) == doctest::Approx(model.loss(batch, {}).loss).epsilon(1e-14));
    const double distance = at(2, 0.1) - at(1, 0.1);
    CHECK(distance > 1e-5);
    CHECK(at(3, 0.1) - at(1, 0.1) == doctest::Approx(2 * distance).epsilon(1e-9));
    CHECK((at(1, 0.1) - at(0, 0.1) > distance + 0.1) == (model.shape().cell == "gru"));
    CHECK(model.twin_loss(batch, {1, 0.1, 5}, {}).loss != at(1, 0.1));
    CHECK(model.twin_loss(twice, {3, 0.1, 4}, {}).loss == doctest::Approx(at(3, 0.1)).epsilon(1e-14));
  }
}

TEST_CASE("what a GRU's gate keeps costs -log(1 - z), whose slope is z, however shut the gate is") {
  const auto task = make_task("parity");
  const TrainingBatch batch = draw_batch(*task, {2, 6}, 5, 0, 5);
  constexpr std::size_t kUnits = 40;
  const auto made = make_model<double>(fmt::format("gru:layers=2,hidden={}", kUnits), *task, 9);
  std::ranges::fill(made->tensor("head.weight"), 0);  // no answer depends on a state
  for (const double sum : {-3.0, 0.0, 2.0, 40.0}) {   // every z is σ(sum), and σ(40) is 1
    CAPTURE(sum);
    for (const ParameterPart& part : made->tensor_parts())
      if (part.name.starts_with("rnn.")) {
        const std::span<double> all = made->tensor(part.name), gates = all.subspan(all.size() / 3, all.size() / 3);
        std::ranges::fill(gates, part.name.starts_with("rnn.bias_ih") ? sum : 0);
      }
    std::vector<double> gradient(made->parameters().size(), 0);
    const double cost = made->twin_loss(batch, {1e-12, 0.1, 4}, gradient).loss - made->loss(batch, {}).loss,
                 one = sum == 40 ? 54 * std::log(2.0) : std::log1p(std::exp(sum));
    CHECK(cost == doctest::Approx(3 * 0.1 * 2 * 2 * kUnits * one).epsilon(1e-9));
    for (const char* name : {"rnn.bias_ih_l0", "rnn.bias_hh_l0", "rnn.bias_ih_l1", "rnn.bias_hh_l1"})
      for (std::size_t i = made->begin_of(name) + kUnits; i < made->begin_of(name) + 2 * kUnits; ++i)
        REQUIRE(gradient[i] == doctest::Approx(3 * 0.1 * 2 / (1 + std::exp(-sum))).epsilon(1e-9));
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
    const auto readers = model_readers(*model, false);
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
  CHECK(parse_bilinear_shape("bilinear").hidden == 64);
}

TEST_CASE("models that do not fit are refused") {
  struct Fact {
    const char *name, *why;
  };
  for (const auto& [name, why] : {Fact{"lsmt", "Did you mean \"lstm\" or"},
                                  Fact{"transformer", "deltanet"},
                                  Fact{"bilinaer:full", "Did you mean \"bilinear\"?"},
                                  Fact{"mamba:wdth=3", "\"wdth=3\" is not known"},
                                  Fact{"bilinear:width=3", "\"width=3\" is not known"},
                                  Fact{"deltaproduct:heads=3", "divide"},
                                  Fact{"deltaproduct:reflections=0", "from 1 to"},
                                  Fact{"deltaproduct:signed,signed", "twice"},
                                  Fact{"deltaproduct:signed=1", "no value"},
                                  Fact{"diagonal:rank=2", "fixed"},
                                  Fact{"diagonal:states", "value"},
                                  Fact{"diagonal:signed,complex", "leave signed out"},
                                  Fact{"dense:size=100000", "from 1 to"},
                                  Fact{"fan:norm=0.5", "below 1"},
                                  Fact{"fan:mlp=8", "layers=2"},
                                  Fact{"fan-released:norm=0.5", "below 1"},
                                  Fact{"fan-released:size=1", "from 2 to"},
                                  Fact{"gla:residual", "\"residual\" is not known"},
                                  Fact{"slstm:width=5", "2 heads do not divide a width of 5"},
                                  Fact{"m2rnn:heads=4,q-heads=3", "q-heads"},
                                  Fact{"mamba2:groups=3", "3 groups"},
                                  Fact{"gla:bare,mlp=4", "without residuals"}})
    CHECK_THROWS_WITH_AS(make_model<float>(name, 4, 3, 1), doctest::Contains(why), InputError);
  for (const char* wrong : {"bilinear:block=0", "bilinear:block=5", "bilinear:hidden=7,rotations", "bilinear:spread=-1",
                            "bilinear:rank", "bilinear:full=3", "bilinear:full,block=2", "bilinear:bias,bias",
                            "bilinear:bias,scale-free", "bilinear:rotations,input-bias,scale-free"})
    CHECK_THROWS_AS(make_model<float>(wrong, 4, 3, 1), InputError);
  CHECK_THROWS_AS(make_model<float>("fan:blocks=1024,size=128", 4, 3, 1), LimitError);
  CHECK_THROWS_AS(make_model<float>("bilinear:hidden=16384,inputs=16384", 4, 3, 1), LimitError);
  // A model of another shape's tensors.
  const auto small = make_model<float>("deltaproduct:width=4,heads=1", 4, 3, 1);
  CHECK_THROWS_WITH_AS(make_model<float>("deltaproduct:width=8,heads=1", 4, 3, 1)->load(small->tensors()),
                       doctest::Contains("embedding"), InputError);
}

TEST_CASE("recurrences with negative eigenvalues learn parity past the lengths of training, others do not") {
  const auto task = make_task("parity");
  TrainOptions options{.lengths = {2, 16}, .words = 32, .optimiser = {.learning_rate = 1e-2, .clip = 1, .steps = 300}};
  EvaluateModelOptions evaluation{.words = 100, .threads = 1};
  struct Fact {
    const char* model;
    bool learns;
  };
  for (const auto& [model, learns] :
       {Fact{"deltaproduct:signed,width=16,heads=1,mlp=16", true}, Fact{"deltaproduct:width=16,heads=1,mlp=16", false},
        Fact{"diagonal:signed,width=16,channels=16,states=4,conv=0", true},
        Fact{"diagonal:width=16,channels=16,states=4,conv=0", false}}) {
    CAPTURE(model);
    const double accuracy = evaluate_model(trained(*task, model, options).model(), *task, 64, evaluation).accuracy();
    CHECK((learns ? accuracy > 0.99 : accuracy < 0.6));
  }
}

TEST_CASE("complex values learn to count modulo 3, real ones do not") {
  const auto task = make_task("Z3");
  TrainOptions options{.lengths = {2, 12}, .words = 32, .smoothing = 0.1, .stop_at = 0};
  options.optimiser = {.learning_rate = 1e-2, .schedule = Schedule::kCosine, .clip = 1, .steps = 1200};
  for (const bool complex : {true, false}) {
    const std::string name =
        fmt::format("diagonal:{},width=16,channels=16,states=4,conv=0", complex ? "complex" : "signed");
    const BatchLoss seen = trained(*task, name.c_str(), options).validation();
    const double accuracy = static_cast<double>(seen.right) / static_cast<double>(seen.targets);
    CHECK((complex ? accuracy > 0.99 : accuracy < 0.95));
  }
}

TEST_CASE("a state that a letter sends to 0 is not rescaled") {
  // Letter 0 keeps the state, letter 1 ends it; what remains is the bias, which says 1.
  const auto model = make_model<float>("bilinear:hidden=2,inputs=1", 2, 2, 1);
  const std::vector<std::pair<const char*, std::vector<float>>> parts{{"embedding", {1, 0}},
                                                                      {"weights", {1, 0, 0, 1}},
                                                                      {"initial", {3, 4}},
                                                                      {"readout", {1, 1, 0, 0}},
                                                                      {"readout_bias", {0, 1}}};
  for (const auto& [name, numbers] : parts)
    std::ranges::copy(numbers, model->parameters().begin() + static_cast<std::ptrdiff_t>(model->begin_of(name)));
  TrainingBatch batch{.words = 1, .positions = 24};
  batch.letters.assign(batch.positions, 0);
  batch.letters[20] = 1;
  batch.lengths = {batch.positions};
  for (std::uint32_t position = 0; position < batch.positions; ++position) batch.targets.push_back({position, 0, 0});
  for (const bool rescaled : {true, false}) {
    std::vector<TaskLabel> answers(batch.targets.size(), ModelReader::kNoAnswer);
    model_readers(*model, rescaled)(1)->read(batch, answers);
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
        Fact{"deltanet:width=16,heads=1", "deltaproduct:width=16,heads=1"}, Fact{"deltaproduct", "deltaproduct:"},
        Fact{"gated-deltanet:taps=0", "delta:decay,gate,taps=0"},
        Fact{"gla:width=16,bare", "stock-gla:width=16,heads=2,keys=4,values=8,rank=16"},
        Fact{"gla:width=4,heads=4,bare", "stock-gla:width=4,heads=4,keys=1,values=1,rank=16"},
        Fact{"mlstm", "stock-mlstm:width=32,residual,final-norm,heads=2,keys=8,values=16,cap=15"},
        Fact{"rwkv7:width=16,values=3",
             "stock-rwkv7:width=16,residual,final-norm,heads=2,keys=8,values=3,decay-rank=16,rate-rank=16,gate-rank=16,"
             "eps=8e-05"}}) {
    CAPTURE(usual);
    CHECK(make_model<float>(usual, 2, 2, 1)->name() == make_model<float>(ours, 2, 2, 1)->name());
  }
  // Every name of the list makes a model, and the pattern of every family begins with one of them.
  for (const std::string& name : model_names()) CHECK_NOTHROW(make_model<float>(name, 2, 2, 1));
  CHECK(model_names().size() == model_families().size());
}

TEST_CASE("layers of other libraries begin as those of their libraries do") {
  // The bounds, mean and deviation that flash-linear-attention 0.6.0, transformers 5.24 and xlstm 2.0.6 give.
  struct Fact {
    const char *model, *tensor;
    double least, greatest, mean, deviation;
  };
  const double nothing = 0, eighth = 0.125, root = std::sqrt(3.0), any = 1e9;
  for (const auto& [model, tensor, least, greatest, mean, deviation] :
       {Fact{"gla", "q_proj.weight", -eighth, eighth, 0, eighth / root},
        Fact{"gla", "gk_proj.1.weight", -0.25, 0.25, 0, 0.25 / root},
        Fact{"gla", "gk_proj.1.bias", -0.25, 0.25, 0, 0.25 / root},
        Fact{"gla", "g_norm_swish_gate.weight", 1, 1, 1, nothing},
        Fact{"gated-deltanet", "q_conv1d.weight", -0.5, 0.5, 0, 0.5 / root},
        Fact{"gated-deltanet:heads=1024,keys=1,values=1", "A_log", -any, std::log(16), std::log(16) - 1, 1},
        Fact{"gated-deltanet:heads=1024,keys=1,values=1", "dt_bias", -6.9073, -2.2522, -4.58, 1.345},
        Fact{"mamba2:heads=1024,per-head=1", "A_log", 0, std::log(16), 1.957, 0.65},
        Fact{"mamba2", "conv1d.bias", -0.5, 0.5, 0, 0.5 / root},
        Fact{"mamba2", "D", 1, 1, 1, nothing},
        Fact{"mamba2", "in_proj.weight", -eighth, eighth, 0, eighth / root},
        Fact{"mlstm:heads=4", "q.weight", -any, any, 0, 0.0791},
        Fact{"mlstm:heads=4", "ogate_preact.weight", 0, 0, 0, nothing},
        Fact{"mlstm:heads=4", "igate_preact.bias", -10, -10, -10, nothing},
        Fact{"mlstm:heads=4", "fgate_preact.bias", 3, 6, 4.5, 1.1180},
        Fact{"mlstm:heads=4", "out_proj.weight", -any, any, 0, 0.25},
        Fact{"slstm", "fgate.weight", -any, any, 0, 0.1118},
        Fact{"slstm", "slstm_cell._recurrent_kernel_", 0, 0, 0, nothing},
        Fact{"slstm", "slstm_cell._bias_", -7, 5, -1.0227, 2.1939},
        Fact{"slstm:cuda", "slstm_cell._bias_", -7, 5, -1.0227, 2.1939},
        Fact{"slstm", "group_norm.weight", 0, 0, 0, nothing},
        Fact{"rwkv7:layers=2", "x_r", 0.0031, 1, 0.1769, 0.16787},
        Fact{"rwkv7:layers=2", "x_k", 0.0109, 1, 0.4197, 0.26855},
        Fact{"rwkv7:layers=2", "x_a", 0.0140, 1, 0.4815, 0.28380},
        Fact{"rwkv7:layers=2", "k_k", 0.66, 0.76, 0.71, 0.02932},
        Fact{"rwkv7:layers=2", "r_proj.weight", -any, any, 0, eighth},
        Fact{"rwkv7:layers=2", "k_proj.weight", -any, any, 0, 0.0125},
        Fact{"rwkv7:layers=2", "o_proj.weight", 0, 0, 0, nothing},
        Fact{"rwkv7:layers=2", "w_lora.lora.2.weight", -any, any, 0, 0.0125},
        Fact{"rwkv7:layers=2", "w_lora.lora.2.bias", -8, 3, -2.5, 2.55647},
        Fact{"rwkv7:layers=2", "a_lora.lora.2.bias", -0.69, 0.31, -0.19, 0.22435},
        Fact{"rwkv7:layers=2", "g_norm.weight", 0.6155, 0.6156, 0.6156, nothing},
        Fact{"m2rnn", "state_weight", 0, 1, 1.0 / 32, std::sqrt(31.0) / 32},
        Fact{"gla", "../../embedding.weight", -any, any, 0, 1},
        Fact{"gla", "../../head.bias", -eighth, eighth, 0, eighth / root}}) {
    CAPTURE(model);
    CAPTURE(tensor);
    const std::string name = model, where = tensor;
    const bool is_outer = where.starts_with("../../");
    const auto made =
        make_model<double>(name + (name.find(':') != std::string::npos ? "," : ":") + "width=64", 64, 64, 5);
    const std::span<const double> numbers = made->tensor(is_outer ? where.substr(6) : "layers.0.mixer." + where);
    REQUIRE(!numbers.empty());
    double sum = 0, squares = 0;
    for (const double x : numbers) {
      CHECK_MESSAGE((x >= least - 1e-4 && x <= greatest + 1e-4), x);
      sum += x;
    }
    const auto count = static_cast<double>(numbers.size());
    for (const double x : numbers) squares += (x - sum / count) * (x - sum / count);
    const double spread = std::sqrt(squares / count);
    CHECK(std::abs(spread - deviation) <= 0.2 * deviation + 1e-12);
    CHECK(std::abs(sum / count - mean) <= 4 * deviation / std::sqrt(count) + 1e-4);
  }
}

// Stacked models: what words of a batch share is computed once for all that begin with it, which changes nothing.

TEST_CASE(
    "a batch of 1,024 positions shares its prefixes, one of 1,025 does not, and both have one loss and gradient") {
  const auto task = make_task("parity");
  const auto model = make_model<double>("deltaproduct:signed,plain,width=8,heads=2,keys=2,values=2,mlp=4", *task, 3);
  TrainingBatch batch = draw_batch(*task, {2, 40}, 1, 0, 6);
  // Words that begin alike.
  for (std::uint32_t position = 0; position < batch.positions / 2; ++position)
    for (std::uint32_t word = 1; word < batch.words; ++word)
      batch.letters[position * batch.words + word] = batch.letters[position * batch.words];
  struct Pass {
    BatchLoss loss;
    std::vector<double> gradient;
  };
  std::vector<Pass> passes;
  for (const std::uint32_t positions : {1024, 1025}) {
    batch.positions = positions;  // behind the ends of all words
    batch.letters.resize(std::size_t{positions} * batch.words);
    Pass pass{{}, std::vector<double>(model->parameters().size(), 0)};
    pass.loss = model->loss(batch, pass.gradient);
    passes.push_back(std::move(pass));
  }
  CHECK(passes[0].loss.targets == batch.targets.size());
  CHECK(passes[0].loss.right == passes[1].loss.right);
  CHECK(passes[0].loss.loss == doctest::Approx(passes[1].loss.loss).epsilon(1e-12));
  double size = 0, apart = 0;
  for (std::size_t i = 0; i < passes[0].gradient.size(); ++i) {
    size += std::abs(passes[0].gradient[i]);
    apart += std::abs(passes[0].gradient[i] - passes[1].gradient[i]);
  }
  CHECK(size > 1e-3);
  CHECK(apart < 1e-10 * size);
}

TEST_CASE("what is asked at each row, once, and how often") {
  Random random(5);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random.below(bound)); };
  int several = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    TokenRows rows;
    const std::uint32_t words = 1 + below(4), labels = 1 + below(3);
    rows.place.resize(words);
    for (std::uint32_t word = 0; word < words; ++word) {
      rows.place[word] = word;
      rows.source.resize(rows.source.size() + below(4));
      rows.first.push_back(rows.source.size());
    }
    std::vector<TrainingBatch::Target> targets;
    using Asked = std::tuple<std::size_t, TaskLabel, float>;
    std::map<Asked, std::uint32_t> expected, found;
    for (std::uint32_t i = below(8); rows.tokens() > 0 && i > 0; --i) {
      const std::uint32_t word = below(words);
      if (rows.length(word) == 0) continue;
      const auto position = below(static_cast<std::uint32_t>(rows.length(word)));
      targets.push_back({position, word, below(labels), below(4) == 0 ? 0.5F : 0.0F});
      ++expected[{rows.row(word, position), targets.back().label, targets.back().smoothing}];
    }
    const DistinctTargets distinct = distinct_targets(targets, rows);
    for (std::size_t i = 0; i < distinct.rows.size(); ++i) {
      const TrainingBatch::Target& target = distinct.targets[i];
      CHECK(rows.row(target.word, target.position) == distinct.rows[i]);
      found[{distinct.rows[i], target.label, target.smoothing}] += distinct.counts[i];
    }
    CHECK(found == expected);
    CHECK(std::ranges::is_sorted(distinct.rows));
    const auto repeated = std::ranges::adjacent_find(distinct.rows) != distinct.rows.end();
    CHECK(distinct.rows.size() == expected.size());
    several += repeated;
  }
  CHECK(several > 300);
  CHECK(several < 2700);
}

TEST_CASE("slices are as long as the cache wants, and longer where parameters are many") {
  // Three slices of 656 tokens, made even: the 336,384th parameter lengthens them by one, so that there are two.
  TrainingBatch batch{.words = 1968};
  batch.lengths.assign(batch.words, 1);
  std::vector<std::uint32_t> words(batch.words);
  std::iota(words.begin(), words.end(), 0);
  const auto count = [&](std::size_t parameters) { return slices_of(batch, words, {}, parameters).size(); };
  CHECK(count(0) == 4);
  CHECK(count(657 * 512 - 1) == 4);
  CHECK(count(657 * 512) == 2);
  CHECK(count(std::size_t{1} << 28) == 1);
}
