// constructions/checkpoints/export_checkpoint.h — exact weights inside the layers of flash-linear-attention (MATH.md
// §8): a language model whose next-token arg max after a word is the state of the automaton.
#pragma once

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// DeltaNet. One layer where that will do: a letter is the identity or one swap of points of the group's smallest
/// action (constructions/actions/based_action.h): state point i is written twice, e_i + e_{n+i}, so that a swap's key
/// ½(e_i − e_j + e_{n+i} − e_{n+j}) has norm exactly 1 after the library's L2 normalisation, and β = 2·sigmoid(32) is
/// exactly 2. The token that begins a word writes the starting point of each base column, with β = 1. A head reads one
/// row of one column. Automata whose letters keep all states or send all to one ("flip-flops") take another form: one
/// head whose value is the state's one-hot code, overwritten by a reset. Other automata: `cascade_checkpoint`. In all
/// of them every number of the recurrence is exact in fp32 and bf16, whatever the order of evaluation. Throws
/// InputError naming the layer or letter that does not fit and what to take instead.
Checkpoint delta_net_checkpoint(const Dfa& automaton);

/// Gated DeltaProduct without gates. Its SiLU on keys leaves none with negative entries, so point i is written as
/// (e_i, −e_i, e_i, −e_i), and a swap is two reflections with non-negative keys ½(a_i + b_j + c_i + d_j) and
/// ½(a_j + b_i + c_j + d_i). n_h = twice the greatest reflection length of a letter, at least 2. One layer for any
/// group automaton, `cascade_checkpoint` for the rest. Throws LimitError past 256 coordinates of a head's key, which is
/// the most that the library's kernels take, and as `cascade_checkpoint`.
Checkpoint gated_delta_product_checkpoint(const Dfa& automaton);

/// Several layers (Grazzi Thm. 4): the prime cascade of the automaton's holonomy decomposition, whose layers are groups
/// of permutations or resets, written as above; where some letter of it takes several swaps and the family applies one,
/// the cascade of single swaps (automata/cascades/swap_cascade.h). Between two of them stands a layer that only
/// remembers: a convolution of width 2 gives it the label that the layer below had one token ago, which the theorem as
/// printed lacks (MATH.md §3), and its MLP looks the next layer's context up, a hidden unit for each pair of context
/// and label. The MLP of a layer of the cascade looks up the node of the readout. At every norm four coordinates of the
/// hidden vector are active: the context, the node, the label before and after, or constants that hold their place.
/// Where keys are not negative, a swap takes a label to the negative of the other: the look-up takes either sign, and
/// the same MLP forgets it. Exact in fp32 and bf16. Throws InputError naming the first layer of the cascade that the
/// family cannot hold, LimitError for groups with simple factors of more than 60 elements, for keys of more than 256
/// coordinates and for too many weights.
Checkpoint cascade_checkpoint(const Dfa& automaton, CheckpointConfig::Family family);

}  // namespace krohn
