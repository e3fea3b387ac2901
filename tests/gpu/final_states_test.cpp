#include "gpu/final_states.h"

#include <doctest/doctest.h>

#include "gpu/run_random_word.cuh"
#include "groups/error.h"
#include "simulate/run_dfa.h"
#include "simulate/word.h"

using namespace krohn;

namespace {

/// `states` states in a circle; letter k moves k steps on.
Dfa circle(State states, Letter letters) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < letters; ++letter) names.push_back("step" + std::to_string(letter));
  std::vector<State> table;
  for (State state = 0; state < states; ++state)
    for (Letter letter = 0; letter < letters; ++letter) table.push_back((state + letter) % states);
  std::vector<bool> accepting(states, false);
  accepting[0] = true;
  return Dfa::acceptor(Alphabet::from_names(names), table, 0, accepting);
}

}  // namespace

TEST_CASE("the device function reads the letters of RandomWord") {
  struct Case {
    State states;
    Letter letters;
    std::uint64_t length;
  };
  for (const Case& one : {Case{1, 1, 0}, Case{5, 1, 64}, Case{7, 2, 1}, Case{7, 2, 31}, Case{7, 2, 32}, Case{7, 2, 33},
                          Case{11, 3, 1000}, Case{60, 60, 4321}, Case{5, 300, 77}}) {
    CAPTURE(one.letters);
    CAPTURE(one.length);
    const Dfa dfa = circle(one.states, one.letters);
    const Word word = RandomWord(one.letters, /*seed=*/3, /*stream=*/9).slice(0, one.length);
    const State state = run_random_word(dfa.table().data(), one.letters, dfa.initial(), random_key(3, 9), one.length);
    CHECK(state == dfa.run(word));
  }
}

TEST_CASE("counts of final states are those of the runner") {
  const Dfa dfa = circle(7, 3);
  std::vector<std::uint64_t> counts(7, 0);
  for (const State state : Runner(dfa).run_random_words(/*seed=*/5, /*first_stream=*/0, 500, 123)) ++counts[state];
  CHECK(reference_final_state_counts(dfa, {.words = 500, .length = 123, .seed = 5}) == counts);
  CHECK(reference_final_state_counts(dfa, {.words = 0, .length = 9, .seed = 1}) == std::vector<std::uint64_t>(7, 0));
}

TEST_CASE("without a device the request is refused, not answered") {
  if (cuda_available()) return;
  CHECK_FALSE(cuda_status().empty());
  CHECK_THROWS_AS(cuda_final_state_counts(circle(3, 2), {}), SystemError);
}
