// constructions/checkpoints/gated_checkpoint.h — exact weights inside layers that forget: gated DeltaNet, KDA and GDN-2
// of flash-linear-attention, Olmo Hybrid and Qwen3-Next of transformers (MATH.md §8).
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// One layer where one step a letter will do (letter_steps.h): point i is ±(e_i + e_{n+i}), a swap is one reflection
/// with the non-negative key ½(e_i + e_j + e_{n+i} + e_{n+j}), which changes signs as it goes; the MLP takes every
/// negative reading to its positive. A letter that takes all states to one, and the token that begins words, empty the
/// state by a decay of 0 and write anew, so that a word may begin anywhere in a text. GDN-2 also merges two points.
/// Automata whose letters keep all states or take them all to one have one head, whose value is the state's one-hot
/// code. Others: `cascade_checkpoint` (export_checkpoint.h).
///
/// Every number is exact in fp32 and bf16 in whatever order sums are taken: at every norm a power of 4 of coordinates
/// are active, all equal, gates are 0 or 1 or a power of two. The token of a state, when it is read, is a letter that
/// leads on, so that a model that reads its own answers walks through the states. Throws as `cascade_checkpoint`.
Checkpoint gated_checkpoint(const Dfa& automaton, CheckpointFamily family);

}  // namespace krohn
