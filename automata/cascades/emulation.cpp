#include "krohn/automata/cascades/emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

/// Walks the layers from the first, carrying which contexts and readout nodes are still in use, by their old numbers.
class Trimmer {
 public:
  explicit Trimmer(const Cascade& cascade) : old_(cascade) {
    for (Letter letter = 0; letter < cascade.alphabet.size(); ++letter) contexts_.push_back(letter);
    nodes_.push_back(0);
  }

  Cascade run() {
    result_.alphabet = old_.alphabet;
    result_.method = old_.method;
    result_.has_start = old_.has_start;
    for (std::size_t k = 0; k < old_.layers.size(); ++k) {
      find_labels(k);
      if (labels_.size() == 1) {
        skip(k);
      } else {
        keep(k);
      }
    }
    if (result_.layers.empty()) keep_single_label();
    return std::move(result_);
  }

 private:
  /// The closure of the initial label under the actions of the contexts in use; in increasing order.
  void find_labels(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    std::vector<bool> used_action(layer.actions.size(), false);
    for (const Context c : contexts_)
      if (c != kNoContext) used_action[layer.wiring.action_of[c]] = true;
    std::vector<bool> reached(layer.width, !old_.has_start);
    std::vector<Label> queue{old_.initial[k]};
    if (!old_.has_start) {
      queue.resize(layer.width);
      std::iota(queue.begin(), queue.end(), Label{0});
    }
    reached[queue.front()] = true;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (Action a = 0; a < layer.actions.size(); ++a) {
        const Label to = layer.actions[a][queue[i]];
        if (!used_action[a] || reached[to]) continue;
        reached[to] = true;
        queue.push_back(to);
      }
    std::sort(queue.begin(), queue.end());
    labels_ = std::move(queue);
    new_label_.assign(layer.width, 0);
    for (Label label = 0; label < labels_.size(); ++label) new_label_[labels_[label]] = label;
  }

  static Context follow(const std::vector<Context>& next, Context from, Label width, Label label) {
    return next.empty() || from == kNoContext ? kNoContext : next[std::size_t{from} * width + label];
  }

  void skip(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    for (Context& c : contexts_) c = follow(layer.wiring.next, c, layer.width, labels_.front());
    for (Context& node : nodes_) node = follow(old_.readout.next[k], node, layer.width, labels_.front());
    relabel_last_level(k);
  }

  void keep(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    CascadeLayer kept;
    kept.width = static_cast<Label>(labels_.size());
    std::map<Transformation, Action> interned;
    for (const Context c : contexts_) {
      const auto [entry, fresh] = interned.try_emplace(restricted(layer, c), static_cast<Action>(interned.size()));
      if (fresh) kept.actions.push_back(entry->first);
      kept.wiring.action_of.push_back(entry->second);
    }
    kept.component = component_name(kept.actions);
    if (!layer.wiring.next.empty()) kept.wiring.next = advance(layer.wiring.next, layer.width, contexts_);
    result_.initial.push_back(new_label_[old_.initial[k]]);
    result_.layers.push_back(std::move(kept));
    result_.readout.next.push_back(advance(old_.readout.next[k], layer.width, nodes_));
    relabel_last_level(k);
  }

  Transformation restricted(const CascadeLayer& layer, Context c) const {
    if (c == kNoContext) return Transformation::identity(static_cast<Point>(labels_.size()));
    const Transformation& action = layer.actions[layer.wiring.action_of[c]];
    std::vector<Point> images;
    for (const Label label : labels_) images.push_back(new_label_[action[label]]);
    return Transformation::from_images(std::move(images));
  }

  /// The table `next` for the entries and labels in use, renumbered by first appearance; `in_use` moves on to what it
  /// leads to.
  std::vector<Context> advance(const std::vector<Context>& next, Label width, std::vector<Context>& in_use) const {
    std::unordered_map<Context, Context> number;
    std::vector<Context> table, following;
    for (const Context from : in_use)
      for (const Label label : labels_) {
        const Context to = follow(next, from, width, label);
        if (to == kNoContext) {
          table.push_back(kNoContext);
          continue;
        }
        const auto [entry, fresh] = number.try_emplace(to, static_cast<Context>(following.size()));
        if (fresh) following.push_back(to);
        table.push_back(entry->second);
      }
    in_use = std::move(following);
    return table;
  }

  /// After the last old layer the readout's nodes are states, whose numbers must stay, and no layer reads contexts.
  void relabel_last_level(std::size_t k) {
    if (k + 1 != old_.layers.size() || result_.layers.empty()) return;
    for (Context& node : result_.readout.next.back())
      if (node != kNoContext) node = nodes_[node];
    result_.layers.back().wiring.next.clear();
  }

