#include "krohn/simulate/closing/close_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/union_find.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

LearnedStates learned_states(const TrainedReader& machine, const Task& task, const TrackedAutomaton& tracked) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const Dfa& automaton = tracked.automaton;
  // A group of which one move is not known is none.
  const WordsOfMoves size = words_of_moves(automaton);
  const std::vector<StateVisit> visits =
      state_visits(machine, task, automaton, {.words = size.words, .length = size.length, .seed = 1});
  LearnedStates seen;
  std::vector<std::uint32_t> point_of(automaton.states(), kNone);
  const auto point = [&](State state) {
    if (point_of[state] == kNone) {
      point_of[state] = static_cast<std::uint32_t>(seen.states.size());
      seen.states.push_back(state);
      seen.wanted.push_back(tracked.wanted[state]);
      seen.is_asked.push_back(false);
    }
    return point_of[state];
  };
  seen.initial = point(automaton.initial());
  for (const StateVisit& visit : visits)
    if (const std::uint32_t at = point(visit.state); visit.is_asked) seen.is_asked[at] = true;
  std::vector<double> counts(seen.states.size(), 0);
  std::set<std::tuple<std::uint32_t, Letter, std::uint32_t>> moves;
  const auto add = [&](std::uint32_t at, const std::vector<double>& numbers) {
    seen.means.col(at) += Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
    counts[at] += 1;
  };
  const std::vector<double> start = machine.states(machine.start()).front();
  seen.means =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(start.size()), static_cast<Eigen::Index>(seen.states.size()));
  for (const StateVisit& visit : visits) {
    add(point_of[visit.state], visit.parts.front());
    moves.emplace(point_of[visit.from], visit.letter, point_of[visit.state]);
  }
  if (counts[0] == 0) add(0, start);  // nothing leads back to the initial state
  for (std::size_t i = 0; i < counts.size(); ++i) seen.means.col(static_cast<Eigen::Index>(i)) /= counts[i];
  for (const auto& [from, letter, to] : moves) seen.moves.push_back({Eigen::Index{from}, letter, Eigen::Index{to}});
  const PointMoves by = point_moves(seen.moves, automaton.letters(), seen.states.size());
  for (std::size_t i = 0; i < seen.states.size(); ++i)
    if (by.is_repeated(i) && !tracked.is_asked(seen.states[i]))
      seen.means.col(static_cast<Eigen::Index>(i)) = seen.means.col(by.like[i]);
  return seen;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMaxShare = 0.35;  ///< as integer_code's: at half of the distance another class is as near

/// S such that |S δ|² is what δ makes of the logits' differences, squared, summed over 0 … kAhead letters ahead and
/// averaged over words of each length.
MatrixXd seen_by(const MatrixXd& reads, const std::vector<MatrixXd>& letters) {
  constexpr int kAhead = 12;  // letters of the words that points were learned from
  MatrixXd own = reads.rowwise() - reads.colwise().mean();
  MatrixXd term = own.transpose() * own, sum = term;
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    MatrixXd next = MatrixXd::Zero(term.rows(), term.cols());
    for (const MatrixXd& letter : letters) next += letter.transpose() * term * letter;
    term = next / static_cast<double>(std::max<std::size_t>(letters.size(), 1));
    sum += term;
  }
  const auto parts = symmetric_eigen(sum);
  if (!parts) return MatrixXd::Identity(sum.rows(), sum.cols());
  return parts->values.cwiseMax(0).cwiseSqrt().asDiagonal() * parts->vectors.transpose();
}

/// Points merged to classes that the known moves keep.
class Congruence {
 public:
  Congruence(const std::vector<LearnedCode::Move>& moves, std::size_t points, std::size_t letters)
      : letters_(letters), together_(static_cast<std::uint32_t>(points)), image_(points * letters, kNone) {
    for (const auto& [from, letter, to] : moves)
      at(static_cast<std::uint32_t>(from), letter) = static_cast<std::uint32_t>(to);
  }

  /// How many classes fewer there are then.
  Index merge(std::uint32_t one, std::uint32_t other) {
    Index fewer = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> due{{one, other}};
    while (!due.empty()) {
      const std::uint32_t a = together_.find(due.back().first), b = together_.find(due.back().second);
      due.pop_back();
      if (!together_.unite(a, b)) continue;
      ++fewer;
      for (std::size_t letter = 0; letter < letters_; ++letter) {
        std::uint32_t& kept = at(std::min(a, b), letter);
        const std::uint32_t lost = at(std::max(a, b), letter);
        if (kept != kNone && lost != kNone) due.emplace_back(kept, lost);
        if (kept == kNone) kept = lost;
      }
    }
    return fewer;
  }

