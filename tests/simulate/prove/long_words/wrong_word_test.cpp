// Long words on which a network errs: what is found is wrong at its last letter and nowhere before.

#include "krohn/simulate/prove/long_words/wrong_word.h"

#include <doctest/doctest.h>

#include "krohn/simulate/evaluate/evaluate.h"
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
    std::uint64_t letters = 0;
    const auto wrong = find_wrong_word(network, Precision::kFp32, Form::kStructured, {}, letters);
    REQUIRE(wrong);
    // Half a step off after 500/thousandths turns, and the words are read in lengths of 64, 128, ….
    const auto turns = static_cast<std::size_t>(500 / thousandths);
    CHECK(wrong->word.size() >= turns);
    CHECK(wrong->word.size() <= turns + 2);
    CHECK(letters <= WrongWordOptions{}.letters);
    const auto evaluator = make_evaluator(network, Precision::kFp32);
    State state = network.automaton.initial();
    for (std::size_t t = 0; t < wrong->word.size(); ++t) {
      state = network.automaton.next(state, wrong->word[t]);
      const std::optional<State> given = evaluator->step(wrong->word[t]);
      CHECK((given == state) == (t + 1 < wrong->word.size()));
      if (t + 1 == wrong->word.size()) CHECK(given == wrong->run.given);
    }
    CHECK(wrong->run.expected == state);
  }
}

TEST_CASE("of what is right no word is found, and the budget is kept") {
  for (const Network& network : {rotation(7, {0, 1, 3}), symmetric(4, 3, Swap::kMap)}) {
    std::uint64_t letters = 0;
    WrongWordOptions options;
    options.letters = 100'000;
    CHECK(!find_wrong_word(network, Precision::kFp32, Form::kStructured, options, letters));
    CHECK(letters > 10'000);
    CHECK(letters <= options.letters);
  }
}
