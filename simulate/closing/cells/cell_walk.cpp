#include "krohn/simulate/closing/cells/cell_walk.h"

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "krohn/groups/random.h"
#include "krohn/simulate/run/tracked_words.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows × columns floats of the model's parameters.
template <class Model>
auto tensor(Model& model, const std::string& name, Index rows, Index columns) {
  auto* const first = model.parameters().data() + model.begin_of(name);
  if constexpr (std::is_const_v<Model>)
    return Eigen::Map<const Rows>(first, rows, columns);
  else
    return Eigen::Map<Rows>(first, rows, columns);
}

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
                                     : MatrixXd(tensor(model, "embedding.weight", letters, inputs).cast<double>());
  weights.by_input = tensor(model, cell_tensor("weight_ih", 0), rows, inputs).cast<double>();
  weights.by_state = tensor(model, cell_tensor("weight_hh", 0), rows, hidden).cast<double>();
  weights.input_bias = weights.state_bias = VectorXd::Zero(rows);
  if (shape.biased) {
    weights.input_bias = tensor(model, cell_tensor("bias_ih", 0), rows, 1).cast<double>();
    weights.state_bias = tensor(model, cell_tensor("bias_hh", 0), rows, 1).cast<double>();
  }
  const auto labels = static_cast<Index>(model.labels());
  weights.head = tensor(model, "head.weight", labels, hidden).cast<double>();
  weights.head_bias = tensor(model, "head.bias", labels, 1).cast<double>();
  return weights;
}

void write_cell_weights(const CellShape& shape, const CellWeights& weights, SequenceModel<float>& model) {
  const auto write = [&](const char* what, const MatrixXd& numbers) {
    tensor(model, cell_tensor(what, 0), numbers.rows(), numbers.cols()) = numbers.cast<float>();
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

}  // namespace krohn
