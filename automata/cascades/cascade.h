// automata/cascades/cascade.h — cascades of permutation-reset layers that emulate an automaton (Krohn–Rhodes; Grazzi
// Thm. 4): from a chain of congruences, of prime groups, of layers that exchange neighbours.
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

// Cascades of prime groups.

struct PrimeCascadeOptions {
  std::uint64_t max_contexts = 5'000'000;  ///< over all layers; LimitError beyond
  /// The most elements of a simple group that is not abelian: 0 asks for solvable groups, 60 allows A_5.
  std::uint64_t largest_simple = 0;
};

/// The same emulation with layers of three kinds only: *resets*, whose actions are the identity and constants; *shifts*
/// of Z_p for a prime p, whose actions are x ↦ x + b (mod p); and simple groups that are not abelian, in their regular
/// action on as many labels as they have elements.
///
/// A layer with the bijections G and constants becomes the coordinates of g ∈ G in a composition series, then a reset
/// layer for the point r that the last constant wrote: its label is r·g. A bijection h moves g to g·h and leaves r; a
/// constant c leaves g and writes r = c·g⁻¹. Throws InputError naming the layer whose group has a larger factor,
/// LimitError past `max_contexts` or a group of more than 100,000 elements.
Cascade prime_cascade(const Cascade& cascade, const PrimeCascadeOptions& options = {});

// Cuts the layers of a cascade into resets and single swaps: what one generalized
// Householder factor per token can do in a layer of DeltaNet.

struct SwapCascadeOptions {
  std::uint64_t max_entries = 50'000'000;  ///< contexts and nodes times labels, over all layers; LimitError beyond
};

/// The same emulation with layers of two kinds only: *resets*, whose actions are the identity and constants, and
/// *swaps*, whose actions are the identity and swaps of two labels (MATH.md §3, "One reflection a token").
///
/// Bijections of more than one swap are put off: binary counters hold the position modulo a power of two, M; registers
/// gather the product of each block of M letters; and while a block is read, its predecessor's product is done, a swap
/// a letter. M is the least power of two such that no product of M bijections takes more than M swaps: at most twice
/// the labels. At the start the last register holds some product, and the labels are those that it takes to the initial
/// ones. A layer with bijections and constants becomes the points of a base of its group, a layer of swaps each,
/// then resets for the point that the last constant wrote, as in prime_cascade. One layer of n labels whose bijections
/// need M > 1 takes 2 log₂ M + 2 layers, of which log₂ M, the counters, are shared by all. Layers that move their
/// labels alike, each knowing the letter alone (the points of a base of a group), share the registers too.
///
/// Throws LimitError past `max_entries`, of which the products of a block, in pairs, may have no more points either,
/// and for groups of more than 100,000 elements that stand beside constants.
Cascade swap_cascade(const Cascade& cascade, const SwapCascadeOptions& options = {});

/// Returns the one of several cascades of one automaton that is cut into the fewest layers, then labels in all; the
/// first of equals. Layers of prime order need small registers, a large group in one layer few layers. Those past
/// `max_entries` count only when all are; then throws the first one's LimitError. InputError when there are none.
Cascade smallest_swap_cascade(std::span<const Cascade* const> cascades, const SwapCascadeOptions& options = {});

}  // namespace krohn