  /// Every layer was constant: one layer of one label says which state it is.
  void keep_single_label() {
    CascadeLayer layer;
    layer.width = 1;
    layer.actions.push_back(Transformation::identity(1));
    layer.wiring.action_of.assign(old_.alphabet.size(), 0);
    layer.component = "trivial";
    result_.layers.push_back(std::move(layer));
    result_.initial.push_back(0);
    result_.readout.next.push_back({nodes_.front()});
  }

  const Cascade& old_;
  Cascade result_;
  std::vector<Context> contexts_, nodes_;
  std::vector<Label> labels_, new_label_;
};

/// Rows of a table, each with a number before it, and which of them are alike.
struct Alike {
  std::vector<std::uint32_t> class_of;  ///< row ↦ class, in the order of first appearance
  std::vector<std::size_t> first;       ///< class ↦ its first row
};

Alike alike_rows(std::span<const std::uint32_t> heads, std::span<const Context> table, std::size_t rows) {
  const std::size_t width = rows == 0 ? 0 : table.size() / rows;  // without letters there are no contexts
  Alike alike;
  RecordSet classes(width + 1);
  std::vector<std::uint32_t> record(width + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    record[0] = heads.empty() ? 0 : heads[row];
    std::ranges::copy(table.subspan(row * width, width), record.begin() + 1);
    const RecordSet::Insertion inserted = classes.insert(record);
    if (inserted.fresh) alike.first.push_back(row);
    alike.class_of.push_back(inserted.index);
  }
  return alike;
}

void keep_first_rows(const Alike& alike, std::size_t width, std::vector<Context>& table) {
  for (std::size_t kept = 0; kept < alike.first.size(); ++kept)
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(alike.first[kept] * width), width,
                table.begin() + static_cast<std::ptrdiff_t>(kept * width));
  table.resize(alike.first.size() * width);
}

void renumber(const Alike& alike, std::vector<Context>& table) {
  for (Context& to : table)
    if (to != kNoContext) to = alike.class_of[to];
}

}  // namespace

Cascade merge_contexts(Cascade cascade) {
  for (std::size_t k = cascade.layers.size(); k-- > 1;) {
    CascadeLayer& layer = cascade.layers[k];
    Wiring& wiring = layer.wiring;
    const Alike contexts = alike_rows(wiring.action_of, wiring.next, wiring.action_of.size());
    keep_first_rows(contexts, 1, wiring.action_of);
    if (!wiring.next.empty()) keep_first_rows(contexts, layer.width, wiring.next);
    renumber(contexts, cascade.layers[k - 1].wiring.next);
    std::vector<Context>& readout = cascade.readout.next[k];
    const Alike nodes = alike_rows({}, readout, readout.size() / layer.width);
    keep_first_rows(nodes, layer.width, readout);
    renumber(nodes, cascade.readout.next[k - 1]);
  }
  return cascade;
}

Cascade trim(const Cascade& cascade) { return merge_contexts(Trimmer(cascade).run()); }

namespace {

Label shown_by(const LabelLayer& layer, Label state) { return layer.shown.empty() ? state : layer.shown[state]; }

/// The readout node after a layer, or kNoContext when the label or the entry is missing.
Context descend(const LabelMachine& machine, std::size_t k, Context node, Label label) {
  if (node == kNoContext || label == kNoLabel) return kNoContext;
  return machine.readout[k][std::size_t{node} * machine.layers[k].labels + label];
}

}  // namespace

std::optional<State> decoded(const LabelMachine& machine, std::span<const Label> tuple) {
  Context node = 0;
  for (std::size_t k = 0; k < machine.layers.size(); ++k)
    node = descend(machine, k, node, shown_by(machine.layers[k], tuple[k]));
  if (node == kNoContext) return std::nullopt;
  return node;
}

namespace {

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

}  // namespace

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

// The steps of a cascade.

void step(const Cascade& cascade, Letter letter, std::span<Label> labels) {
  Context context = letter;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    if (context == kNoContext)
      throw Error(fmt::format("layer {} of the cascade has no context for labels that no word reaches", k + 1));
    const Label pre = labels[k];
    labels[k] = layer.actions[layer.wiring.action_of[context]][pre];
    if (!layer.wiring.next.empty()) context = layer.wiring.next[std::size_t{context} * layer.width + pre];
  }
}

State decode(const Cascade& cascade, std::span<const Label> labels) {
  Context node = 0;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    node = cascade.readout.next[k][std::size_t{node} * cascade.layers[k].width + labels[k]];
    if (node == kNoContext)
      throw Error(fmt::format("the readout of the cascade has no entry for the labels up to layer {}", k + 1));
  }
  return node;
}

EmulationResult check_emulation(const Cascade& cascade, const Dfa& dfa, std::uint64_t max_triples) {
  return prove_emulation(label_machine(cascade), dfa, max_triples);
}

}  // namespace krohn
