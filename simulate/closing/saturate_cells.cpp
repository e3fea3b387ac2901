#include "krohn/simulate/closing/saturate_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct StatedDoubles {
  static double tanh(double x) { return cell_tanh(x); }
  static double logistic(double x) { return cell_sigmoid(x); }
  static double zero() { return 0; }
};

class Walk {
 public:
  Walk(const CellShape& shape, const CellWeights& weights)
      : kind_(find_cell(shape.cell)->kind),
        gates_(static_cast<Index>(find_cell(shape.cell)->gates)),
        kept_(static_cast<Index>(find_cell(shape.cell)->kept)),
        hidden_(static_cast<Index>(shape.hidden)),
        weights_(weights) {}

  CellWalk along(const TaskAutomaton& input, const TrackedAutomaton& tracked) {
    const Dfa& automaton = tracked.automaton;
    const WordsOfMoves size = words_of_moves(automaton);
    walk_.places.push_back({input.automaton.initial(), false, VectorXd::Zero(hidden_)});
    visits_.push_back(1);
    Random random(1);
    std::uint64_t asked = 0, right = 0;
    for (std::uint64_t word = 0; word < size.words; ++word) {
      VectorXd memory = VectorXd::Zero(kept_ * hidden_);
      State state = automaton.initial(), own = input.automaton.initial();  // of what is asked too, and of labels alone
      std::size_t at = 0;
      for (const Letter token : input.before) at = visit(at, token, own, memory);
      for (const Letter letter : random_tracked_word(tracked, size.length, random)) {
        state = automaton.next(state, letter);
        own = input.automaton.next(own, letter);
        at = visit(at, input.inputs[letter], own, memory);
        if (!tracked.is_asked(state)) continue;
        std::size_t end = at;
        VectorXd behind = memory;
        for (const Letter token : input.after) end = visit(end, token, own, behind);
        walk_.places[end].is_read_out = true;
        ++asked;
        if (answer(behind) == input.automaton.output(own)) ++right;
      }
    }
    walk_.right = asked == 0 ? 1 : static_cast<double>(right) / static_cast<double>(asked);
    for (std::size_t i = 0; i < walk_.places.size(); ++i) walk_.places[i].tendency /= visits_[i];
    for (CellStep& step : walk_.steps) step.gates /= step.visits;
    return std::move(walk_);
  }

 private:
  /// Moves the memory on, by a letter that leads to `state`, and returns the place behind it.
  std::size_t visit(std::size_t from, Letter letter, State state, VectorXd& memory) {
    const MatrixXd gates = read(letter, memory);
    const auto [place, is_new] = place_of_.emplace(std::pair{walk_.places[from].state, letter}, walk_.places.size());
    const std::size_t to = place->second;
    if (is_new) {
      walk_.places.push_back({state, false, VectorXd::Zero(hidden_)});
      visits_.push_back(0);
    }
    for (Index j = 0; j < hidden_; ++j) walk_.places[to].tendency(j) += held(memory, j) > 0 ? 1 : -1;
    visits_[to] += 1;
    const auto [step, is_new_step] = step_of_.emplace(std::pair{from, letter}, walk_.steps.size());
    if (is_new_step) walk_.steps.push_back({from, to, letter, MatrixXd::Zero(hidden_, gates_)});
    walk_.steps[step->second].gates += gates;
    walk_.steps[step->second].visits += 1;
    return to;
  }

  Output answer(const VectorXd& memory) const {
    Index best = 0;
    (weights_.head * memory.head(hidden_) + weights_.head_bias).maxCoeff(&best);
    return static_cast<Output>(best);
  }

  double held(const VectorXd& memory, Index unit) const { return memory((kept_ - 1) * hidden_ + unit); }

