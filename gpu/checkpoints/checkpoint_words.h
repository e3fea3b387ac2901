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
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"

namespace krohn {

/// simulate/checkpoints/checkpoint_letters.h's first_failure, token by token. All numbers are those of
/// CheckpointModel::step, bit for bit. Throws SystemError when there is no device, or it fails.
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
