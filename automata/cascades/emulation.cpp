#include "krohn/automata/cascades/emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/record_set.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

Label shown_by(const LabelLayer& layer, Label state) { return layer.shown.empty() ? state : layer.shown[state]; }

/// The readout node after a layer, or kNoContext when the label or the entry is missing.
Context descend(const LabelMachine& machine, std::size_t k, Context node, Label label) {
  if (node == kNoContext || label == kNoLabel) return kNoContext;
  return machine.readout[k][std::size_t{node} * machine.layers[k].labels + label];
}

std::optional<State> decoded(const LabelMachine& machine, std::span<const Label> tuple) {
  Context node = 0;
  for (std::size_t k = 0; k < machine.layers.size(); ++k)
    node = descend(machine, k, node, shown_by(machine.layers[k], tuple[k]));
  if (node == kNoContext) return std::nullopt;
  return node;
}

std::string letter_text(const Dfa& dfa, Letter letter) {
  return fmt::format("letter \"{}\"", dfa.alphabet().name(letter));
}

std::string state_text(std::optional<State> state) {
  return state.has_value() ? fmt::format("state {}", state.value()) : "no state";
}

/// The states that some labels stand for.
std::vector<bool> decoded_states(const LabelMachine& machine, const Dfa& dfa) {
  std::vector<bool> reached{true};
  for (std::size_t k = 0; k < machine.layers.size(); ++k) {
    const std::vector<Context>& next = machine.readout[k];
    const bool last = k + 1 == machine.layers.size();
    const Label labels = machine.layers[k].labels;
    std::vector<bool> below(last ? dfa.states() : machine.readout[k + 1].size() / machine.layers[k + 1].labels);
    for (std::size_t entry = 0; entry < next.size(); ++entry)
      if (next[entry] != kNoContext && reached[entry / labels]) below[next[entry]] = true;
    reached = std::move(below);
  }
  reached.resize(dfa.states());
  return reached;
}

/// Checks the base of both arguments; the text of the fault, or nothing.
std::optional<std::string> fault_at_start(const LabelMachine& machine, const Dfa& dfa) {
  if (!dfa.has_start()) {
    const std::vector<bool> decoded = decoded_states(machine, dfa);
    const auto missing = std::find(decoded.begin(), decoded.end(), false);
    if (missing == decoded.end()) return std::nullopt;
    return fmt::format("no labels stand for state {}", missing - decoded.begin());
  }
  std::vector<Label> tuple;
  for (const LabelLayer& layer : machine.layers) tuple.push_back(layer.initial);
  const std::optional<State> state = decoded(machine, tuple);
  if (state == dfa.initial()) return std::nullopt;
  return fmt::format("before the first letter the labels stand for {}, the automaton is in state {}", state_text(state),
                     dfa.initial());
}

/// The induction of prove_emulation, one letter at a time and level by level.
class Induction {
 public:
  Induction(const LabelMachine& machine, const Dfa& dfa, std::uint64_t max_triples)
      : machine_(machine), dfa_(dfa), max_triples_(max_triples) {
    mark_live_nodes();
  }

  EmulationResult run() {
    if (auto fault = fault_at_start(machine_, dfa_)) return {false, *fault, 0};
    for (Letter letter = 0; letter < dfa_.letters(); ++letter)
      if (auto fault = fault_on(letter)) return {false, *fault, checked_};
    return {true, "", checked_};
  }

 private:
  struct Triple {
    Context context, before, after;
  };
  static constexpr std::size_t kWords = 3;
  static void insert(const Triple& triple, RecordSet& set) {
    const std::uint32_t record[kWords] = {triple.context, triple.before, triple.after};
    set.insert(record);
  }
  static RecordSet only(const Triple& triple) {
    RecordSet set(kWords);
    insert(triple, set);
    return set;
  }
  static Triple triple_of(RecordSet::Record record) { return {record[0], record[1], record[2]}; }

  /// live_[k][node]: some labels of layers k, k+1, … lead from the node to a state.
  void mark_live_nodes() {
    const std::size_t depth = machine_.layers.size();
    live_.resize(depth + 1);
    live_[depth].assign(dfa_.states(), true);
    for (std::size_t k = depth; k-- > 0;) {
      const Label labels = machine_.layers[k].labels;
      const std::vector<Context>& next = machine_.readout[k];
      live_[k].assign(next.size() / labels, false);
      for (std::size_t entry = 0; entry < next.size(); ++entry)
        if (next[entry] != kNoContext && live_[k + 1][next[entry]]) live_[k][entry / labels] = true;
    }
  }

