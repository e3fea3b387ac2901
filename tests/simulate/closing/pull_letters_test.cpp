// The pull toward a finite monoid: letters come as much nearer as was asked for to moving the mean states as the
// automaton does, the rest of the model stays, and other families are left alone.

#include "krohn/simulate/closing/pull_letters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/learned/construction_target.h"
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

LearnedStates seen_of(const SequenceModel<float>& model, const Task& task) {
  return learned_states(*trained_machine(model, task, Precision::kFp64), task,
                        tracked_automaton(task, input_machine(task).automaton));
}

/// What a whole step changes, of every letter's matrix.
double greatest_pull(const SequenceModel<float>& model, const Task& task) {
  const std::vector<float> all = pulled_letters(model, task, seen_of(model, task), 1);
  REQUIRE(all.size() == model.parameters().size());
  double greatest = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    greatest = std::max(greatest, std::abs(double{all[i]} - double{model.parameters()[i]}));
  return greatest;
}

/// A model of one block whose letters and first state are these.
std::unique_ptr<SequenceModel<float>> made_of(const std::string& name, const Task& task,
                                              const std::vector<Eigen::MatrixXd>& letters,
                                              const Eigen::VectorXd& first) {
  auto model = make_model<float>(name, task, 1);
  LinearTarget target{letters, std::vector<Eigen::VectorXd>(letters.size(), Eigen::VectorXd::Zero(first.size())), first,
                      Eigen::MatrixXd::Ones(model->labels(), first.size()), Eigen::VectorXd::Zero(model->labels())};
  write_linear(*model, target);
  return model;
}

}  // namespace

TEST_CASE("a constant and one fifth of a turn have no lattice together, and the pull leaves them as they are") {
  const auto task = make_task("Z5");
  std::vector<Eigen::MatrixXd> letters;
  for (Letter letter = 0; letter < task->alphabet().size(); ++letter) {
    const double angle = 2 * std::numbers::pi * letter / 5;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(3, 3);
    if (letter < 5)
      matrix.bottomRightCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    letters.push_back(matrix);
  }
  for (const double constant : {0.1, 1.0, 10.0}) {
    const auto model = made_of("bilinear:full,hidden=3,inputs=8", *task, letters, Eigen::Vector3d(constant, 1, 0));
    CHECK(greatest_pull(*model, *task) < 1e-5);
  }
}

TEST_CASE("constructions in full matrices, blocks and diagonals, with and without additions, are left as they are") {
  struct Fact {
    const char *task, *construction, *model;
  };
  for (const auto& [task_name, construction, name] :
       {Fact{"Z3", "permutation", "bilinear:full,hidden=3,inputs=8"},
        Fact{"Z3", "permutation", "bilinear:full,hidden=6,inputs=8,bias,input-bias"},
        Fact{"S3", "permutation", "bilinear:full,hidden=6,inputs=8"},
        Fact{"Z5", "rotation", "bilinear:block=2,hidden=2,inputs=8"},
        Fact{"Z5", "rotation", "bilinear:block=2,hidden=4,inputs=8,bias,input-bias"},
        Fact{"parity", "parity-scalar", "bilinear:diagonal,hidden=2,inputs=4"}}) {
    CAPTURE(task_name);
    CAPTURE(name);
    const auto task = make_task(task_name);
    BuildOptions wishes;
    wishes.construction = construction;
    auto model = make_model<float>(name, *task, 1);
    initialise_from(*model, build(named_language(task_name), wishes), *task);
    CHECK(greatest_pull(*model, *task) < 1e-4);
  }
}

