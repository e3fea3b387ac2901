// Needs a CUDA device; CTest reads "skipped:" and reports the test as skipped where there is none.

#include <doctest/doctest.h>

#include <cstdio>
#include <random>

#include "gpu/final_states.h"

using namespace krohn;

namespace {

Dfa random_automaton(State states, Letter letters, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::string> names;
  for (Letter letter = 0; letter < letters; ++letter) names.push_back("x" + std::to_string(letter));
  std::vector<State> table(std::size_t{states} * letters);
  for (State& target : table) target = static_cast<State>(generator() % states);
  return Dfa::acceptor(Alphabet::from_names(names), table, 0, std::vector<bool>(states, true));
}

}  // namespace

TEST_CASE("the kernel counts what the processor counts") {
  if (!cuda_available()) {
    std::printf("skipped: %s\n", cuda_status().c_str());
    return;
  }
  // In shared memory: table and counts; the counts only; neither.
  for (const State states : {5U, 5'000U, 100'000U}) {
    CAPTURE(states);
    const Dfa dfa = random_automaton(states, 2, /*seed=*/states);
    const RandomSample sample{.words = 20'000, .length = 1'000, .seed = 11};
    CHECK(cuda_final_state_counts(dfa, sample) == reference_final_state_counts(dfa, sample));
  }
}
