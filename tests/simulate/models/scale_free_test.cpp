// Models whose loss reads the direction of a state: scaled on the way and at the end, and the same answers throughout.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/recurrence/state_scales.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/trainer.h"

using namespace krohn;

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
  model.readers(false)(words.words)->read(words, result);
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
  for (const float edge : {0.5F, 1.0F, std::nextafter(1.0F, 0.0F)}) {
    std::vector<float> one = {edge};
    some.scale(0, one);
    CHECK(one[0] == (edge == 1 ? 0.5F : edge));
  }
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
        // What is subnormal takes one more letter; the two greatest exponents would take a subnormal factor.
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
        double worst = 0;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          constexpr double kStep = 1e-6;
          const double here = model->parameters()[i];
          model->parameters()[i] = here + kStep;
          const double above = model->loss(batch, {}).loss;
          model->parameters()[i] = here - kStep;
          const double below = model->loss(batch, {}).loss;
          model->parameters()[i] = here;
          const double slope = (above - below) / (2 * kStep);
          worst = std::max(worst, std::abs(slope - gradient[i]) / (1e-6 + 1e-4 * std::abs(slope)));
        }
        CHECK(worst < 1);
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
      Trainer trainer(*task, name, options);
      while (trainer.state() == Trainer::State::kRunning) trainer.step();
      CHECK(trainer.state() == Trainer::State::kFinished);
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
  TrainOptions options;
  options.optimiser.steps = 400;
  options.optimiser.learning_rate = 3e-3;
  options.validate_every = 100;
  const std::string name = scale_free("block=2,hidden=16,inputs=8,", "spread=0.5,");
  for (const double stop_at : {0.0, 1.0}) {
    options.stop_at = stop_at;
    Trainer whole(*task, name, options);
    while (whole.state() == Trainer::State::kRunning) whole.step();
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