  MatrixXd read(Letter letter, VectorXd& memory) const {
    const VectorXd a = weights_.by_input * weights_.inputs.row(letter).transpose() + weights_.input_bias,
                   b = weights_.by_state * memory.head(hidden_) + weights_.state_bias;
    MatrixXd gates(hidden_, gates_);
    with_unit(kind_, [&](auto unit) {
      using Unit = decltype(unit);
      for (Index j = 0; j < hidden_; ++j) {
        double of_input[Unit::kGates], of_state[Unit::kGates], own[Unit::kKept];
        for (std::size_t i = 0; i < Unit::kGates; ++i) {
          of_input[i] = a(static_cast<Index>(i) * hidden_ + j);
          of_state[i] = b(static_cast<Index>(i) * hidden_ + j);
        }
        for (std::size_t i = 0; i < Unit::kKept; ++i) own[i] = memory(static_cast<Index>(i) * hidden_ + j);
        Unit::template step<StatedDoubles, double>(of_input, of_state, own);
        for (std::size_t i = 0; i < Unit::kGates; ++i) gates(j, static_cast<Index>(i)) = of_state[i];
        if constexpr (std::is_same_v<Unit, GruUnit>) gates(j, 2) = cell_tanh(of_input[2] + of_state[2] * of_state[0]);
        for (std::size_t i = 0; i < Unit::kKept; ++i) memory(static_cast<Index>(i) * hidden_ + j) = own[i];
      }
    });
    return gates;
  }

  CellKind kind_;
  Index gates_, kept_, hidden_;
  const CellWeights& weights_;
  CellWalk walk_;
  std::vector<double> visits_;
  std::map<std::pair<State, Letter>, std::size_t> place_of_;
  std::map<std::pair<std::size_t, Letter>, std::size_t> step_of_;
};

}  // namespace

CellWeights cell_weights(const CellShape& shape, const SequenceModel<float>& model) {
  const auto letters = static_cast<Index>(model.letters()), hidden = static_cast<Index>(shape.hidden),
             inputs = shape.inputs == 0 ? letters : static_cast<Index>(shape.inputs),
             rows = static_cast<Index>(find_cell(shape.cell)->gates) * hidden;
  CellWeights weights;
  weights.inputs = shape.inputs == 0 ? MatrixXd(MatrixXd::Identity(letters, letters))
                                     : MatrixXd(tensor_of(model, "embedding.weight", letters, inputs).cast<double>());
  weights.by_input = tensor_of(model, cell_tensor("weight_ih", 0), rows, inputs).cast<double>();
  weights.by_state = tensor_of(model, cell_tensor("weight_hh", 0), rows, hidden).cast<double>();
  weights.input_bias = weights.state_bias = VectorXd::Zero(rows);
  if (shape.biased) {
    weights.input_bias = tensor_of(model, cell_tensor("bias_ih", 0), rows, 1).cast<double>();
    weights.state_bias = tensor_of(model, cell_tensor("bias_hh", 0), rows, 1).cast<double>();
  }
  const auto labels = static_cast<Index>(model.labels());
  weights.head = tensor_of(model, "head.weight", labels, hidden).cast<double>();
  weights.head_bias = tensor_of(model, "head.bias", labels, 1).cast<double>();
  return weights;
}

void write_cell_weights(const CellShape& shape, const CellWeights& weights, SequenceModel<float>& model) {
  const auto write = [&](const char* what, const MatrixXd& numbers) {
    tensor_of(model, cell_tensor(what, 0), numbers.rows(), numbers.cols()) = numbers.cast<float>();
  };
  write("weight_ih", weights.by_input);
  write("weight_hh", weights.by_state);
  if (!shape.biased) return;
  write("bias_ih", weights.input_bias);
  write("bias_hh", weights.state_bias);
}

CellWalk walk_cell(const CellShape& shape, const CellWeights& weights, const TaskAutomaton& input,
                   const TrackedAutomaton& tracked) {
  return Walk(shape, weights).along(input, tracked);
}

