// tests/simulate/checkpoints/random_checkpoint.h — checkpoints with random weights.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_tensors.h"
#include "krohn/constructions/files/safetensors.h"

namespace krohn::test {

/// Random weights of the config's shapes.
inline Checkpoint random_checkpoint(const CheckpointConfig& config, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.5f);
  Checkpoint checkpoint;
  checkpoint.config = config;
  for (const auto& [name, shape] : shapes_of(config)) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    checkpoint.tensors.tensors.emplace(name, make_tensor(values, shape));
  }
  return checkpoint;
}

}  // namespace krohn::test
