#include "krohn/constructions/checkpoints/kit_checkpoints.h"

#include <algorithm>
#include <array>

#include "krohn/constructions/checkpoints/checkpoint_writer.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr char kMixer[] = "model.layers.0.attn.";

/// Changes the numbers of a tensor.
template <class Change>
void change(Checkpoint& checkpoint, const std::string& name, const Change& change) {
  Tensor& tensor = checkpoint.tensors.tensors.at(kMixer + name);
  std::vector<float> values = TensorReader(checkpoint.tensors).values<float>(kMixer + name, tensor.shape);
  change(values);
  tensor = make_tensor(values, tensor.shape);
}

}  // namespace

Checkpoint late_checkpoint(Checkpoint checkpoint) {
  const CheckpointConfig& config = checkpoint.config;
  if (config.layers != 1 || config.convolution_taps < 2 || !checkpoint.tokens.begin)
    throw InputError("only a model of one layer that has a convolution can answer late");
  const std::size_t taps = config.convolution_taps, width = config.hidden_size;
  for (const char* const name : {"k_conv1d.weight", "v_conv1d.weight"})
    change(checkpoint, name, [&](std::vector<float>& weights) {
      for (std::size_t row = 0; row < weights.size(); row += taps) std::swap(weights[row], weights[row + taps - 1]);
    });
  change(checkpoint, "b_proj.weight", [&](std::vector<float>& weights) {
    const float greatest = *std::ranges::max_element(weights);
    // The inputs are the letters and the token that begins words (export_checkpoint.h).
    for (std::size_t row = 0; row < weights.size(); row += width)
      std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(row), *checkpoint.tokens.begin + 1, greatest);
  });
  return checkpoint;
}

DigitsCheckpoint digits_checkpoint() {
  using Digits = DigitsCheckpoint;
  constexpr float kLarge = 1 << 20, kSmall = 128;  // half of each is written into a row
  constexpr std::uint32_t kInputs = Digits::kFlip + 1;
  CheckpointConfig config = config_of(CheckpointFamily::kOlmoHybrid);
  config.hidden_size = 16;
  config.heads = 2;
  config.key_dim = 16;
  config.intermediate_size = 16;
  config.vocabulary = Digits::kOdd + 1;
  config.convolution_taps = 4;
  config.begin_token = 0;
  CheckpointWriter writer(config, 1);
  constexpr std::array<std::uint32_t, 4> kSummed{0, 1, 2, 3}, kPositive{0, 2, 4, 5}, kNegative{1, 3, 6, 7};
  const auto set_key = [&](std::uint32_t input, std::uint32_t head, std::span<const std::uint32_t, 4> rows) {
    for (const std::uint32_t row : rows) writer.set_key(0, input, 0, head, row);
  };
  std::vector<std::uint32_t> inputs;
  for (std::uint32_t input = 0; input < kInputs; ++input) {
    inputs.push_back(input);
    writer.set_embedding(input, input);
  }
  writer.open_gates(0, inputs);
  writer.empty(0, 0);
  for (std::uint32_t head = 0; head < config.heads; ++head) {
    set_key(0, head, kPositive);
    writer.set_value(0, 0, head, 0, kLarge);
    set_key(1, head, kNegative);
    writer.set_value(0, 1, head, 0, kLarge);
    set_key(2, head, kNegative);  // a reflection takes these rows to their negatives
    writer.reflect(0, 2, 0, head);
    set_key(3, head, kSummed);
    writer.set_value(0, 3, head, 0, kSmall);
    if (head == 1) {  // the other head is always at the other state
      set_key(4, head, kSummed);
      writer.reflect(0, 4, 0, head);
    }
    set_key(Digits::kFlip, head, kSummed);
    writer.reflect(0, Digits::kFlip, 0, head);
    for (const std::uint32_t input : inputs)
      for (const std::uint32_t row : kSummed) writer.set_query(0, input, head, row);
    writer.set_output(0, head, 0, kInputs + head, CheckpointWriter::kActive / writer.open_gate());
  }
  for (const std::uint32_t token : {Digits::kEven, Digits::kOdd}) {
    writer.set_embedding(token, Digits::kFlip);
    writer.set_logit(token, kInputs + (token - Digits::kEven));
  }
  return {writer.finish()};
}

TicksCheckpoint ticks_checkpoint() {
  using Ticks = TicksCheckpoint;
  constexpr float kSum = 256, kLarge = 1 << 21;  // a quarter of it, three times or minus once, in each of four rows
  constexpr std::uint32_t kClock = Ticks::kInputs, kCompared = kClock + 1;  // hidden coordinates
  CheckpointConfig config = config_of(CheckpointFamily::kQwen3Next);
  config.hidden_size = 16;
  config.heads = 1;
  config.key_dim = config.value_dim = 16;
  config.intermediate_size = 16;
  config.vocabulary = Ticks::kFirstState + Ticks::kStates;
  config.convolution_taps = 4;
  config.begin_token = Ticks::kBegin;
  CheckpointWriter writer(config, 1);
  std::vector<std::uint32_t> inputs;
  for (std::uint32_t input = 0; input < Ticks::kInputs; ++input) {
    inputs.push_back(input);
    writer.set_embedding(input, input);
    for (std::uint32_t row = 0; row < config.key_dim; ++row) writer.set_query(0, input, 0, row);
  }
  writer.open_gates(0, inputs);
  const auto overwrite = [&](std::uint32_t input, std::uint32_t column, float value) {
    writer.set_value(0, input, 0, column, value);
    writer.reflect(0, input, 0, 0);
  };
  writer.empty(0, Ticks::kBegin);
  writer.set_key(0, Ticks::kBegin, 0, 0, 1);
  overwrite(Ticks::kBegin, 1, kLarge);
  for (std::uint32_t row = 1; row <= 4; ++row) writer.set_key(0, Ticks::kBegin + 1, 0, 0, row);
  overwrite(Ticks::kBegin + 1, 1, kSum / 2);
  for (const std::uint32_t input : {Ticks::kTick, Ticks::kSet0, Ticks::kSet4}) writer.set_key(0, input, 0, 0, 0);
  overwrite(Ticks::kSet0, 0, kSum);
  overwrite(Ticks::kSet4, 0, kSum / 16);
  for (const std::uint32_t value : {0u, 1u}) writer.set_output(0, 0, value, kClock + value, 4);
  for (std::uint32_t token = 0; token < Ticks::kInputs; ++token) writer.set_logit(token, kCompared, -1);
  float nearest = 1;
  for (std::uint32_t state = 0; state < Ticks::kStates; ++state, nearest /= 2) {
    const std::uint32_t token = Ticks::kFirstState + state;
    writer.set_embedding(token, Ticks::as_input(state));
    writer.set_logit(token, kClock, 2 * nearest);
    writer.set_logit(token, kCompared, -nearest * nearest);
  }
  return {writer.finish()};
}

}  // namespace krohn
