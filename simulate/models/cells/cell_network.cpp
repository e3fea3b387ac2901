#include "krohn/simulate/models/cells/cell_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

Cell row_of(CellKind kind) {
  Cell cell{};
  with_unit(kind, [&](auto unit) {
    using Unit = decltype(unit);
    cell = {kind, Unit::kName, Unit::kGates, Unit::kSums, Unit::kKept};
  });
  return cell;
}

}  // namespace

const std::vector<Cell>& cells() {
  static const std::vector<Cell> all{row_of(CellKind::kTanh), row_of(CellKind::kRelu), row_of(CellKind::kGru),
                                     row_of(CellKind::kLstm)};
  return all;
}

const Cell* find_cell(std::string_view name) {
  const auto found = std::ranges::find(cells(), name, &Cell::name);
  return found == cells().end() ? nullptr : &*found;
}

std::string cell_tensor(const char* what, std::uint32_t layer) { return fmt::format("rnn.{}_l{}", what, layer); }

namespace {

constexpr std::uint64_t kMaxUnits = 4096;
constexpr float kWide = 32;     ///< the factor of the margin: tanh(24) is 1 in every format
constexpr float kFixed = 1000;  ///< σ(±1000) is 1 or 0 in every format

/// The rows of the one product that decides, whatever the cell: on where the sum is positive.
struct Decision {
  std::vector<float> input, state, bias;
};

class Units {
 public:
  /// `on` is the value of a unit that is on; `off` is −on, or 0 for relu.
  Units(const Dfa& automaton, float on, bool is_signed)
      : automaton_(automaton),
        on_(on),
        is_signed_(is_signed),
        pairs_(std::size_t{automaton.states()} * automaton.letters()),
        started_(pairs_) {}

  std::size_t count() const { return pairs_ + 1; }

  /// A sum over units that is 0 or, where one of them is on, `height`; all of it 0 at the start.
  float height() const { return is_signed_ ? 2 * on_ : on_; }
  template <class Chosen>
  void add_sum(float* row, float scale, const Chosen& chosen) const {
    for (std::size_t unit = 0; unit < pairs_; ++unit) {
      if (!chosen(after(unit))) continue;
      row[unit] += scale;
      if (is_signed_) row[started_] += scale;  // a unit that is off takes away what the started one adds
    }
  }
  /// Adds a number that is `height` at the start and 0 afterwards; returns the bias.
  float add_start(float* row, float scale) const {
    row[started_] -= scale * height() / on_;
    return scale * height();
  }

  /// height [letter] + height [state] − 1½ height, times the width.
  Decision decision() const {
    const std::size_t letters = automaton_.letters();
    Decision made{std::vector<float>(count() * letters, 0), std::vector<float>(count() * count(), 0),
                  std::vector<float>(count(), 0)};
    const float scale = is_signed_ ? kWide : 1;
    for (std::size_t unit = 0; unit < pairs_; ++unit) {
      const auto state = static_cast<State>(unit / letters);
      float* const row = made.state.data() + unit * count();
      made.input[unit * letters + unit % letters] = scale * height();
      add_sum(row, scale, [&](State next) { return next == state; });
      made.bias[unit] = -scale * (is_signed_ ? height() + on_ : on_);
      if (state == automaton_.initial()) made.bias[unit] += add_start(row, scale);
    }
    made.bias[started_] = is_signed_ ? kWide : 1;
    return made;
  }

 private:
  State after(std::size_t unit) const {
    return automaton_.next(static_cast<State>(unit / automaton_.letters()),
                           static_cast<Letter>(unit % automaton_.letters()));
  }

  const Dfa& automaton_;
  float on_;
  bool is_signed_;
  std::size_t pairs_, started_;
};

/// How a cell holds its gates, and which of them decides.
struct Gates {
  std::vector<float> fixed;  ///< biases of the gates
  std::size_t deciding = 0;
};

Gates gates_of(const std::string& cell) {
  if (cell == "gru") return {{kFixed, -kFixed, 0}, 2};
  if (cell == "lstm") return {{kFixed, -kFixed, 0, kFixed}, 2};
  return {{0}, 0};
}

/// Rows of all gates, the deciding one's own.
std::vector<float> among_gates(const Gates& gates, const std::vector<float>& rows, bool is_bias) {
  const std::size_t own = rows.size();
  std::vector<float> all(gates.fixed.size() * own, 0);
  for (std::size_t gate = 0; gate < gates.fixed.size(); ++gate)
    for (std::size_t i = 0; i < own; ++i)
      all[gate * own + i] = gate == gates.deciding ? rows[i] : is_bias ? gates.fixed[gate] : 0;
  return all;
}

}  // namespace

SaturatedCell saturated_cell(const Dfa& given, const std::string& cell) {
  const Dfa automaton = minimise(given);
  const std::uint64_t pairs = std::uint64_t{automaton.states()} * automaton.letters();
  if (pairs + 1 > kMaxUnits)
    throw LimitError(fmt::format("{} and {} ask for {}; at most {} are built", counted(automaton.states(), "state"),
                                 counted(automaton.letters(), "letter"), counted(pairs + 1, "unit"), kMaxUnits));
  const float on = cell == "lstm" ? cell_tanh<float>(1) : 1;
  const Units units(automaton, on, cell != "rnn-relu");
  const Decision decision = units.decision();
  const Gates gates = gates_of(cell);
  const std::uint64_t hidden = units.count(), rows = gates.fixed.size() * hidden, letters = automaton.letters();
  SaturatedCell made{{cell, static_cast<std::uint32_t>(hidden), 1, 0, true}, {}};
  const auto add = [&](const std::string& name, const std::vector<float>& numbers, Shape shape) {
    made.tensors.tensors.emplace(name, make_tensor(numbers, std::move(shape)));
  };
  add(cell_tensor("weight_ih", 0), among_gates(gates, decision.input, false), {rows, letters});
  add(cell_tensor("weight_hh", 0), among_gates(gates, decision.state, false), {rows, hidden});
  add(cell_tensor("bias_ih", 0), among_gates(gates, decision.bias, true), {rows});
  add(cell_tensor("bias_hh", 0), std::vector<float>(rows, 0), {rows});
  const std::uint64_t labels = automaton.output_names().size();
  std::vector<float> head(labels * hidden, 0), bias(labels, 0);
  for (std::uint64_t label = 0; label < labels; ++label) {
    float* const row = head.data() + label * hidden;
    units.add_sum(row, 1, [&](State state) { return automaton.output(state) == label; });
    if (automaton.output(automaton.initial()) == label) bias[label] = units.add_start(row, 1);
  }
  add("head.weight", head, {labels, hidden});
  add("head.bias", bias, {labels});
  return made;
}

}  // namespace krohn
