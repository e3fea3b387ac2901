// automata/cascades/emulation.h — the proof that a cascade emulates its automaton, and cascades without what it never
// reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The same cascade without labels that no action reaches from the initial label, without contexts and readout nodes
/// that only such labels lead to, without repeated actions, and without layers that are left with one label (at least
/// one layer stays). Names the components. Reachability is judged layer by layer, so a label may stay that no word
/// reaches; of a cascade without a start all labels stay. Contexts and nodes that do the same are one, as in
/// `merge_contexts`. O(entries of all tables).
Cascade trim(const Cascade& cascade);

/// The same tuples of labels with fewer contexts and nodes of the readout: those that do the same from their layer on
/// become one. A trimmed table's holes count as an entry of their own. O(entries of the tables).
Cascade merge_contexts(Cascade cascade);

inline constexpr Label kNoLabel = UINT32_MAX;

/// One layer of a label machine. It has `states` of its own; each state shows a label, and only labels are seen by the
/// wiring and the readout. In a cascade states and labels are the same thing; in a network the states are the numeric
/// states that were found by evaluation, and a state that does not decode shows kNoLabel.
struct LabelLayer {
  Label states = 0;
  Label initial = 0;                      ///< a state
  Label labels = 0;                       ///< the stride of `next` and of the readout
  std::vector<Label> shown;               ///< state ↦ label or kNoLabel; empty: state x shows label x
  std::vector<std::vector<Label>> moves;  ///< move ↦ (state ↦ state)
  std::vector<std::uint32_t> move_of;     ///< context ↦ move
  std::span<const Context> next;          ///< context · labels + pre label ↦ context of the next layer
};

/// Layers and readout; the wiring and the readout are views that must outlive the machine.
struct LabelMachine {
  std::vector<LabelLayer> layers;
  std::span<const std::vector<Context>> readout;  ///< per layer: node · labels + label ↦ node, as in Readout
};

/// The state that the readout gives of a tuple of states, one of each layer; nothing where a label or an entry is
/// missing.
std::optional<State> decoded(const LabelMachine& machine, std::span<const Label> tuple);

/// One step of all layers; false when the wiring has no entry.
bool step_tuple(const LabelMachine& machine, Letter letter, std::span<const Label> from, std::span<Label> to);

/// The machine of a cascade: states are labels, moves are actions. The cascade must outlive it.
LabelMachine label_machine(const Cascade& cascade);

/// Emulation by induction: whatever state tuple t the readout decodes, reached or not, and whatever letter s is read,
/// decode(step(t, s)) = δ(decode(t), s); and the initial tuple decodes to the initial state, or some tuple to each
/// state where the automaton has no start. Walks, from every letter, the triples (context, readout node before, readout
/// node after), each once: O(letters · triples · states). `holds` false says only that the induction broke, perhaps on
/// a tuple that no word reaches: see explore_emulation. Throws LimitError past `max_triples` examined.
EmulationResult prove_emulation(const LabelMachine& machine, const Dfa& dfa, std::uint64_t max_triples = 50'000'000);

/// The same claim for the tuples that words reach, by breadth-first search over them; exact in both directions, and as
/// expensive as the number of reachable tuples. `checked` counts (tuple, letter) pairs. Throws LimitError past
/// `max_tuples`.
EmulationResult explore_emulation(const LabelMachine& machine, const Dfa& dfa, std::uint64_t max_tuples = 20'000'000);

}  // namespace krohn
