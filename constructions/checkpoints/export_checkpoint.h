// constructions/checkpoints/export_checkpoint.h — exact weights inside the layers of flash-linear-attention (MATH.md
// §8): a language model whose next-token arg max after a word is the state of the automaton.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// For every state a letter, such that going on by them from the initial state meets many states before any of them
/// again: to a state not met yet where there is one, and of these to the one with the fewest such successors
/// (Warnsdorff). A heuristic. O(states · letters²).
std::vector<Letter> state_walk(const Dfa& automaton);

/// True if every letter keeps all states or takes them all to one.
bool is_flip_flop(const TrackedStates& tracked);

/// For a map of points: nothing moves; two points change places; `first` goes to `second`, which stays; or all go to
/// `second`.
struct PointStep {
  enum class Kind : std::uint8_t { kKeep, kSwap, kMerge, kReset };
  Kind kind = Kind::kKeep;
  Point first = 0, second = 0;
};

/// None when the map is nothing of the kind. A map to one of two points is a reset.
std::optional<PointStep> step_of(const Transformation& map);

/// A way to follow the states of an automaton by points: base point i of state label l is in column `column_of[i]` at
/// `images[l][i]`, and the images tell the labels apart.
struct PointSteps {
  Point points = 0;
  std::uint32_t columns = 1;
  std::vector<std::uint32_t> column_of;
  std::vector<std::vector<Point>> images;
  std::vector<PointStep> steps;                ///< per action of the letters
  Point first_point = 0, first_component = 0;  ///< base point 0 stays among so many points, from this one on
};

/// Points of the group's smallest action where every letter swaps two of them at most; else, the states themselves as
/// points of one column. None when some letter is no step, or a merge while `can_merge` is not set.
std::optional<PointSteps> point_steps(const Dfa& automaton, const TrackedStates& tracked, bool can_merge);

/// DeltaNet. One layer where that will do: a letter is the identity or one swap of points of the group's smallest
/// action (constructions/build/based_action.h): state point i is written twice, e_i + e_{n+i}, so that a swap's key
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
/// the cascade of single swaps (automata/cascades/cascade.h). Between two of them stands a layer that only
/// remembers: a convolution of width 2 gives it the label that the layer below had one token ago, which the theorem as
/// printed lacks (MATH.md §3), and its MLP looks the next layer's context up, a hidden unit for each pair of context
/// and label. The MLP of a layer of the cascade looks up the node of the readout. At every norm four coordinates of the
/// hidden vector are active: the context, the node, the label before and after, or constants that hold their place.
/// Where keys are not negative, a swap takes a label to the negative of the other: the look-up takes either sign, and
/// the same MLP forgets it. Exact in fp32 and bf16. Throws InputError naming the first layer of the cascade that the
/// family cannot hold, LimitError for groups with simple factors of more than 60 elements, for keys of more than 256
/// coordinates and for too many weights.
Checkpoint cascade_checkpoint(const Dfa& automaton, CheckpointConfig::Family family);

// Exact weights inside layers that forget: gated DeltaNet, KDA and GDN-2
// of flash-linear-attention, Olmo Hybrid and Qwen3-Next of transformers (MATH.md §8).

/// One layer where one step a letter will do: point i is ±(e_i + e_{n+i}), a swap is one
/// reflection with the non-negative key ½(e_i + e_j + e_{n+i} + e_{n+j}), which changes signs as it goes; the MLP takes
/// every negative reading to its positive. A letter that takes all states to one, and the token that begins words,
/// empty the state by a decay of 0 and write anew, so that a word may begin anywhere in a text. GDN-2 also merges two
/// points. Automata whose letters keep all states or take them all to one have one head, whose value is the state's
/// one-hot code. Others: `cascade_checkpoint`.
///
/// Every number is exact in fp32 and bf16 in whatever order sums are taken: at every norm a power of 4 of coordinates
/// are active, all equal, gates are 0 or 1 or a power of two. The token of a state, when it is read, is a letter that
/// leads on, so that a model that reads its own answers walks through the states. Throws as `cascade_checkpoint`.
Checkpoint gated_checkpoint(const Dfa& automaton, CheckpointFamily family);

// Models that no language asks for: their answers depend on parts of a runtime's memory that other models leave alone.

/// A model of one layer (export_checkpoint.h), of a group or of resets, that answers `convolution_taps` − 1 tokens
/// late: keys and values come from the oldest of the convolution's taps, so that a convolution state that is lost, or
/// shifted, changes answers. The decay of the token that begins words comes at once, and until its key follows the
/// state is empty. A letter with no key does nothing, so β may be as large as it gets at every token, whichever is due.
/// Throws InputError for other models.
Checkpoint late_checkpoint(Checkpoint checkpoint);

/// Parity in Olmo Hybrid's layer, whose state needs more digits than bf16 or fp16 have. Rows 0 to 3 hold A + 64, −A +
/// 64, A + 64, −A + 64 with A = 2^19; the letter that flips subtracts 128 from each, or adds it, and their sum, ±256,
/// is the answer. No sum of fewer than three rows tells the two states apart once the 64 are rounded away. All products
/// and sums are exact in fp32 in any order, with activations of bf16 too; fp16 has no number as large as A.
struct DigitsCheckpoint {
  static constexpr std::uint32_t kBeginTokens = 5, kKeep = 5, kFlip = 6, kEven = 7, kOdd = 8;
  Checkpoint checkpoint;  ///< without an automaton: five tokens, 0 to 4, begin a word
};
DigitsCheckpoint digits_checkpoint();

/// A clock in Qwen3-Next's layer: how much time there was since it was set, kStates − 1 standing for more. Row 0 is
/// set to a number that other rows keep, and is less with every tick; the answer is the first state whose share of that
/// number row 0 exceeds. Tokens 4 and 5 begin a word, in the last state.
struct ClockCheckpoint {
  static constexpr std::uint32_t kTick = 0, kWait = 1, kSet0 = 2, kFourth = 3, kInputs = 6;
  static constexpr std::uint32_t kBegin = 4, kStates = 8, kFirstState = kInputs;
  Checkpoint checkpoint;  ///< without an automaton
  /// The step of a state's token: it ticks on, and sets the clock in the last state.
  static constexpr std::uint32_t as_input(std::uint32_t state) { return state + 1 < kStates ? kTick : kSet0; }
};

/// A tick writes 0 with β = ½, which halves row 0, so that an update made twice counts twice, though no eigenvalue is
/// negative. Rows 1 to 4 hold 3A + 64 and −A + 64, three times, with A = 2^19; their sum, 256, is what row 0 is
/// compared with, so that a state of fewer digits than 13 is wrong at once. What a chunk's sums round away is far less
/// than the step between two states. The fourth letter sets the clock at 4.
ClockCheckpoint ticks_checkpoint();

/// A tick writes 0 with β = sigmoid(½) = 0.622459…, which bf16 rounds to 0.62109375: row 0 is then multiplied by
/// 0.378906 and not by 0.377541, and the bounds are halfway between. Right only where β has the digits of fp32. The
/// fourth letter sets the clock at 4.
ClockCheckpoint shares_checkpoint();

/// A tick halves the whole state by its decay, and writes the other number anew with β = sigmoid(4) = 0.982. The fourth
/// letter does the same with a decay of e^−softplus(4) = 0.018, six ticks: in a chunk of 64 such tokens the product of
/// the decays is far below the least number of fp32, and its inverse above the greatest.
ClockCheckpoint fades_checkpoint();

}  // namespace krohn
