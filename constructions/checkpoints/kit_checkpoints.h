// constructions/checkpoints/kit_checkpoints.h — models that no language asks for: their answers depend on parts of a
// runtime's memory that other models leave alone.
#pragma once

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

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
