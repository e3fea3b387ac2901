// tests/simulate/checkpoints/random_checkpoint.h — checkpoints with random weights.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_tensors.h"
#include "krohn/constructions/files/safetensors.h"

namespace krohn::test {

/// Random weights of the config's shapes.
inline Checkpoint random_checkpoint(CheckpointConfig config, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.5f);
  const std::uint64_t d = config.hidden_size, n = config.householders, h = config.heads, k = config.key_dim,
                      v = config.value_dim, inner = config.intermediate_size, taps = config.convolution_taps;
  Checkpoint checkpoint;
  checkpoint.config = config;
  const auto add = [&](const std::string& name, Shape shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    checkpoint.tensors.tensors.emplace(name, make_tensor(values, std::move(shape)));
  };
  add("model.embeddings.weight", {config.vocabulary, d});
  add("model.norm.weight", {d});
  add("lm_head.weight", {config.vocabulary, d});
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    add(layer + "attn_norm.weight", {d});
    add(layer + "attn.q_proj.weight", {h * k, d});
    add(layer + "attn.k_proj.weight", {n * h * k, d});
    add(layer + "attn.v_proj.weight", {n * h * v, d});
    add(layer + "attn.b_proj.weight", {n * h, d});
    add(layer + "attn.o_norm.weight", {v});
    add(layer + "attn.o_proj.weight", {d, h * v});
    add(layer + "mlp_norm.weight", {d});
    add(layer + "mlp.gate_proj.weight", {inner, d});
    add(layer + "mlp.up_proj.weight", {inner, d});
    add(layer + "mlp.down_proj.weight", {d, inner});
    if (taps == 0) continue;
    add(layer + "attn.q_conv1d.weight", {h * k, 1, taps});
    add(layer + "attn.k_conv1d.weight", {n * h * k, 1, taps});
    add(layer + "attn.v_conv1d.weight", {n * h * v, 1, taps});
  }
  if (traits_of(config.family).decay == Decay::kNone) return checkpoint;
  for (const auto& [name, shape] : shapes_of(config)) {  // the gates'
    checkpoint.tensors.tensors.erase(name);
    add(name, shape);
  }
  return checkpoint;
}

}  // namespace krohn::test
