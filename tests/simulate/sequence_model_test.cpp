// Every family of models: the adjoint against central finite differences in double, readers against the loss, names.

#include "simulate/sequence_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "groups/error.h"
#include "simulate/models.h"
#include "simulate/tasks.h"

using namespace krohn;

namespace {

const std::vector<const char*> kModels = {"bilinear:hidden=6,inputs=3",
                                          "bilinear:hidden=6,inputs=3,bias,input-bias",
                                          "bilinear:rank=4,hidden=5,inputs=3,bias",
                                          "bilinear:block=2,hidden=6,inputs=3,input-bias",
                                          "bilinear:diagonal,hidden=5,inputs=4",
                                          "bilinear:rotations,hidden=6,inputs=3",
                                          "bilinear:rotations,hidden=6,inputs=3,bias"};

template <class Real>
std::unique_ptr<SequenceModel<Real>> made(const char* name, const Task& task) {
  return make_model<Real>(name, task.alphabet().size(), static_cast<std::uint32_t>(task.labels().size()), 9);
}

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
      const auto model = made<double>(name, *task);
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
    const auto model = made<double>(name, *task);
    std::vector<double> once(model->parameters().size(), 0), twice = once;
    model->loss(batch, once);
    for (int i = 0; i < 2; ++i) model->loss(batch, twice);
    for (std::size_t i = 0; i < once.size(); ++i) REQUIRE(twice[i] == doctest::Approx(2 * once[i]).epsilon(1e-12));
  }
}

TEST_CASE("readers answer as the loss counts, however the words are cut into pieces") {
  const auto task = make_task("S3");
  const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 7);
  for (const char* name : kModels) {
    CAPTURE(name);
    const auto model = made<float>(name, *task);
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
  for (const auto& [name, why] : {Fact{"lstm", "not known"}, Fact{"bilinear:width=3", "\"width=3\" is not known"}})
    CHECK_THROWS_WITH_AS(make_model<float>(name, 4, 3, 1), doctest::Contains(why), InputError);
}