TEST_CASE("a part that is moved off by half its own length dies out, by a little less it is put right") {
  const auto task = make_task("parity");
  for (const double share : {0.49, 0.51}) {
    std::vector<Eigen::MatrixXd> letters(task->alphabet().size(), Eigen::MatrixXd::Identity(2, 2));
    letters[0](1, 1) = 1 - share, letters[1](1, 1) = -1 + share;
    const auto model = made_of("bilinear:full,hidden=2,inputs=8", *task, letters, Eigen::Vector2d(1, 1));
    // Its means are those of a model that is exact.
    LearnedStates seen = seen_of(*model, *task);
    for (std::size_t i = 0; i < seen.wanted.size(); ++i)
      seen.means.col(static_cast<Eigen::Index>(i)) << 2, (i == 0 || seen.wanted[i] == seen.wanted[2] ? 1 : -1);
    const std::vector<float> all = pulled_letters(*model, *task, seen, 1);
    auto pulled = make_model<float>(model->name(), *task, 1);
    std::ranges::copy(all, pulled->parameters().begin());
    const LinearModel view = *pulled->linear_view();
    CHECK(view.matrices[4 + 3] == doctest::Approx(share < 0.5 ? -1 : 0).epsilon(1e-4));
    CHECK(view.matrices[3] == doctest::Approx(share < 0.5 ? 1 : 0).epsilon(1e-4));
    CHECK(view.matrices[4] == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("a part of a thousandth of the greatest is noise and dies out, a hundredth more of it is put right") {
  const auto task = make_task("parity");
  for (const double size : {0.99e-3, 1.01e-3}) {
    std::vector<Eigen::MatrixXd> letters(task->alphabet().size(), Eigen::MatrixXd::Identity(2, 2));
    letters[0](1, 1) = 0.9, letters[1](1, 1) = -0.9;
    const auto model = made_of("bilinear:full,hidden=2,inputs=8", *task, letters, Eigen::Vector2d(1, size));
    LearnedStates seen = seen_of(*model, *task);
    for (std::size_t i = 0; i < seen.wanted.size(); ++i)
      seen.means.col(static_cast<Eigen::Index>(i)) << 1, (i == 0 || seen.wanted[i] == seen.wanted[2] ? size : -size);
    auto pulled = make_model<float>(model->name(), *task, 1);
    std::ranges::copy(pulled_letters(*model, *task, seen, 1), pulled->parameters().begin());
    const LinearModel view = *pulled->linear_view();
    CHECK(view.matrices[4 + 3] == doctest::Approx(size > 1e-3 ? -1 : 0).epsilon(1e-4));
    CHECK(view.matrices[3] == doctest::Approx(size > 1e-3 ? 1 : 0).epsilon(1e-4));
    CHECK(view.matrices[0] == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("a letter keeps what it does to a direction that it alone moves off by half its length") {
  const auto task = make_task("parity");
  for (const double share : {0.49, 0.51}) {
    std::vector<Eigen::MatrixXd> letters(task->alphabet().size(), Eigen::MatrixXd::Identity(2, 2));
    letters[1](1, 1) = -1 + share;  // the part as a whole is off by this over √2
    const auto model = made_of("bilinear:full,hidden=2,inputs=8", *task, letters, Eigen::Vector2d(1, 1));
    LearnedStates seen = seen_of(*model, *task);
    for (std::size_t i = 0; i < seen.wanted.size(); ++i)
      seen.means.col(static_cast<Eigen::Index>(i)) << 2, (i == 0 || seen.wanted[i] == seen.wanted[2] ? 1 : -1);
    auto pulled = make_model<float>(model->name(), *task, 1);
    std::ranges::copy(pulled_letters(*model, *task, seen, 1), pulled->parameters().begin());
    const LinearModel view = *pulled->linear_view();
    CHECK(view.matrices[3] == doctest::Approx(1).epsilon(1e-4));
    CHECK(view.matrices[4 + 3] == doctest::Approx(share < 0.5 ? -1 : -1 + share).epsilon(1e-4));
  }
}

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
  const LearnedStates seen = seen_of(*model, *task);
  const std::vector<float> all = pulled_letters(*model, *task, seen, 1),
                           half = pulled_letters(*model, *task, seen, 0.5),
                           none = pulled_letters(*model, *task, seen, 0);
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
  const std::size_t first = model->begin_of("weights"), last = model->begin_of("initial");
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < first || i >= last) CHECK(all[i] == model->parameters()[i]);
  CHECK_THROWS_AS(model->begin_of("weight"), InputError);
}

TEST_CASE("families whose matrices are not linear in the embedding are left alone") {
  const auto task = make_task("Z3");
  for (const char* name : {"bilinear:rotations,hidden=8,inputs=8", "bilinear:rank=4,hidden=4,inputs=8",
                           "fan:blocks=1,size=8", "deltaproduct:signed,plain,width=16,heads=1,mlp=0"})
    CHECK(pulled_letters(*make_model<float>(name, *task, 1), *task, LearnedStates{}, 0.5).empty());
}
