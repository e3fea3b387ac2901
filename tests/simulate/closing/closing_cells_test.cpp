#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/closing/saturate_cells.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

using namespace krohn;

// Cells whose units saturate: what they remember is one of finitely many words of signs, whatever was trained; and what
// no signs hold is not rounded.

namespace {

const char* const kCells[] = {"rnn", "gru", "lstm"};

/// The construction for a task, its weights moved by up to ±noise of their own size: what training might have come to.
std::unique_ptr<SequenceModel<float>> nearly_trained(const Task& task, const std::string& cell, double noise) {
  const SaturatedCell exact = saturated_cell(*task.oracle(), cell);
  auto model = make_model<float>(to_string(exact.shape), task, 1);
  model->load(exact.tensors);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> move(-noise, noise);
  for (float& x : model->parameters()) x = static_cast<float>(x * (1 + move(random)));
  return model;
}

}  // namespace

TEST_CASE("what a construction's cell remembers stays the same when it is moved and rounded, and is proved") {
  for (const char* name : {"Z3", "S3/swaps", "regex:(a|b)*abb", "regex:a(b|c)*a"})
    for (const std::string cell : kCells) {
      CAPTURE(name);
      CAPTURE(cell);
      const auto task = make_task(name);
      const auto trained = nearly_trained(*task, cell, 0.01);
      const SaturatedUnits units = saturate_cells(*trained, *task);
      REQUIRE(units.model != nullptr);
      CHECK(units.silenced == 0);
      CHECK(units.share < 0.01);
      CHECK(units.model->name() == trained->name());
      const ProvedClosing closing = close_and_prove(*trained, *task, TrainOptions{});
      CAPTURE(closing.why_not());
      CHECK(closing.is_proved());
    }
}

TEST_CASE("fitting the units and the read-out behind them end where the user asks") {
  const auto task = make_task("Z3");
  const auto trained = nearly_trained(*task, "lstm", 0.01);
  const std::vector<bool> is_free(trained->parameters().size(), true);
  Interruption::requested = true;
  CHECK_THROWS_AS(saturate_cells(*trained, *task), Interrupted);
  CHECK_THROWS_AS(refine_readout(*trained, *task, TrainOptions{}, is_free, 1, [] { return false; }), Interrupted);
  Interruption::requested = false;
  CHECK(refine_readout(*trained, *task, TrainOptions{}, is_free, 1, [] { return false; }) == 1);
}

TEST_CASE("whatever is rounded, random weights too, units hold signs alone, and c of an LSTM is never added to") {
  for (const std::string cell : kCells)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(cell);
      CAPTURE(seed);
      // Answers that do not depend on the word: any units tell them apart.
      const auto task = make_task("regex:(a|b|c)*");
      const CellShape shape{.cell = cell, .hidden = 12, .layers = 1, .inputs = 5, .biased = seed % 2 == 0};
      const auto model = make_model<float>(to_string(shape), *task, seed);
      model->parameters()[model->begin_of("head.bias") + task->oracle()->output(task->oracle()->initial())] = 1000;
      const SaturatedUnits units = saturate_cells(*model, *task);
      REQUIRE(units.model != nullptr);
      const TensorFile tensors = units.model->tensors();
      const auto reader = operations_reader(
          cell_operations(shape, units.model->letters(), tensors, Precision::kFp32).operations, tensors);
      LetterReader::Memory read = reader->start();
      const std::size_t held = reader->numbers(read).size() - shape.hidden;  // h, or c behind it
      std::mt19937 random(static_cast<unsigned>(seed));
      std::set<std::vector<double>> codes;
      std::size_t silent = shape.hidden;
      for (int t = 0; t < 500; ++t) {
        reader->step(static_cast<Letter>(random() % 3), read, false);
        const std::vector<double> memory = reader->numbers(read);
        const auto zeros =
            static_cast<std::size_t>(std::count(memory.begin() + static_cast<std::ptrdiff_t>(held), memory.end(), 0.0));
        silent = std::min(silent, zeros);
        for (std::size_t i = held; i < memory.size(); ++i) CHECK(std::abs(memory[i]) == (memory[i] == 0 ? 0 : 1));
        codes.insert(memory);
      }
      CHECK(silent == units.silenced);
      CHECK(codes.size() <= 3);  // one state of the automaton, and the letter that was read last
    }
}

