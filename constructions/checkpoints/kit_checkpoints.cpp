#include "krohn/constructions/checkpoints/export_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>

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

namespace {

using Clock = ClockCheckpoint;
constexpr float kFull = 256;

/// A clock without letters: its beginning empties the state, and its answers compare row 0 with other rows.
class ClockWriter : public CheckpointWriter {
 public:
  ClockWriter() : CheckpointWriter(shape(), 1) {
    std::vector<std::uint32_t> inputs;
    for (std::uint32_t input = 0; input < Clock::kInputs; ++input) {
      inputs.push_back(input);
      set_embedding(input, input);
      for (std::uint32_t row = 0; row < config().key_dim; ++row) set_query(0, input, 0, row);
    }
    open_gates(0, inputs);
    empty(0, Clock::kBegin);
  }

  /// With this input, column `column` of these rows becomes `value`, of which each row has its share: 4^j rows.
  void overwrite(std::uint32_t input, std::span<const std::uint32_t> rows, std::uint32_t column, float value,
                 float beta = kCertain) {
    for (const std::uint32_t row : rows) set_key(0, input, 0, 0, row);
    set_value(0, input, 0, column, value);
    set_beta(0, input, 0, 0, beta);
  }

  /// State n is answered where row 0 is below `bounds`[n − 1] of the others and above `bounds`[n]: its logit is
  /// 2^(1−n)·(row 0) minus as much of the others as makes neighbours equal at the bound between them.
  ClockCheckpoint finish_with(std::span<const double, Clock::kStates - 1> bounds) {
    constexpr std::uint32_t kTime = Clock::kInputs, kCompared = kTime + 1;  // hidden coordinates
    constexpr float kScale = 4096;  // the closest logits are told apart by their logarithms, too
    for (const std::uint32_t column : {0u, 1u}) set_output(0, 0, column, kTime + column, 4);
    for (std::uint32_t token = 0; token < Clock::kInputs; ++token) set_logit(token, kCompared, -kScale);
    double slope = std::ldexp(2.0, 1 - static_cast<int>(Clock::kStates)), offset = slope * slope / 4;
    for (std::uint32_t state = Clock::kStates; state-- > 0; slope *= 2) {
      if (state + 1 < Clock::kStates) offset += slope / 2 * bounds[state];
      const std::uint32_t token = Clock::kFirstState + state;
      set_embedding(token, Clock::as_input(state));
      set_logit(token, kTime, kScale * static_cast<float>(slope));
      set_logit(token, kCompared, -kScale * static_cast<float>(offset));
    }
    return {finish()};
  }

  static constexpr float kCertain = 32;  ///< its sigmoid is 1

 private:
  static CheckpointConfig shape() {
    CheckpointConfig config = config_of(CheckpointFamily::kQwen3Next);
    config.hidden_size = 16;
    config.heads = 1;
    config.key_dim = config.value_dim = 16;
    config.intermediate_size = 16;
    config.vocabulary = Clock::kFirstState + Clock::kStates;
    config.convolution_taps = 4;
    config.begin_token = Clock::kBegin;
    return config;
  }
};

constexpr std::array<std::uint32_t, 1> kTimeRow{0}, kOtherRow{1};

/// Halfway between 2^−n and 2^−n−1.
std::array<double, Clock::kStates - 1> halving_bounds() {
  std::array<double, Clock::kStates - 1> bounds{};
  for (std::uint32_t state = 0; state < bounds.size(); ++state)
    bounds[state] = std::ldexp(0.75, -static_cast<int>(state));
  return bounds;
}

}  // namespace

ClockCheckpoint ticks_checkpoint() {
  constexpr float kLarge = 1 << 21;  // a quarter of it, three times or minus once, in each of four rows
  constexpr std::array<std::uint32_t, 4> kSummed{1, 2, 3, 4};
  ClockWriter writer;
  writer.overwrite(Clock::kBegin, kOtherRow, 1, kLarge);
  writer.overwrite(Clock::kBegin + 1, kSummed, 1, kFull / 2);
  writer.overwrite(Clock::kTick, kTimeRow, 0, 0, 0);
  writer.overwrite(Clock::kSet0, kTimeRow, 0, kFull);
  writer.overwrite(Clock::kFourth, kTimeRow, 0, kFull / 16);
  return writer.finish_with(halving_bounds());
}

ClockCheckpoint shares_checkpoint() {
  constexpr double kRounded = 0.62109375;
  constexpr float kLogit = 0.5F, kSetTo = 1 << 14;  // SiLU takes a 50th of it to itself
  const double beta = 1 / (1 + std::exp(-double{kLogit}));
  ClockWriter writer;
  writer.overwrite(Clock::kBegin + 1, kOtherRow, 1, kSetTo);
  writer.overwrite(Clock::kTick, kTimeRow, 0, 0, kLogit);
  writer.overwrite(Clock::kSet0, kTimeRow, 0, kSetTo);
  writer.overwrite(Clock::kFourth, kTimeRow, 0, static_cast<float>(kSetTo * std::pow(1 - beta, 4)));
  std::array<double, Clock::kStates - 1> bounds{};
  for (std::uint32_t state = 0; state < bounds.size(); ++state)
    bounds[state] = (std::pow(1 - beta, state + 1) + std::pow(1 - kRounded, state + 1)) / 2;
  return writer.finish_with(bounds);
}

ClockCheckpoint fades_checkpoint() {
  constexpr float kAlmostCertain = 4;
  ClockWriter writer;
  for (const std::uint32_t input : {Clock::kBegin + 1, Clock::kTick, Clock::kFourth})
    writer.overwrite(input, kOtherRow, 1, kFull, kAlmostCertain);
  writer.overwrite(Clock::kSet0, kTimeRow, 0, kFull, kAlmostCertain);
  writer.set_decay(0, Clock::kTick, 0);
  writer.set_decay(0, Clock::kFourth, 4);
  return writer.finish_with(halving_bounds());
}

}  // namespace krohn