namespace {

/// Steps between places: states · letters² at most. Fitting the units takes time by their number, minutes past this.
constexpr std::uint64_t kMaxSteps = 8000;

/// The share of the answers along the walk. Below it the automaton would have to say what the cell has not learned.
constexpr double kLeastRight = 0.99;

/// How much of a unit is kept.
enum class Unit : std::uint8_t { kWhole, kWithoutReset, kWithoutGates, kSilent };

/// One step down: only a GRU has a reset, and an RNN no gates.
Unit reduced(Unit unit, CellKind kind) {
  if (unit == Unit::kWhole && kind == CellKind::kGru) return Unit::kWithoutReset;
  if (unit < Unit::kWithoutGates && kind != CellKind::kTanh) return Unit::kWithoutGates;
  return Unit::kSilent;
}

class Rounding {
 public:
  Rounding(const CellShape& shape, CellWeights weights, const TaskAutomaton& input, const TrackedAutomaton& tracked)
      : kind_(find_cell(shape.cell)->kind),
        gates_(static_cast<Index>(find_cell(shape.cell)->gates)),
        hidden_(static_cast<Index>(shape.hidden)),
        constants_(shape.biased ? 1 : 0),
        automaton_(input.automaton),
        weights_(std::move(weights)),
        walk_(walk_cell(shape, weights_, input, tracked)),
        units_(shape.hidden, Unit::kWhole) {
    if (walk_.right < kLeastRight) return;
    output_open_.assign(walk_.places.size(), VectorXd::Zero(hidden_));
    std::vector<double> visits(walk_.places.size(), 0);
    for (const CellStep& step : walk_.steps) {
      visits[step.to] += step.visits;
      if (kind_ == CellKind::kLstm) output_open_[step.to] += step.visits * step.gates.col(3);
    }
    for (std::size_t i = 1; i < visits.size(); ++i) output_open_[i] /= visits[i];
    while (!fit()) {
    }
  }

  const CellWeights& weights() const { return weights_; }
  std::size_t kept() const {
    return units_.size() - static_cast<std::size_t>(std::ranges::count(units_, Unit::kSilent));
  }

  double right() const { return walk_.right; }
  double share() const {
    double other = 0, all = 0;
    for (const CellStep& step : walk_.steps)
      for (Index j = 0; j < hidden_; ++j)
        if (unit(j) != Unit::kSilent) {
          other += step.visits * (1 - std::abs(walk_.places[step.to].tendency(j))) / 2;
          all += step.visits;
        }
    return all == 0 ? 0 : other / all;
  }

  /// True if places that are answered otherwise have other codes.
  bool tells_answers() const {
    std::map<std::vector<double>, Output> answers;
    for (std::size_t i = 0; i < walk_.places.size(); ++i) {
      if (!walk_.places[i].is_read_out) continue;
      const VectorXd code = output(i);
      const Output wanted = automaton_.output(walk_.places[i].state);
      if (answers.emplace(std::vector<double>(code.begin(), code.end()), wanted).first->second != wanted) return false;
    }
    return true;
  }

 private:
  /// Points at which gates are computed, a column each, and the steps that are there: places of one code are one.
  struct Points {
    MatrixXd columns;
    std::vector<std::size_t> of_step;
  };

  Unit unit(Index j) const { return units_[static_cast<std::size_t>(j)]; }

  double sign(std::size_t place, Index j) const {
    return place == 0 ? 0 : walk_.places[place].tendency(j) < 0 ? -1 : 1;
  }
  bool is_output_open(std::size_t place, Index j) const {
    return unit(j) == Unit::kWithoutGates || output_open_[place](j) > 0.5;
  }

  /// The view of a place that the next letter and the read-out have.
  VectorXd output(std::size_t place) const {
    VectorXd code(hidden_);
    for (Index j = 0; j < hidden_; ++j) {
      double h = unit(j) == Unit::kSilent ? 0 : sign(place, j);
      if (kind_ == CellKind::kLstm) h = is_output_open(place, j) ? h * cell_tanh(1.0) : 0;
      code(j) = h;
    }
    return code;
  }

  Points points() const {
    Points result;
    std::map<std::pair<std::vector<double>, Letter>, std::size_t> known;
    std::vector<VectorXd> columns;
    for (const CellStep& step : walk_.steps) {
      const VectorXd code = output(step.from);
      const auto [at, is_new] =
          known.emplace(std::pair{std::vector<double>(code.begin(), code.end()), step.letter}, columns.size());
      result.of_step.push_back(at->second);
      if (!is_new) continue;
      VectorXd column(weights_.inputs.cols() + hidden_ + constants_);
      column << weights_.inputs.row(step.letter).transpose(), code, VectorXd::Ones(constants_);
      columns.push_back(std::move(column));
    }
    result.columns.resize(weights_.inputs.cols() + hidden_ + constants_, static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) result.columns.col(static_cast<Index>(i)) = columns[i];
    return result;
  }

