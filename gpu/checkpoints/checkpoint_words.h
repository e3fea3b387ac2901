// gpu/checkpoints/checkpoint_words.h — many random words through a language model of flash-linear-attention on a CUDA
// device, beside the automaton that it should track.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/gpu/checkpoints/checkpoint_words.cuh"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"

namespace krohn {

struct CheckpointSampleOptions {
  std::uint64_t length = 100, words = 1, seed = 1;
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< letters done, letters in all; may throw Interrupted
};

/// The first disagreement, of the least letter and then of the least word; letters counted from 1.
struct CheckpointFailure {
  std::uint64_t at = 0, word = 0;
};

/// Words RandomWord(letters, seed, 0 … words − 1) token by token, the arg max of the logits compared with the
/// automaton's token after every letter. All numbers are those of CheckpointModel::step, bit for bit. Nothing when all
/// are right. The checkpoint has an automaton with letters. Throws SystemError when there is no device, or it fails.
std::optional<CheckpointFailure> sample_checkpoint(Place place, const Checkpoint& checkpoint,
                                                   const CheckpointModel& model,
                                                   const CheckpointSampleOptions& options);

/// Words in the making: for sample_checkpoint, and for tests of what they remember.
class CheckpointReader {
 public:
  /// With `stops`, words that have failed are not read on.
  CheckpointReader(Place place, const Checkpoint& checkpoint, const CheckpointModel& model, std::uint64_t seed,
                   bool stops = true);

  /// Words that a place reads at once with some gigabytes of memory.
  std::uint64_t words_at_once() const;
  /// Puts words first … first + words − 1 at their beginning.
  void start(std::uint64_t first, std::uint64_t words);
  /// The next letters of all words.
  void read(std::uint64_t letters);
  std::vector<CheckpointRecord> records() const;
  CheckpointModel::Memory memory(std::uint64_t word) const;

 private:
  PlacedProjection place_matrix(const CheckpointModel::Projection& projection);
  const float* place_numbers(const std::vector<float>& numbers);

  Place place_;
  std::vector<Buffer<float>> numbers_;
  Buffer<std::uint32_t> of_letter_, of_state_, next_;
  Buffer<PlacedCheckpointLayer> layers_;
  Buffer<float> memories_, work_;
  Buffer<std::uint32_t> answers_;
  Buffer<CheckpointRecord> records_;
  CheckpointWords job_;
  std::uint64_t words_ = 0, blocks_ = 1;
};

}  // namespace krohn
