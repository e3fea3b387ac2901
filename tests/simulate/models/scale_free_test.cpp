// Models whose loss reads the direction of a state: scaled on the way and at the end, and the same answers throughout.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/groups/error.h"
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

TEST_CASE("a state is scaled after every eighth letter, by a power of two, and 0 and infinities stay") {
  StateScales<float> none, some(2);
  for (std::size_t t = 0; t < 40; ++t) {
    CHECK_FALSE(none.at(t));
    CHECK(some.at(t) == (t % 8 == 7));
  }
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