TEST_CASE("the embedding stays, and the read-out alone may be trained on") {
  const auto task = make_task("Z3");
  const auto trained = nearly_trained(*task, "gru", 0.01);
  const SaturatedUnits units = saturate_cells(*trained, *task);
  const std::size_t head = trained->begin_of("head.weight"), first = trained->begin_of("rnn.weight_ih_l0");
  REQUIRE(units.is_free.size() == trained->parameters().size());
  for (std::size_t i = 0; i < units.is_free.size(); ++i) {
    CHECK(units.is_free[i] == (i >= head));
    if (i < first || i >= head) CHECK(units.model->parameters()[i] == trained->parameters()[i]);
  }
}

TEST_CASE("units that tell nothing make no model, and shapes that are not rounded say why") {
  const auto task = make_task("Z3");
  auto blank = make_model<float>("rnn:hidden=4,inputs=4", *task, 1);
  std::ranges::fill(blank->parameters(), 0.0F);
  const SaturatedUnits none = saturate_cells(*blank, *task);
  CHECK(none.model == nullptr);
  CHECK(test::contains(none.why_not, "what is not learned is not rounded"));
  struct Fact {
    std::string task, model, why;
  };
  for (const auto& [language, model, why] :
       {Fact{"Z3", "rnn-relu:hidden=4", "one side alone"}, Fact{"Z3", "lstm:hidden=4,layers=2", "one layer"},
        // States · letters²: at the limit and just past it.
        Fact{"regex:(a{8000})*", "rnn:hidden=1", ""},
        Fact{"regex:(a{8001})*", "rnn:hidden=1", "8001 states and 1 letter"}, Fact{"Z20", "rnn:hidden=1", ""},
        Fact{"Z21", "rnn:hidden=1", "21 states and 21 letters"}}) {
    CAPTURE(language);
    const auto own = make_task(language);
    const std::string answer = why_no_cells_round(*make_model<float>(model, *own, 1), *own);
    CAPTURE(answer);
    if (why.empty())
      CHECK(answer.empty());
    else
      CHECK(test::contains(answer, why));
    CHECK(why_never_rounded(*make_model<float>(model, *own, 1), *own) == answer);
  }
}

TEST_CASE("what is learned is rounded from 99 % of the answers on, and not below") {
  std::size_t learned = 0, unlearned = 0;
  double least = 1, most = 0;  // next to the border, on its two sides
  // Constant answers, which are wrong where a word ends so: a share of the words that thins out.
  for (const char* name :
       {"(a|b)*a{4}", "(a|b)*a{5}", "(a|b)*a{6}", "(a|b)*(a{6}|b{9})", "(a|b)*(a{6}|b{8})", "(a|b)*(a{6}|b{8}|ab{8})",
        "(a|b)*(a{6}|b{7})", "(a|b)*a{7}", "(a|b|c)*a{4}", "(a|b|c)*(a{4}|b{6})", "(a|b|c)*(a{4}|b{5})"}) {
    CAPTURE(name);
    const auto task = make_task(std::string("regex:") + name);
    auto constant = make_model<float>("rnn:hidden=2,inputs=2", *task, 1);
    std::ranges::fill(constant->parameters(), 0.0F);
    constant->parameters()[constant->begin_of("head.bias") + task->oracle()->output(task->oracle()->initial())] = 1;
    const CellShape shape = parse_cell_shape(constant->name());
    const TaskAutomaton input = input_machine(*task);
    const double right =
        walk_cell(shape, cell_weights(shape, *constant), input, tracked_automaton(*task, input.automaton)).right;
    CAPTURE(right);
    const std::string why = saturate_cells(*constant, *task).why_not;
    CHECK(test::contains(why, "what is not learned") == (right < 0.99));
    CHECK(test::contains(why, "do not tell the answers apart") == (right >= 0.99));
    (right < 0.99 ? unlearned : learned) += 1;
    (right < 0.99 ? most : least) = right < 0.99 ? std::max(most, right) : std::min(least, right);
  }
  CHECK(learned >= 2);
  CHECK(unlearned >= 2);
  CHECK(most > 0.987);
  CHECK(least < 0.992);
}