  /// Point ↦ class, and how many there are.
  std::pair<std::vector<std::uint32_t>, std::uint32_t> classes() { return together_.classes(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t& at(std::uint32_t point, std::size_t letter) { return image_[point * letters_ + letter]; }

  std::size_t letters_;
  UnionFind<std::uint32_t> together_;
  std::vector<std::uint32_t> image_;  ///< of the classes' least points: some point of the class that a letter leads to
};

/// Classes, their means, and how far off the learned ones are.
struct Attempt {
  StateCode found;
  VectorXd worst;              ///< class ↦ its share
  std::vector<Index> nearest;  ///< class ↦ another
};

Attempt attempt(const LearnedCode& learned, const MatrixXd& sight, const std::vector<std::uint32_t>& class_of,
                Index classes) {
  const Index points = learned.points.cols();
  Attempt made{{{MatrixXd::Zero(learned.points.rows(), classes), MatrixXd::Zero(classes, points), {}, 0}, 0},
               VectorXd::Zero(classes),
               std::vector<Index>(static_cast<std::size_t>(classes))};
  IntegerCode& code = made.found.code;
  VectorXd counts = VectorXd::Zero(classes), apart(classes);
  for (Index q = 0; q < points; ++q) {
    const Index own = class_of[static_cast<std::size_t>(q)];
    code.basis.col(own) += learned.points.col(q);
    code.points(own, q) = 1;
    counts(own) += 1;
  }
  code.basis.array().rowwise() /= counts.transpose().array();
  const MatrixXd seen = sight * code.basis;
  for (Index c = 0; c < classes; ++c) {
    VectorXd distances = (seen.colwise() - seen.col(c)).colwise().norm();
    distances(c) = std::numeric_limits<double>::infinity();
    apart(c) = distances.minCoeff(&made.nearest[static_cast<std::size_t>(c)]);
  }
  const auto look = [&](const VectorXd& found, Index c) {
    const double off = (sight * found - seen.col(c)).norm();
    made.worst(c) = std::max(made.worst(c), apart(c) > 0 ? off / apart(c) : std::numeric_limits<double>::infinity());
  };
  for (Index q = 0; q < points; ++q) look(learned.points.col(q), class_of[static_cast<std::size_t>(q)]);
  code.letters.assign(learned.letters.size(), MatrixXd::Identity(classes, classes));
  for (const auto& [from, letter, to] : learned.moves) {
    const Index source = class_of[static_cast<std::size_t>(from)], goal = class_of[static_cast<std::size_t>(to)];
    code.letters[letter].col(source) = VectorXd::Unit(classes, goal);
    look(learned.letters[letter] * code.basis.col(source), goal);
  }
  made.found.share = made.worst.maxCoeff();
  return made;
}

/// Merges the nearest pairs until few enough classes are left.
void merge_nearest(Congruence& congruence, const MatrixXd& seen, Index most_classes) {
  std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;
  for (Index a = 0; a < seen.cols(); ++a)
    for (Index b = a + 1; b < seen.cols(); ++b)
      pairs.emplace_back((seen.col(a) - seen.col(b)).squaredNorm(), static_cast<std::uint32_t>(a),
                         static_cast<std::uint32_t>(b));
  std::ranges::sort(pairs);
  Index left = seen.cols();
  for (auto next = pairs.begin(); left > most_classes; ++next)
    left -= congruence.merge(std::get<1>(*next), std::get<2>(*next));
}

}  // namespace

std::optional<StateCode> state_code(const LearnedCode& learned, const MatrixXd& reads, Index most_classes) {
  constexpr Index kMaxPoints = 4096;  // all pairs are compared
  const Index points = learned.points.cols();
  const auto fits = [&](const MatrixXd& letter) {
    return letter.rows() == learned.points.rows() && letter.cols() == learned.points.rows();
  };
  if (learned.points.size() == 0 || points > kMaxPoints || most_classes < 2 || reads.cols() != learned.points.rows() ||
      !std::ranges::all_of(learned.letters, fits))
    return std::nullopt;
  const MatrixXd sight = seen_by(reads, learned.letters), seen = sight * learned.points;
  if (!seen.allFinite() || !std::ranges::all_of(learned.letters, [](const MatrixXd& a) { return a.allFinite(); }))
    return std::nullopt;
  Congruence congruence(learned.moves, static_cast<std::size_t>(points), learned.letters.size());
  if (points > most_classes) merge_nearest(congruence, seen, most_classes);
  while (true) {
    const auto [class_of, classes] = congruence.classes();
    if (classes < 2) return std::nullopt;
    Attempt made = attempt(learned, sight, class_of, classes);
    if (made.found.share <= kMaxShare) return std::move(made.found);
    Index worst = 0;
    made.worst.maxCoeff(&worst);
    const auto point_of = [&, &of = class_of](Index c) {
      return static_cast<std::uint32_t>(std::ranges::find(of, static_cast<std::uint32_t>(c)) - of.begin());
    };
    congruence.merge(point_of(worst), point_of(made.nearest[static_cast<std::size_t>(worst)]));
  }
}

MatrixXd block_map(const LinearModel& model, Letter letter, std::size_t first) {
  const auto size = static_cast<Index>(model.block);
  MatrixXd map = MatrixXd::Zero(size, size + 1);
  for (Index row = 0; row < size; ++row) {
    const std::size_t at = letter * model.hidden + first + static_cast<std::size_t>(row);
    for (Index column = 0; column < size; ++column)
      map(row, column) = double{model.matrices[at * model.block + static_cast<std::size_t>(column)]};
    if (!model.additions.empty()) map(row, size) = double{model.additions[at]};
  }
  return map;
}

namespace {

constexpr std::uint64_t kMaxReadoutSteps = 20'000;
constexpr double kMargin = 0.5;  ///< nats, at which descent on the read-out ends

/// The map of every block.
using Maps = std::vector<MatrixXd>;

Maps maps_of(const LinearModel& view, Letter letter) {
  Maps maps;
  for (std::size_t first = 0; first < view.hidden; first += view.block) maps.push_back(block_map(view, letter, first));
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
  while (steps < kMaxReadoutSteps) {
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
  Rounded rounded = round_blocks(*view, seen, input, mixer_of<BlockShape>(model) != nullptr);
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
