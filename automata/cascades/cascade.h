// automata/cascades/cascade.h — a cascade of permutation-reset layers that emulates an automaton (Krohn–Rhodes; Grazzi
// Thm. 4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// The state of one layer: 0 … width−1.
using Label = std::uint32_t;
/// The input of a layer's move: the letter together with what the layers before it did. Interned, per layer.
using Context = std::uint32_t;
/// An index into the distinct actions of one layer.
using Action = std::uint32_t;

/// How the input of one layer is made, and what the layer hands on. Before and after the letter, layer k has the *pre*
/// label x and the *post* label y = action(x). Definition 1 of Grazzi needs x where Theorem 4 passes y on; both are
/// determined by (context, x), so the wiring is indexed by the pre label:
///   action_of[c]            the action of this layer in context c
///   next[c · width + x]     the context of the next layer (empty for the last layer; kNoContext where no word leads)
/// The contexts of the first layer are the letters of the alphabet.
struct Wiring {
  std::vector<Action> action_of;
  std::vector<Context> next;
};
inline constexpr Context kNoContext = UINT32_MAX;

/// One permutation-reset layer: every action is a bijection of the labels or a constant (MATH.md §3).
struct CascadeLayer {
  Label width = 0;
  std::vector<Transformation> actions;  ///< distinct, each of degree `width`
  Wiring wiring;
  std::string component;  ///< the group that the bijections generate, when named: "Z_4", "S_3", "trivial"
};

/// Turns the post labels of all layers into a state: a decision diagram, one level per layer. Start at node 0; at level
/// k with label y go to `next[k][node · width_k + y]`; after the last level the node is the state. kNoContext marks
/// label tuples that no word reaches.
struct Readout {
  std::vector<std::vector<Context>> next;
};

/// A cascade: layers, their initial labels, and the way back to the states of the automaton.
struct Cascade {
  Alphabet alphabet;
  std::vector<CascadeLayer> layers;
  std::vector<Label> initial;  ///< one label per layer
  bool has_start = true;       ///< false: every state has labels, those of any may come first (`Dfa::has_start`)
  Readout readout;
  std::string method;  ///< "chain", "holonomy"
};

/// One step, by the tables: labels ↦ labels. Throws Error on kNoContext. O(layers).
void step(const Cascade& cascade, Letter letter, std::span<Label> labels);

/// The state that the labels stand for. O(layers).
State decode(const Cascade& cascade, std::span<const Label> labels);

/// The name of the group that the bijections among `actions` generate, as `recognised_name` gives it: "trivial", "Z_6",
/// "S_3", "D_4", "M_11", "order 96 with composition factors Z_2^5, Z_3"; "permutations of 9000 points" when the order
/// would be expensive to find. `actions` all have one degree.
std::string component_name(std::span<const Transformation> actions);

/// The result of a check of emulation.
struct EmulationResult {
  bool holds = false;
  std::string counterexample;  ///< in words, when it does not hold
  std::uint64_t checked = 0;
};

/// Proves for every label tuple t that the readout decodes, and every letter s, that step(t, s) is decoded too and
/// decode(step(t, s)) = δ(decode(t), s); and that the initial tuple decodes to the initial state, or some tuple to each
/// state where there is no start. By induction over
/// the word every reachable tuple is then decoded, to the right state.
///
/// Trimming keeps this sound. A trimmed table has kNoContext where no word leads; the tuples that the readout does not
/// decode are irrelevant *provided* that no word reaches them, and that is part of what is proved: a decoded tuple must
/// find an entry in the wiring at every layer and must step to a decoded tuple. A table that was trimmed too much
/// therefore fails the check, it cannot hide behind its holes. Triples (context, readout node before, readout node
/// after) suffice because what is above a layer sees of the labels below it nothing else: two tuples that agree in the
/// triple have the same futures in the induction. `checked` counts triples. Throws LimitError past `max_triples`.
/// Shares no code with the decompositions.
EmulationResult check_emulation(const Cascade& cascade, const Dfa& dfa, std::uint64_t max_triples = 50'000'000);

struct ChainOptions {
  /// Stop when all actions that remain are bijections or constants of the point itself (MATH.md §3).
  bool early_stop = true;
  std::uint64_t max_contexts = 5'000'000;  ///< over all layers, at most about 1 GB; LimitError beyond
};

/// The chain decomposition (Zeiger–Ginzburg; MATH.md §3): at most n−1 layers of widths n, n−1, …, 2 for every
/// automaton, which settles the conjecture of Grazzi §4.3. Unreachable states are dropped first. Output is trimmed:
/// unreachable labels and constant layers removed. An automaton with one reachable state has one layer of one label.
/// Time and memory O(contexts · n + readout nodes · letters · n); the contexts of a layer are at most
/// letters · n!/(n−k)! and usually far fewer, since they are interned. Throws LimitError past `max_contexts`.
Cascade chain_decomposition(const Dfa& dfa, const ChainOptions& options = {});

}  // namespace krohn
