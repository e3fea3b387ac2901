// simulate/checkpoints/checkpoint_letters.h — a language model on disk as a machine that reads the letters of its
// automaton: what `verify` (simulate/prove/verify.h) asks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// It remembers everything that the model does, −0 as +0, from the token that begins words on. Its answer is the arg
/// max of the logits over the whole vocabulary, a tie being none; it has to be the token of the automaton's state after
/// the token that begins words, if there is one, and after every letter. It is read by its
/// list of operations, whose arithmetic and order are those of simulate/checkpoints/checkpoint_model.h. Throws
/// InputError when the checkpoint has no automaton.
std::unique_ptr<OperationsReader> checkpoint_reader(const Checkpoint& checkpoint, const CheckpointModel& model);
TrackedAutomaton tracked_by(const Checkpoint& checkpoint);
/// The reader held against the automaton, as every verdict about it asks. An answer is named by the output
/// of the state whose token it is; "token 4" when it is no state's. Views the checkpoint.
ReadModel subject_of(const Checkpoint& checkpoint, const CheckpointModel& model);

struct CheckpointSampleOptions {
  std::uint64_t length = 100, words = 1, seed = 1;
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< letters done, letters in all; may throw Interrupted
};

/// Words RandomWord(letters, seed, 0 … words − 1) in chunks of 64 tokens, as the library's kernels read them, the arg
/// max of the logits compared with the automaton's token after every letter. Nothing when all are right. The checkpoint
/// has an automaton with letters.
std::optional<RandomFailure> first_failure_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model,
                                                     const CheckpointSampleOptions& asked);

/// How often it is right on the same words, letter by letter.
struct CheckpointScore {
  std::uint64_t letters = 0, right = 0;
  std::uint64_t right_words = 0;  ///< words that are right throughout
};

/// The checkpoint has an automaton with letters.
CheckpointScore score(const Checkpoint& checkpoint, const CheckpointModel& model, const CheckpointSampleOptions& asked);

// A checkpoint, operation by operation: the functions that
// simulate/checkpoints/checkpoint_model.h states, as certificates write them.

/// The places of a form's numbers in the memory.
struct CheckpointPlaces {
  CheckpointPlaces(const CheckpointConfig& config, CheckpointForm form);

  std::size_t layer;  ///< numbers of a layer before the convolutions: its state, or of kOpen:
  /// The recurrence's results, from 0 on, and what it takes: rows of q, k and v, β, and the logarithms of decays.
  std::size_t query = 0, key = 0, value = 0, beta = 0, decay = 0;
  std::size_t convolution, embedding, logits, size;
};

/// In fp32, with roundings to bf16 where `model`, which is the checkpoint's, has them. Tensors are
/// named as in the file. By letters, the
/// checkpoint has an automaton.
Operations checkpoint_operations(const Checkpoint& checkpoint, const CheckpointModel& model,
                                 CheckpointForm form = CheckpointForm::kLetters);

/// The checkpoint's tensors as its file has them.
TensorFile tensors_in_file(const Checkpoint& checkpoint);

}  // namespace krohn
