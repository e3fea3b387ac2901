// simulate/checkpoints/certify_checkpoint.h — proves that a language model tracks an automaton, or shows a word on
// which it does not.
#pragma once

#include <cstdint>
#include <functional>

#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

struct CertifyCheckpointOptions {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::function<void(std::uint64_t)> progress;       ///< letters read so far; may throw Interrupted
};

/// The search of simulate/prove/machine/certify_reader.h for a checkpoint with an automaton: over pairs (automaton
/// state, everything that the model remembers, −0 counted as +0) from the token that begins words. The model's answer
/// is the arg max of its logits over the whole vocabulary, a tie being wrong; it has to be the token of the automaton's
/// state after the token that begins words, if there is one, and after every letter. Proved for words of every length
/// when the search ends, refuted by a shortest word, or proved up to the last completed length when a limit is met.
/// Arithmetic and order are those of simulate/checkpoints/checkpoint_model.h. Throws InputError when the checkpoint has
/// no automaton.
Certificate certify_checkpoint(const Checkpoint& checkpoint, const CheckpointModel& model, Precision precision,
                               const CertifyCheckpointOptions& options);

}  // namespace krohn