  std::optional<std::string> fault_on(Letter letter) {
    RecordSet level = only({letter, 0, 0});
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) {
      RecordSet above(kWords);
      for (RecordSet::Index i = 0; i < level.size(); ++i) {
        count_one();
        if (!extend(k, triple_of(level[i]), above))
          return fmt::format("{}: in layer {} the wiring or the readout has no entry for labels that decode",
                             letter_text(dfa_, letter), k + 1);
      }
      level = std::move(above);
    }
    for (RecordSet::Index i = 0; i < level.size(); ++i)
      if (const Triple triple = triple_of(level[i]); triple.after != dfa_.next(triple.before, letter))
        return fmt::format("{}: labels of state {} go to labels of state {}, the automaton goes to {}",
                           letter_text(dfa_, letter), triple.before, triple.after, dfa_.next(triple.before, letter));
    return std::nullopt;
  }

  /// Every state of layer k with which the old labels may still decode; false when the new labels then do not.
  bool extend(std::size_t k, const Triple& triple, RecordSet& above) const {
    const LabelLayer& layer = machine_.layers[k];
    const bool last = k + 1 == machine_.layers.size();
    const std::vector<Label>& move = layer.moves[layer.move_of[triple.context]];
    for (Label state = 0; state < layer.states; ++state) {
      const Label pre = shown_by(layer, state);
      const Context before = descend(machine_, k, triple.before, pre);
      if (before == kNoContext || !live_[k + 1][before]) continue;
      const Context after = descend(machine_, k, triple.after, shown_by(layer, move[state]));
      const Context context = last ? 0 : layer.next[std::size_t{triple.context} * layer.labels + pre];
      if (after == kNoContext || context == kNoContext) return false;
      insert({context, before, after}, above);
    }
    return true;
  }

  void count_one() {
    if (checked_ % 64 == 0) TimeLimit::check();
    if (++checked_ > max_triples_)
      throw LimitError(fmt::format("the proof of emulation met its limit of {}", counted(max_triples_, "triple")));
  }

  const LabelMachine& machine_;
  const Dfa& dfa_;
  std::uint64_t max_triples_;
  std::uint64_t checked_ = 0;
  std::vector<std::vector<bool>> live_;
};

/// One step of all layers; false when the wiring has no entry.
bool step_tuple(const LabelMachine& machine, Letter letter, std::span<const Label> from, std::span<Label> to) {
  Context context = letter;
  for (std::size_t k = 0; k < machine.layers.size(); ++k) {
    const LabelLayer& layer = machine.layers[k];
    if (context == kNoContext) return false;
    to[k] = layer.moves[layer.move_of[context]][from[k]];
    const Label pre = shown_by(layer, from[k]);
    if (k + 1 == machine.layers.size()) break;
    context = pre == kNoLabel ? kNoContext : layer.next[std::size_t{context} * layer.labels + pre];
  }
  return true;
}

}  // namespace

LabelMachine label_machine(const Cascade& cascade) {
  LabelMachine machine;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    LabelLayer& made = machine.layers.emplace_back();
    made.states = made.labels = layer.width;
    made.initial = cascade.initial[k];
    for (const Transformation& action : layer.actions)
      made.moves.emplace_back(action.images().begin(), action.images().end());
    made.move_of = layer.wiring.action_of;
    made.next = layer.wiring.next;
  }
  machine.readout = cascade.readout.next;
  return machine;
}

EmulationResult prove_emulation(const LabelMachine& machine, const Dfa& dfa, std::uint64_t max_triples) {
  return Induction(machine, dfa, max_triples).run();
}

EmulationResult explore_emulation(const LabelMachine& machine, const Dfa& dfa, std::uint64_t max_tuples) {
  if (auto fault = fault_at_start(machine, dfa)) return {false, *fault, 0};
  // An automaton of one state may need no layer at all; a record needs a word.
  std::vector<Label> from(std::max<std::size_t>(machine.layers.size(), 1), 0);
  std::vector<Label> to = from;
  for (std::size_t k = 0; k < machine.layers.size(); ++k) from[k] = machine.layers[k].initial;
  RecordSet reached(from.size());
  reached.insert(from);
  EmulationResult result{true, "", 0};
  for (RecordSet::Index index = 0; index < reached.size(); ++index) {
    TimeLimit::check();
    from.assign(reached[index].begin(), reached[index].end());
    const State before = *decoded(machine, from);
    for (Letter letter = 0; letter < dfa.letters(); ++letter, ++result.checked) {
      const bool wired = step_tuple(machine, letter, from, to);
      const std::optional<State> after = wired ? decoded(machine, to) : std::nullopt;
      if (after != dfa.next(before, letter))
        return {false,
                fmt::format("{}: reachable labels of state {} go to {}, the automaton goes to state {}",
                            letter_text(dfa, letter), before, state_text(after), dfa.next(before, letter)),
                result.checked + 1};
      reached.insert(to);
    }
    if (reached.size() > max_tuples)
      throw LimitError(fmt::format("the search over reachable labels met its limit of {} tuples", max_tuples));
  }
  return result;
}

}  // namespace krohn
