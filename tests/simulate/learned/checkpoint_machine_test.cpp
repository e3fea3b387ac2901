// Checkpoints as machines that read letters: their automaton, the maps of their letters, and wrong ones found.

#include "krohn/simulate/learned/checkpoint_machine.h"

#include <doctest/doctest.h>

#include <cstring>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/checkpoints/gated_checkpoint.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/tasks/task_automaton.h"
#include "krohn/simulate/words/word.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

Dfa swaps_of_s3() {
  LanguageOptions options;
  options.generators = "transpositions";
  return named_language("S3", options);
}

/// The first state of this name, as it stands in tokens.json, says what the second says.
Checkpoint confused(Checkpoint checkpoint, State first, State second) {
  Tensor& head = checkpoint.tensors.tensors.at("lm_head.weight");
  const std::size_t row = head.bytes.size() / head.shape[0];
  std::byte* const bytes = head.bytes.data();
  const auto at = [&](State state) { return bytes + checkpoint.tokens.of_state[state] * row; };
  std::vector<std::byte> kept(at(first), at(first) + row);
  std::memcpy(at(first), at(second), row);
  std::memcpy(at(second), kept.data(), row);
  return checkpoint;
}

}  // namespace

TEST_CASE("the automaton of an exact checkpoint is extracted, and compared for words of every length") {
  for (const CheckpointFamily family : {CheckpointFamily::kOlmoHybrid, CheckpointFamily::kKda}) {
    const Checkpoint checkpoint = gated_checkpoint(swaps_of_s3(), family);
    const auto task = checkpoint_task(checkpoint);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const auto machine = checkpoint_machine(checkpoint, precision);
      const Extraction found = extract_checkpoint(*machine, *task, {});
      CHECK(found.is_exact());
      CHECK(!distinguishing_word(found.automaton, swaps_of_s3()));
    }
    ExtractOptions few;  // fewer than it has: asked by words
    few.max_network_states = 3;
    few.length = 8, few.words = 50, few.beyond = 0;
    const Extraction asked = extract_checkpoint(*checkpoint_machine(checkpoint, Precision::kFp32), *task, few);
    CHECK(!asked.network_states);
    CHECK(!distinguishing_word(asked.automaton, swaps_of_s3()));
  }
}

TEST_CASE("a checkpoint whose answers are exchanged has another automaton, and is right where it still is") {
  const Checkpoint right = gated_checkpoint(swaps_of_s3(), CheckpointFamily::kOlmoHybrid);
  const Checkpoint wrong = confused(right, 1, 2);
  const Extraction found =
      extract_checkpoint(*checkpoint_machine(wrong, Precision::kFp32), *checkpoint_task(wrong), {});
  CHECK(distinguishing_word(found.automaton, swaps_of_s3()));
  const CheckpointModel model(wrong, Precision::kFp32), good(right, Precision::kFp32);
  const CheckpointSampleOptions asked{50, 20, 1, {}, false};
  const CheckpointScore score = krohn::score(wrong, model, asked), full = krohn::score(right, good, asked);
  CHECK(full.right == full.letters);
  CHECK(full.right_words == 20);
  CHECK(full.letters == 1000);
  // Counted letter by letter with the automaton.
  std::uint64_t expected = 0;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    RandomWord letters(3, asked.seed, word);
    std::vector<Letter> all(asked.length);
    letters.fill(0, all);
    State state = wrong.automaton->initial();
    for (const Letter letter : all) {
      state = wrong.automaton->next(state, letter);
      expected += state != 1 && state != 2;
    }
  }
  CHECK(score.right == expected);
}

TEST_CASE("a letter's map is the reflection that its key is, and a reset's is zero") {
  const auto checkpoint = gated_checkpoint(swaps_of_s3(), CheckpointFamily::kOlmoHybrid);
  const auto machine = checkpoint_machine(checkpoint, Precision::kFp32);
  REQUIRE(machine->blocks().size() == 6);
  for (Letter letter = 0; letter < 3; ++letter)
    for (const Eigen::MatrixXd& matrix : machine->letter_maps(letter).matrices) {
      CHECK(matrix * matrix == Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
      CHECK(matrix.trace() == static_cast<double>(matrix.rows()) - 2);
    }
  // Of tomita3 the keys are no letter's alone.
  const auto several = gated_checkpoint(minimise(named_language("tomita3", {})), CheckpointFamily::kOlmoHybrid);
  CHECK(checkpoint_machine(several, Precision::kFp32)->letters() == 2);
  Checkpoint none = checkpoint;
  none.automaton.reset();
  CHECK(test::error_of([&] { checkpoint_task(none); }).find("automaton.json") != std::string::npos);
  CHECK(test::error_of([&] { checkpoint_machine(none, Precision::kFp32); }).find("automaton.json") !=
        std::string::npos);
}
