// tests/simulate/checkpoints/random_checkpoint.h — checkpoints with random weights, and proofs of checkpoints.
#pragma once

#include "krohn/automata/families/families.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "tests/testing.h"

namespace krohn::test {

/// Random weights of the config's shapes.
inline Checkpoint random_checkpoint(const CheckpointConfig& config, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.5f);
  Checkpoint checkpoint{.config = config};
  for (const auto& [name, shape] : shapes_of(config)) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    checkpoint.tensors.tensors.emplace(name, make_tensor(values, shape));
  }
  return checkpoint;
}

inline Dfa named(const std::string& name, const std::string& generators = "") {
  LanguageOptions options;
  if (!generators.empty()) options.generators = generators;
  return named_language(name, options);
}

inline Certificate certify(const Checkpoint& checkpoint, Precision precision = Precision::kFp32,
                           std::uint64_t max_pairs = 1'000'000) {
  const CheckpointModel model(checkpoint, precision);
  ReaderLimits limits{.max_pairs = max_pairs};
  return certify_reader(*checkpoint_reader(checkpoint, model), tracked_by(checkpoint), limits);
}

}  // namespace krohn::test