// Weights that take sides: for every function of up to four signs, beside the known numbers of those that a threshold
// unit computes; and on points where a margin, a choice or a contradiction decides.

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// All words of signs, with a constant below.
MatrixXd cube(Index signs) {
  MatrixXd points(signs + 1, Index{1} << signs);
  for (Index i = 0; i < points.cols(); ++i) {
    for (Index j = 0; j < signs; ++j) points(j, i) = (i >> j & 1) != 0 ? 1 : -1;
    points(signs, i) = 1;
  }
  return points;
}

void check_sides(const VectorXd& weights, const MatrixXd& points, const Sides& sides) {
  for (Index i = 0; i < points.cols(); ++i)
    if (const int side = sides[static_cast<std::size_t>(i)]; side != 0) CHECK(side * points.col(i).dot(weights) >= 1);
}

}  // namespace

TEST_CASE("of the functions of signs exactly those are computed that a threshold computes") {
  // Muroga, Threshold Logic and Its Applications, 1971.
  constexpr std::uint64_t kThresholdFunctions[] = {2, 4, 14, 104, 1882};
  for (Index signs = 0; signs <= 4; ++signs) {
    CAPTURE(signs);
    const MatrixXd points = cube(signs);
    std::uint64_t found = 0;
    for (std::uint64_t function = 0; function >> points.cols() == 0; ++function) {
      Sides sides;
      for (Index i = 0; i < points.cols(); ++i) sides.push_back((function >> i & 1) != 0 ? 1 : -1);
      VectorXd weights = VectorXd::Zero(points.rows());
      if (take_sides(weights, points, sides) > 0) continue;
      ++found;
      check_sides(weights, points, sides);
    }
    CHECK(found == kThresholdFunctions[signs]);
  }
}

TEST_CASE("weights that are right already stay to the bit, at the margin too, and just below it they move") {
  const MatrixXd points = cube(2);
  const Sides first{1, -1, 1, -1};  // the first sign alone, with a minus
  for (const double size : {1.0, 1.5}) {
    VectorXd weights = VectorXd::Zero(3);
    weights(0) = -size;
    const VectorXd before = weights;
    CHECK(take_sides(weights, points, first) == 0);
    CHECK(weights == before);
  }
  VectorXd below = VectorXd::Zero(3);
  below(0) = -std::nextafter(1.0, 0.0);
  const VectorXd before = below;
  CHECK(take_sides(below, points, first) == 0);
  CHECK(below != before);
  check_sides(below, points, first);
}

TEST_CASE("either side is right where none is wanted, and contradictions and the zero point are told") {
  const MatrixXd points = cube(2);
  VectorXd weights = VectorXd::Zero(3);
  CHECK(take_sides(weights, points, {0, 0, 0, 0}) == 0);
  CHECK(weights.isZero(0));
  CHECK(take_sides(weights, points, {1, -1, -1, 0}) == 0);  // a parity, but for one place
  weights.setZero();
  CHECK(take_sides(weights, points, {1, -1, -1, 1}) > 0);
  MatrixXd twice(1, 2);
  twice << 1, 1;
  VectorXd one = VectorXd::Zero(1);
  CHECK(take_sides(one, twice, {1, -1}) > 0);
  const MatrixXd zero = MatrixXd::Zero(1, 1);
  CHECK(take_sides(one, zero, {1}) == 1);
  CHECK(take_sides(one, zero, {0}) == 0);
}