  /// On which side of 0 a gate has to be at a step.
  std::int8_t side(const CellStep& step, Index j, Index gate) const {
    constexpr std::int8_t kOpen = 1, kShut = -1, kEither = 0;
    const bool has_gates = unit(j) < Unit::kWithoutGates;
    const double before = sign(step.from, j), after = sign(step.to, j);
    const std::int8_t to = after < 0 ? -1 : 1;
    const auto seen = step.gates.row(j);
    if (kind_ == CellKind::kGru) {
      const bool keeps = has_gates && before == after && seen(1) > 0.5;
      if (gate == 0) return unit(j) != Unit::kWhole || seen(0) > 0.5 ? kOpen : kShut;
      if (gate == 1) return keeps ? kOpen : kShut;
      return keeps ? kEither : to;
    }
    if (kind_ == CellKind::kLstm) {
      const bool keeps = has_gates && before == after && seen(1) > seen(0);
      if (gate == 0) return keeps ? kShut : kOpen;
      if (gate == 1) return keeps ? kOpen : kShut;
      if (gate == 2) return keeps ? kEither : to;
      return is_output_open(step.to, j) ? kOpen : kShut;
    }
    return to;
  }

  /// By point; nothing where steps at one point want both.
  std::optional<Sides> sides(const Points& points, Index j, Index gate) const {
    Sides result(static_cast<std::size_t>(points.columns.cols()), 0);
    for (std::size_t i = 0; i < walk_.steps.size(); ++i) {
      const std::int8_t wanted = side(walk_.steps[i], j, gate);
      std::int8_t& at = result[points.of_step[i]];
      if (wanted == 0) continue;
      if (at == -wanted) return std::nullopt;
      at = wanted;
    }
    return result;
  }

  /// Writes one gate's weights to `to`; where there are none, returns at how many points they lack.
  std::size_t fit_gate(const Points& points, Index j, Index gate, CellWeights& to) const {
    const Index row = gate * hidden_ + j, inputs = weights_.inputs.cols();
    const std::optional<Sides> wanted = sides(points, j, gate);
    if (!wanted) return static_cast<std::size_t>(points.columns.cols());
    // The operand of a GRU's r: U h and the bias beside it.
    const bool is_reset = kind_ == CellKind::kGru && gate == 2;
    const Index shared = points.columns.rows();
    VectorXd weights(shared + (is_reset ? constants_ : 0));
    weights.head(inputs) = weights_.by_input.row(row);
    weights.segment(inputs, hidden_) = weights_.by_state.row(row);
    if (constants_ > 0) weights(shared - 1) = weights_.input_bias(row) + (is_reset ? 0 : weights_.state_bias(row));
    if (weights.size() > shared) weights(shared) = weights_.state_bias(row);
    MatrixXd masked;
    if (is_reset) {
      masked.resize(weights.size(), points.columns.cols());
      masked.topRows(shared) = points.columns;
      masked.bottomRows(weights.size() - shared).setOnes();
      const std::optional<Sides> reset = sides(points, j, 0);
      for (Index i = 0; i < masked.cols(); ++i)
        if ((*reset)[static_cast<std::size_t>(i)] < 0) {
          masked.col(i).segment(inputs, hidden_).setZero();
          masked.col(i).tail(weights.size() - shared).setZero();
        }
    }
    if (const std::size_t lacking = take_sides(weights, is_reset ? masked : points.columns, *wanted); lacking > 0)
      return lacking;
    to.by_input.row(row) = weights.head(inputs);
    to.by_state.row(row) = weights.segment(inputs, hidden_);
    if (constants_ > 0) {
      to.input_bias(row) = weights(shared - 1);
      to.state_bias(row) = is_reset ? weights(shared) : 0;
    }
    return 0;
  }

