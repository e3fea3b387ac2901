#include "krohn/simulate/closing/close_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/closing/learned_states.h"
#include "krohn/simulate/closing/state_code.h"
#include "krohn/simulate/learned/construction_target.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kMostReadoutSteps = 20'000;
constexpr double kMargin = 0.5;  ///< nats, at which descent on the read-out ends

/// h ↦ A h + b of every block, as a matrix for (h, 1): s × (s + 1).
using Maps = std::vector<MatrixXd>;

Maps maps_of(const LinearModel& view, Letter letter) {
  const std::size_t size = view.block;
  Maps maps;
  for (std::size_t first = 0; first < view.hidden; first += size) {
    MatrixXd map = MatrixXd::Zero(static_cast<Index>(size), static_cast<Index>(size) + 1);
    for (std::size_t row = 0; row < size; ++row) {
      for (std::size_t column = 0; column < size; ++column)
        map(static_cast<Index>(row), static_cast<Index>(column)) =
            double{view.matrices[(letter * view.hidden + first + row) * size + column]};
      if (!view.additions.empty())
        map(static_cast<Index>(row), static_cast<Index>(size)) =
            double{view.additions[letter * view.hidden + first + row]};
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

/// W and c behind the special tokens that follow a word.
struct ReadOut {
  MatrixXd weights;
  VectorXd bias;
};

ReadOut readout_of(const LinearModel& view, const std::vector<Letter>& after) {
  const auto labels = static_cast<Index>(view.labels), hidden = static_cast<Index>(view.hidden);
  ReadOut result{MatrixXd(labels, hidden), VectorXd(labels)};
  for (Index label = 0; label < labels; ++label) {
    result.bias(label) = double{view.readout_bias[static_cast<std::size_t>(label)]};
    for (Index i = 0; i < hidden; ++i)
      result.weights(label, i) = double{view.readout[static_cast<std::size_t>(label * hidden + i)]};
  }
  for (auto letter = after.rbegin(); letter != after.rend(); ++letter) {
    const Maps maps = maps_of(view, *letter);
    const Index size = view.block;
    MatrixXd before = result.weights;
    for (std::size_t k = 0; k < maps.size(); ++k) {
      const auto through = result.weights.middleCols(static_cast<Index>(k) * size, size);
      before.middleCols(static_cast<Index>(k) * size, size) = through * maps[k].leftCols(size);
      result.bias += through * maps[k].col(size);
    }
    result.weights = before;
  }
  return result;
}

/// The rounded blocks side by side.
struct Rounded {
  LinearTarget target;
  MatrixXd points;
  double moved = 0, share = 0;
  std::uint64_t kept = 0, by_states = 0, dropped = 0;
};

MatrixXd beside(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd all = MatrixXd::Zero(a.rows() + b.rows(), a.cols() + b.cols());
  all.topLeftCorner(a.rows(), a.cols()) = a;
  all.bottomRightCorner(b.rows(), b.cols()) = b;
  return all;
}

/// One block's points and letters, with 1 as one more number where there are additions.
LearnedCode code_of(const LearnedStates& seen, const std::vector<Maps>& letters, std::size_t block, bool adds) {
  const Index size = letters[0][block].rows(), first = static_cast<Index>(block) * size, wider = size + adds;
  LearnedCode code{MatrixXd::Ones(wider, seen.means.cols()), {}, seen.moves};
  code.points.topRows(size) = seen.means.middleRows(first, size);
  for (const Maps& maps : letters) {
    MatrixXd letter = MatrixXd::Identity(wider, wider);
    letter.topRows(size) = maps[block].leftCols(wider);
    code.letters.push_back(std::move(letter));
  }
  return code;
}

/// Integers of p-norm at most 1, whatever p.
bool has_short_columns(const MatrixXd& matrix) { return (matrix.cwiseAbs().colwise().sum().array() <= 1).all(); }

/// How many points it tells apart.
std::size_t places(const IntegerCode& code) {
  std::set<std::vector<double>> places;
  for (const auto& point : code.points.colwise()) places.emplace(point.begin(), point.end());
  return places.size();
}

/// `shortens`: a column of p-norm above 1 is divided by it, as Fan et al.'s are.
Rounded round_blocks(const LinearModel& view, const LearnedStates& seen, const TaskAutomaton& input, bool shortens) {
  constexpr double kDead = 1e-3;  // a block whose means are so much smaller than the greatest carries nothing
  std::vector<Maps> letters;
  for (const Letter letter : input.inputs) letters.push_back(maps_of(view, letter));
  const bool adds = std::ranges::any_of(view.additions, [](float b) { return b != 0; });
  const ReadOut readout = readout_of(view, input.after);
  Rounded result;
  result.target.matrices.assign(view.letters, MatrixXd());
  result.target.readout = MatrixXd(view.labels, 0);
  result.target.bias = readout.bias;
  const Index size = view.block;
  for (std::size_t block = 0; block * view.block < view.hidden; ++block) {
    const auto own = seen.means.middleRows(static_cast<Index>(block) * size, size);
    if (own.cwiseAbs().maxCoeff() < kDead * seen.means.cwiseAbs().maxCoeff()) continue;
    const LearnedCode learned = code_of(seen, letters, block, adds);
    MatrixXd reads = MatrixXd::Zero(view.labels, size + adds);
    reads.leftCols(size) = readout.weights.middleCols(static_cast<Index>(block) * size, size);
    auto code = integer_code(learned, size, [&](const IntegerCode& found) {
      return !shortens || std::ranges::all_of(found.letters, has_short_columns);
    });
    if (shortens) {
      auto by_states = state_code(learned, reads, size);
      if (by_states && (!code || places(by_states->code) > places(*code))) {
        code = std::move(by_states->code);
        result.share = std::max(result.share, by_states->share);
        ++result.by_states;
      }
    }
    if (!code) {
      ++result.dropped;
      continue;
    }
    ++result.kept;
    result.moved = std::max(result.moved, code->moved);
    const Index before = result.target.readout.cols(), rank = code->rank();
    for (std::size_t i = 0; i < letters.size(); ++i) {
      MatrixXd& matrix = result.target.matrices[input.inputs[i]];
      matrix = beside(matrix, code->letters[i]);
    }
    result.target.readout.conservativeResize(Eigen::NoChange, before + rank);
    result.target.readout.rightCols(rank) = reads * code->basis;
    result.points.conservativeResize(before + rank, seen.means.cols());
    result.points.bottomRows(rank) = code->points;
  }
  const Index rank = result.target.readout.cols();
  for (MatrixXd& matrix : result.target.matrices)
    if (matrix.size() == 0) matrix = MatrixXd::Identity(rank, rank);  // special tokens
  result.target.additions.assign(view.letters, VectorXd::Zero(rank));
  if (rank > 0) result.target.initial = result.points.col(seen.initial);
  return result;
}

/// The least margin of the wanted label over another, and the gradient of the mean cross-entropy.
double descend(LinearTarget& target, const MatrixXd& points, const LearnedStates& seen, double rate, bool has_bias) {
  MatrixXd by_logits = MatrixXd::Zero(target.bias.size(), points.cols());
  double least = INFINITY;
  for (Index q = 0; q < points.cols(); ++q) {
    if (!seen.is_asked[static_cast<std::size_t>(q)]) continue;
    const auto label = static_cast<Index>(seen.wanted[static_cast<std::size_t>(q)]);
    const VectorXd logits = target.readout * points.col(q) + target.bias;
    for (Index l = 0; l < logits.size(); ++l)
      if (l != label) least = std::min(least, logits(label) - logits(l));
    const VectorXd powers = (logits.array() - logits.maxCoeff()).exp();
    by_logits.col(q) = powers / powers.sum();
    by_logits(label, q) -= 1;
  }
  if (least >= kMargin || rate == 0) return least;
  target.readout -= rate * by_logits * points.transpose();
  if (has_bias) target.bias -= rate * by_logits.rowwise().sum();
  return least;
}

/// Gradient descent on the read-out until it tells the points apart. Returns its steps; false where it does not.
bool refine_readout(Rounded& rounded, const LearnedStates& seen, bool has_bias, std::uint64_t& steps) {
  const auto step = [&](double rate) { return descend(rounded.target, rounded.points, seen, rate, has_bias); };
  if (step(0) > 0) return true;
  // The loss is convex, and its second derivative at most half the sum of the squares.
  const double rate = 2 / (rounded.points.squaredNorm() + static_cast<double>(rounded.points.cols()));
  while (steps < kMostReadoutSteps) {
    ++steps;
    if (step(rate) >= kMargin) return true;
  }
  return step(0) > 0;
}

}  // namespace

std::string why_not_linear(const SequenceModel<float>& model) {
  return model.linear_view() ? "" : "it is no linear recurrence with a linear read-out";
}

Closing close_linear(const SequenceModel<float>& model, const Task& task) {
  const FloatEnvironment environment;
  Closing closing;
  closing.what = why_not_linear(model);
  if (!closing.what.empty()) return closing;
  const std::optional<LinearModel> view = model.linear_view();
  const auto machine = trained_machine(model, task, Precision::kFp64);
  const TaskAutomaton input = input_machine(task);
  closing.seen =
      std::make_shared<const LearnedStates>(learned_states(*machine, task, tracked_automaton(task, input.automaton)));
  const LearnedStates& seen = *closing.seen;
  Rounded rounded = round_blocks(*view, seen, input, model.name().starts_with("fan:"));
  closing.kept = rounded.kept;
  closing.by_states = rounded.by_states;
  closing.dropped = rounded.dropped;
  closing.moved = rounded.moved;
  closing.share = rounded.share;
  if (rounded.kept == 0) {
    closing.what = fmt::format(
        "no basis makes the letters of {} nearly integers: what was learned is not yet a representation of the "
        "automaton, or one with irrational traces, which no finite number of floats follows exactly{}",
        view->block == view->hidden ? "its state" : "any of its blocks",
        model.settles() ? "; or its states keep no common scale, which scale-free models need not learn where letters "
                          "merge states: leave out scale-free"
                        : "");
    return closing;
  }
  // The last of a model's tensors, and empty where no scale may tell.
  const bool has_bias = model.begin_of("readout_bias") < model.parameters().size();
  if (!refine_readout(rounded, seen, has_bias, closing.readout_steps)) {
    closing.what = fmt::format("{} of its {} blocks round, and what they hold does not tell the answers apart",
                               rounded.kept, rounded.kept + rounded.dropped);
    return closing;
  }
  try {
    closing.model = make_model<float>(model.name(), task, /*seed=*/0);
    write_linear(*closing.model, rounded.target);
    closing.what = fmt::format("letters' matrices to integers, in {} coordinate{}", rounded.points.rows(),
                               rounded.points.rows() == 1 ? "" : "s");
    if (rounded.by_states > 0)
      closing.what += fmt::format(
          ", {} of {} block{} with one for every state that it tells apart, which trained letters miss by at most "
          "{:.2g} of the way to the next",
          rounded.by_states, rounded.kept, rounded.kept == 1 ? "" : "s", rounded.share);
  } catch (const InputError& error) {
    closing.model.reset();
    closing.what = error.what();
  }
  return closing;
}

}  // namespace krohn
