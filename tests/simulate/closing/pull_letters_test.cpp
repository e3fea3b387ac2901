// The pull toward a finite monoid: letters come as much nearer as was asked for to moving the mean states as the
// automaton does, the rest of the model stays, and other families are left alone.

#include "krohn/simulate/closing/pull_letters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

namespace {

using Word = std::vector<Letter>;

/// h after the special tokens and the word, by the letters' matrices alone.
std::vector<double> state_after(const LinearModel& view, const Word& word) {
  std::vector<double> state(view.initial.begin(), view.initial.end());
  for (const Letter letter : word) {
    std::vector<double> next(view.hidden, 0);
    for (std::size_t row = 0; row < view.hidden; ++row)
      for (std::size_t column = 0; column < view.hidden; ++column)
        next[row] += double{view.matrices[(letter * view.hidden + row) * view.block + column]} * state[column];
    state = next;
  }
  return state;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("pulled letters of a disturbed counter have order 3 on its states, half of the way half as nearly") {
  const auto task = make_task("Z3");
  BuildOptions wishes;
  wishes.construction = "permutation";
  auto model = make_model<float>("bilinear:full,hidden=6,inputs=8", *task, 1);
  initialise_from(*model, build(named_language("Z3"), wishes), *task);
  perturb(*model, 0.05, 3);
  // After three letters 1 the states are where three more, or many, leave them.
  const auto drift = [&](const SequenceModel<float>& of, int turns) {
    Word word;
    for (const TaskToken& token : task->sample(task->info().least_length, 1, 0))
      if (!token.target) word.push_back(token.letter);
    word.insert(word.end(), 3, 1);
    const LinearModel view = *of.linear_view();
    const std::vector<double> start = state_after(view, word);
    for (int i = 0; i < 3 * turns; ++i) word.push_back(1);
    return distance(state_after(view, word), start) / distance(start, std::vector<double>(start.size(), 0));
  };
  const double before = drift(*model, 1);
  REQUIRE(before > 0.01);
  const std::vector<float> all = pulled_letters(*model, *task, 1), half = pulled_letters(*model, *task, 0.5),
                           none = pulled_letters(*model, *task, 0);
  CHECK(std::ranges::equal(none, model->parameters()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float now = model->parameters()[i];
    CHECK(half[i] == doctest::Approx((now + all[i]) / 2).epsilon(1e-4));
  }
  auto pulled = make_model<float>(model->name(), *task, 1);
  std::ranges::copy(all, pulled->parameters().begin());
  CHECK(drift(*pulled, 1) < 1e-5);
  CHECK(drift(*pulled, 100) < 1e-3);
  // The read-out, h_0 and the embedding are the model's own.
  std::size_t at = 0;
  for (const ParameterPart& part : model->tensor_parts()) {
    std::size_t count = 1;
    for (const std::uint64_t extent : part.shape) count *= extent;
    const bool is_same =
        std::equal(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + count),
                   model->parameters().begin() + static_cast<std::ptrdiff_t>(at));
    CAPTURE(part.name);
    CHECK(is_same == (part.name != "weights" || count == 0));
    at += count;
  }
}

TEST_CASE("families whose matrices are not linear in the embedding are left alone") {
  const auto task = make_task("Z3");
  for (const char* name : {"bilinear:rotations,hidden=8,inputs=8", "bilinear:rank=4,hidden=4,inputs=8",
                           "fan:blocks=1,size=8", "deltaproduct:signed,plain,width=16,heads=1,mlp=0"})
    CHECK(pulled_letters(*make_model<float>(name, *task, 1), *task, 0.5).empty());
}
