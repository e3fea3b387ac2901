#include "krohn/gpu/checkpoints/checkpoint_words.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string_view>

#include "krohn/automata/language.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/words/word.h"

using namespace krohn;

namespace {

/// An exported checkpoint, its weights moved a little, so that every gate has its say.
Checkpoint perturbed(Checkpoint checkpoint, float by, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, by);
  for (auto& [name, tensor] : checkpoint.tensors.tensors) {
    REQUIRE(tensor.dtype == "F32");
    std::vector<float> values(tensor.elements());
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    for (float& value : values) value += normal(random);
    tensor = make_tensor(values, tensor.shape);
  }
  return checkpoint;
}

/// All words by CheckpointModel::step: what they remember at the end, and where they first fail.
void check_words(const Checkpoint& checkpoint, Precision precision, std::uint64_t words, std::uint64_t length) {
  CAPTURE(to_string(precision));
  const CheckpointModel model(checkpoint, precision);
  const Dfa& automaton = *checkpoint.automaton;
  CheckpointReader reader(Place::kProcessor, checkpoint, model, /*seed=*/5, /*stops=*/false);
  reader.start(3, words);
  reader.read(length / 3);
  if (length / 3 > 0) reader.read(length - length / 3);
  const std::vector<CheckpointRecord> records = reader.records();
  for (std::uint64_t word = 0; word < words; ++word) {
    CAPTURE(word);
    const Word letters = RandomWord(automaton.letters(), 5, 3 + word).slice(0, length);
    CheckpointModel::Memory memory = model.start();
    if (checkpoint.tokens.begin) model.step(*checkpoint.tokens.begin, memory);
    State state = automaton.initial();
    std::uint64_t failing_at = ~std::uint64_t{0};
    for (std::uint64_t t = 0; t < length; ++t) {
      state = automaton.next(state, letters[t]);
      const auto logits = model.step(checkpoint.tokens.of_letter[letters[t]], memory);
      if (arg_max(logits) != checkpoint.tokens.of_state[state] && t + 1 < failing_at) failing_at = t + 1;
    }
    CHECK(records[word].failing_at == failing_at);
    CHECK(records[word].state == state);
    CHECK((reader.memory(word) == memory));
  }
}

}  // namespace

TEST_CASE("every number of every word is that of the processor's model, bit for bit") {
  for (const char* name : {"parity", "S3", "tomita3"})
    for (const auto precision : {Precision::kFp32, Precision::kBf16})
      for (const bool deltas : {true, false}) {
        CAPTURE(name);
        CAPTURE(deltas);
        if (deltas && std::string_view(name) == "S3") continue;  // a letter takes two reflections
        const Dfa automaton = named_language(name, {});
        const Checkpoint exact = deltas ? delta_net_checkpoint(automaton) : gated_delta_product_checkpoint(automaton);
        check_words(exact, precision, 2, 33);
        check_words(perturbed(exact, 0.05F, 7), precision, 5, 31);
      }
}

TEST_CASE("what is right is found right, and what fails fails at the least letter") {
  const Dfa automaton = named_language("S3", {});
  const Checkpoint exact = gated_delta_product_checkpoint(automaton), other = perturbed(exact, 0.02F, 1);
  CheckpointSampleOptions options;
  options.length = 50;
  options.words = 33;
  const CheckpointModel right(exact, Precision::kFp32), wrong(other, Precision::kFp32);
  CHECK_FALSE(sample_checkpoint(Place::kProcessor, exact, right, options).has_value());
  const auto failure = sample_checkpoint(Place::kProcessor, other, wrong, options);
  REQUIRE(failure.has_value());
  CheckpointReader reader(Place::kProcessor, other, wrong, options.seed);
  reader.start(0, options.words);
  reader.read(options.length);
  CheckpointFailure least{~std::uint64_t{0}, 0};
  const std::vector<CheckpointRecord> records = reader.records();
  for (std::uint64_t word = 0; word < records.size(); ++word)
    if (records[word].failing_at < least.at) least = {records[word].failing_at, word};
  CHECK(failure->at == least.at);
  CHECK(failure->word == least.word);
  if (!cuda_available()) CHECK_THROWS_AS(sample_checkpoint(Place::kDevice, exact, right, options), SystemError);
}
