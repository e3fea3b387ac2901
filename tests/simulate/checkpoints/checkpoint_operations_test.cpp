// The operations that certificates list of a checkpoint are the checkpoint, number for number.
#include "krohn/simulate/checkpoints/checkpoint_operations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/simulate/check/recheck_operations.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "tests/simulate/checkpoints/random_checkpoint.h"

using namespace krohn;
using krohn::test::random_checkpoint;

namespace {

/// A Z_3 over tokens 0, 1, 2, whose states have those tokens too.
void give_automaton(Checkpoint& checkpoint, bool has_begin) {
  checkpoint.automaton = named_language("Z3", {});
  checkpoint.tokens = {{0, 1, 2}, {0, 1, 2}, {}, {}};
  checkpoint.tokens.of_letter.resize(checkpoint.automaton->letters());
  if (has_begin) checkpoint.tokens.begin = 3;
}

/// So many taps of every convolution, the first ones, become zeros, as far as one is left.
void forget_first_taps(Checkpoint& checkpoint, std::size_t count) {
  const std::size_t taps = checkpoint.config.convolution_taps;
  for (auto& [name, tensor] : checkpoint.tensors.tensors) {
    if (name.find("conv1d") == std::string::npos) continue;
    const std::vector<double> stored = floating_numbers(tensor).value();
    std::vector<float> numbers(stored.begin(), stored.end());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (i % taps < std::min(count, taps - 1)) numbers[i] = 0;
    tensor = make_tensor(numbers, tensor.shape);
  }
}

}  // namespace

TEST_CASE("the operations of a checkpoint give its memory and its answers, bit for bit") {
  using Family = CheckpointConfig::Family;
  const auto none = OutputGate::kNone;
  CheckpointConfig plain{Family::kDeltaNet, 8, 1, 2, 4, 3, 1, 6, 5, 0, false, false, none, 1e-6, 1e-3, 0,
                         "float32",         0, {}};
  CheckpointConfig convolved{Family::kDeltaNet, 6, 2, 1, 3, 2, 1, 5, 5, 4, true, true, none, 1e-5, 1e-6, 0,
                             "float32",         0, {}};
  CheckpointConfig product{
      Family::kGatedDeltaProduct, 8, 2, 2, 2, 2, 3, 4, 5, 2, true, true, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig one_tap{
      Family::kGatedDeltaProduct, 4, 1, 2, 2, 1, 2, 4, 5, 1, true, false, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  const auto silu = OutputGate::kSilu, logistic = OutputGate::kSigmoid;
  CheckpointConfig gated{
      Family::kGatedDeltaNet, 6, 2, 2, 3, 2, 1, 4, 5, 4, true, true, silu, 1e-6, 1e-5, 0, "float32", 0, {}};
  CheckpointConfig ungated{
      Family::kGatedDeltaNet, 4, 1, 2, 2, 3, 1, 4, 5, 0, false, false, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig channels{Family::kKda, 6,    2,        2,    3,    2, 1,         4, 5, 2,
                            true,         true, logistic, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig both{Family::kGdn2, 6,     2,        2,    3,    2, 1,         4, 5, 4,
                        true,          false, logistic, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig olmo{Family::kOlmoHybrid, 6, 2,     2, 3, 2, 1, 4, 5, 4, true, true, silu, 1e-6, 1e-5, 0,
                        "float32",           4, {1, 2}};
  CheckpointConfig qwen{Family::kQwen3Next, 6, 2,     2, 3, 2, 1, 4, 5, 4, false, true, silu, 1e-6, 1e-5, 0,
                        "float32",          3, {0, 2}};
  std::uint64_t seed = 20;
  for (const CheckpointConfig& config :
       {plain, convolved, product, one_tap, gated, ungated, channels, both, olmo, qwen})
    for (const Precision precision : {Precision::kFp32, Precision::kBf16})
      for (const bool has_begin : {false, true}) {
        CAPTURE(seed);
        CAPTURE(to_string(precision));
        Checkpoint checkpoint = random_checkpoint(config, ++seed);
        if (seed % 3 == 0) forget_first_taps(checkpoint, seed % 2 + 1);
        checkpoint.config.fused_norm = seed % 2 == 0;
        give_automaton(checkpoint, has_begin);
        const CheckpointModel model(checkpoint, precision);
        const auto reader = checkpoint_reader(checkpoint, model);
        TensorFile file = with_file_names(checkpoint.config, checkpoint.tensors);
        if (config.householders > 1 && seed % 2 == 0) {  // as older files have them
          for (const char* part : {"k_proj", "v_proj", "b_proj", "k_conv1d", "v_conv1d"})
            for (std::uint32_t layer = 0; layer < config.layers; ++layer)
              for (std::uint32_t j = 0; j < config.householders; ++j) {
                const std::string prefix = "model.layers." + std::to_string(layer) + ".attn." + part;
                if (file.tensors.contains(prefix + ".weight"))
                  checkpoint.parts[prefix + ".weight"].push_back(prefix + "s." + std::to_string(j) + ".weight");
              }
          file = part_householders(std::move(file), checkpoint.parts);
          TensorFile joined = file;
          CHECK(join_householders(joined, config.householders, "") == checkpoint.parts);
          CHECK(format_safetensors(joined) == format_safetensors(checkpoint.tensors));
        }
        const auto again = rechecked_operations(checkpoint_operations(checkpoint, model), file);
        LetterReader::Memory memory = reader->start();
        RecheckedReader::Moment moment = again->start();
        const auto is_same = [&] {
          std::vector<double> numbers;
          for (const std::uint32_t bits : memory) numbers.push_back(std::bit_cast<float>(bits));
          return numbers == moment.numbers.at(0);
        };
        REQUIRE(is_same());
        if (has_begin) CHECK(again->read(moment) == reader->answer_at_start().output);
        std::mt19937_64 random(seed);
        for (int t = 0; t < 30; ++t) {
          const auto letter = static_cast<Letter>(random() % reader->letters());
          const LetterReader::Answer answer = reader->step(letter, memory, true);
          moment = again->step(moment, letter);
          REQUIRE(is_same());
          REQUIRE(again->read(moment).value_or(LetterReader::kNoAnswer) == answer.output);
        }
      }
}

TEST_CASE("a fused norm is of the sum before it is rounded") {
  using Family = CheckpointConfig::Family;
  const CheckpointConfig config{Family::kDeltaNet, 8,    1,    2, 4,         3, 1, 6, 5, 0, false, false,
                                OutputGate::kNone, 1e-6, 1e-3, 0, "float32", 0, {}};
  std::size_t different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Checkpoint checkpoint = random_checkpoint(config, seed);
    const auto logits = [&](bool fused, Precision precision) {
      checkpoint.config.fused_norm = fused;
      const CheckpointModel model(checkpoint, precision);
      CheckpointModel::Memory memory = model.start();
      return model.step(1, memory);
    };
    CHECK(logits(false, Precision::kFp32) == logits(true, Precision::kFp32));
    different += logits(false, Precision::kBf16) != logits(true, Precision::kBf16) ? 1 : 0;
  }
  CHECK(different > 0);
}