  /// The units' weights; false where some have none, and the worst quarter of these has been reduced.
  bool fit() {
    const Points points = this->points();
    CellWeights fitted = weights_;
    std::vector<std::pair<std::size_t, Index>> lacking;
    for (Index j = 0; j < hidden_; ++j) {
      Interruption::check();  // all units together may take minutes
      std::size_t lack = 0;
      for (Index gate = 0; gate < gates_ && lack == 0; ++gate) {
        const Index row = gate * hidden_ + j;
        if (unit(j) != Unit::kSilent) {
          lack = fit_gate(points, j, gate, fitted);
          continue;
        }
        fitted.by_input.row(row).setZero(), fitted.by_state.row(row).setZero();
        fitted.input_bias(row) = fitted.state_bias(row) = 0;
      }
      if (lack > 0) lacking.emplace_back(lack, j);
    }
    if (lacking.empty()) {
      weights_ = std::move(fitted);
      return true;
    }
    std::ranges::sort(lacking, std::greater());
    lacking.resize((lacking.size() + 3) / 4);
    for (const auto& [lack, j] : lacking) {
      Unit& own = units_[static_cast<std::size_t>(j)];
      own = reduced(own, kind_);
    }
    return false;
  }

  CellKind kind_;
  Index gates_, hidden_, constants_;
  const Dfa& automaton_;
  CellWeights weights_;
  CellWalk walk_;
  std::vector<Unit> units_;
  std::vector<VectorXd> output_open_;  ///< place ↦ how far o was open there, of an LSTM
};

}  // namespace

std::size_t take_sides(Eigen::VectorXd& weights, const Eigen::MatrixXd& points, const Sides& sides) {
  constexpr int kMaxRounds = 100;
  constexpr double kMargin = 1, kPast = 1.5, kMore = 0.1;
  const Eigen::VectorXd squares = points.colwise().squaredNorm();
  std::size_t lacking = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    lacking = 0;
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const double side = sides[static_cast<std::size_t>(i)];
      if (side == 0) continue;
      const double lack = kMargin - side * points.col(i).dot(weights);
      if (lack <= 0) continue;
      ++lacking;
      if (squares(i) > 0) weights += side * kPast * (lack + kMore) / squares(i) * points.col(i);
    }
    if (lacking == 0) break;
  }
  return lacking;
}

std::string why_no_cells_round(const SequenceModel<float>& model, const Task& task) {
  const CellShape shape = parse_cell_shape(model.name());
  if (shape.cell == "rnn-relu")
    return "a relu saturates on one side alone, so that nothing bounds what its units remember";
  if (shape.layers != 1)
    return "only one layer of cells is rounded: those above read numbers that the one below rounds";
  const Dfa automaton = input_machine(task).automaton;
  const std::uint64_t letters = automaton.letters();
  if (automaton.states() * letters * letters > kMaxSteps)
    return fmt::format(
        "cells are rounded where states · letters² are at most {}, and here are {} states and {} letters", kMaxSteps,
        automaton.states(), letters);
  return {};
}

SaturatedUnits saturate_cells(const SequenceModel<float>& model, const Task& task) {
  constexpr double kSaturating = 256;
  const FloatEnvironment environment;
  const CellShape shape = parse_cell_shape(model.name());
  const TaskAutomaton input = input_machine(task);
  const TrackedAutomaton tracked = tracked_automaton(task, input.automaton);
  const Rounding rounding(shape, cell_weights(shape, model), input, tracked);
  SaturatedUnits result;
  if (rounding.right() < kLeastRight) {
    result.why_not = fmt::format(
        "what is not learned is not rounded: along words of twelve letters the trained model gives {:.1f} % of the "
        "answers, fewer than 99 %; train it further, or on longer words",
        std::floor(1000 * rounding.right()) / 10);
    return result;
  }
  result.kept = rounding.kept();
  result.silenced = shape.hidden - result.kept;
  result.share = rounding.share();
  if (!rounding.tells_answers()) {
    result.why_not =
        "the units' signs, as far as thresholds of signs compute them, do not tell the answers apart; more units may "
        "(hidden=…)";
    return result;
  }
  CellWeights weights = rounding.weights();
  for (MatrixXd* const numbers : {&weights.by_input, &weights.by_state}) *numbers *= kSaturating;
  for (VectorXd* const numbers : {&weights.input_bias, &weights.state_bias}) *numbers *= kSaturating;
  result.model = make_model<float>(model.name(), task, /*seed=*/0);
  std::ranges::copy(model.parameters(), result.model->parameters().begin());
  write_cell_weights(shape, weights, *result.model);
  result.is_free.assign(model.parameters().size(), false);
  std::fill(result.is_free.begin() + static_cast<std::ptrdiff_t>(model.begin_of("head.weight")), result.is_free.end(),
            true);
  return result;
}

}  // namespace krohn
