// Long words on which a network fails: what is found is wrong at its last letter and nowhere before.

#include "krohn/simulate/prove/pairs/certify_reader.h"

#include <doctest/doctest.h>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// A counter modulo m whose letter turns too far by so many thousandths of a step.
Network turning_too_far(std::uint32_t m, std::int64_t thousandths) {
  Network network = rotation(m, {0, 1});
  network.layers[0].transitions[1].a =
      RotationBlocks{{{false, Turn{1000 + thousandths, 1000 * static_cast<std::int64_t>(m)}.normalised()}}};
  return network;
}

}  // namespace

TEST_CASE("a rotation that drifts is wrong after as many turns as the drift says") {
  for (const std::int64_t thousandths : {40, 10, 2}) {
    CAPTURE(thousandths);
    const Network network = turning_too_far(5, thousandths);
    const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
    ReaderLimits limits;
    limits.long_letters = 1'000'000;
    std::uint64_t letters = 0;
    const auto word = find_failing_word(*reader, every_state(network.automaton), limits, letters);
    REQUIRE(word);
    // Half a step off after 500/thousandths turns, by the letter that turns; the other one does nothing.
    const auto turns = static_cast<std::size_t>(500 / thousandths);
    CHECK(word->size() >= turns);
    CHECK(word->size() <= turns + 2);
    CHECK(letters <= limits.long_letters);
    const auto evaluator = make_evaluator(network, Precision::kFp32);
    State state = network.automaton.initial();
    for (std::size_t t = 0; t < word->size(); ++t) {
      state = network.automaton.next(state, (*word)[t]);
      CHECK((evaluator->step((*word)[t]) == state) == (t + 1 < word->size()));
    }
  }
}

TEST_CASE("of what is right no word is found, and the budget is kept") {
  for (const Network& network : {rotation(7, {0, 1, 3}), symmetric(4, 3, Swap::kMap)}) {
    const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
    ReaderLimits limits;
    limits.long_letters = 100'000;
    std::uint64_t letters = 0;
    CHECK(!find_failing_word(*reader, every_state(network.automaton), limits, letters));
    CHECK(letters > 10'000);
    CHECK(letters <= limits.long_letters);
  }
}

TEST_CASE("a network that snaps is read with its snaps") {
  // Drifts half a step within 13 letters, but every fifth letter it goes on from the codeword.
  Network network = turning_too_far(5, 40);
  network.snap_every = 5;
  const auto reader = network_reader(network, Precision::kFp32, Form::kStructured);
  ReaderLimits limits;
  limits.long_letters = 100'000;
  std::uint64_t letters = 0;
  CHECK(!find_failing_word(*reader, every_state(network.automaton), limits, letters));
}
