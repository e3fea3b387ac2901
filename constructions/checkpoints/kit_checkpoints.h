// constructions/checkpoints/kit_checkpoints.h — models that no language asks for: their answers depend on parts of a
// runtime's memory that other models leave alone.
#pragma once

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// A group's model of one layer (gated_checkpoint.h) that answers `convolution_taps` − 1 tokens late: keys and values
/// come from the oldest of the convolution's taps, so that a convolution state that is lost, or shifted, changes
/// answers. The decay of the token that begins words comes at once, and until its key follows the state is empty. A
/// letter with no key does nothing, so β may be 2 at every token, whichever is due. Throws InputError for other models.
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

}  // namespace krohn
