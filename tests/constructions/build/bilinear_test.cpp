#include "krohn/constructions/build/build_bilinear.h"

#include <doctest/doctest.h>

#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/build/build_block_diagonal.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

/// 1 at [to][from][letter] for every transition among the reachable states.
std::vector<std::uint8_t> tensor_of(const Dfa& automaton, const TrackedStates& tracked) {
  std::vector<std::uint8_t> tensor;
  for (const State to : tracked.states)
    for (const State from : tracked.states)
      for (Letter letter = 0; letter < automaton.letters(); ++letter)
        tensor.push_back(automaton.next(from, letter) == to);
  return tensor;
}

/// Σ_r outputs ⊗ inputs ⊗ letters, entry by entry.
std::vector<std::uint8_t> expand(const CpFactors& factors, std::uint32_t states, Letter letters) {
  std::vector<std::uint8_t> tensor(std::size_t{states} * states * letters, 0);
  for (std::size_t r = 0; r < factors.rank(); ++r)
    for (const auto i : factors.outputs[r])
      for (const auto j : factors.inputs[r])
        for (const auto k : factors.letters[r]) ++tensor[(std::size_t{i} * states + j) * letters + k];
  return tensor;
}

}  // namespace

TEST_CASE("CP factors of every mode multiply out to the tensor") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Dfa automaton = random_automaton(seed, 2 + seed % 9, 1 + seed % 4);
    const TrackedStates tracked = tracked_states(automaton);
    const std::vector<std::uint8_t> tensor = tensor_of(automaton, tracked);
    std::size_t least = SIZE_MAX;
    for (const FibreMode mode : {FibreMode::kOutput, FibreMode::kInput, FibreMode::kLetter}) {
      const CpFactors factors = cp_factors(automaton, mode);
      CHECK(expand(factors, tracked.count(), automaton.letters()) == tensor);
      least = std::min(least, factors.rank());
    }
    CHECK(smallest_cp_factors(automaton).rank() == least);
    CHECK(closure_error(build_factored(automaton)) == 0);
  }
}

TEST_CASE("CP ranks of random state machines") {
  struct Fact {
    State m;
    std::size_t least, most;
  };
  // MATH.md §7: m = 10: 65–71; 25: about 405; 50: about 1600, near (1 − 1/e) m² = 1580.
  for (const Fact& fact : {Fact{10, 58, 74}, Fact{25, 380, 425}, Fact{50, 1530, 1640}})
    for (unsigned seed = 1; seed <= 10; ++seed) {
      CAPTURE(fact.m);
      CAPTURE(seed);
      const std::size_t rank = smallest_cp_factors(random_state_machine(seed, fact.m)).rank();
      CHECK(rank >= fact.least);
      CHECK(rank <= fact.most);
    }
}

TEST_CASE("letters that act alike share their terms") {
  CHECK(smallest_cp_factors(automaton_of_maps({{1, 2, 0}, {1, 2, 0}, {1, 2, 0}})).rank() == 3);
}

TEST_CASE("parallel decompositions") {
  struct Fact {
    const char* group;
    std::uint32_t dimension;
  };
  for (const Fact& fact : {Fact{"Z6", 5}, Fact{"Z60", 12}, Fact{"Z2xZ2xZ2", 6}, Fact{"Z3xZ5", 8}, Fact{"S3xZ5", 10}}) {
    CAPTURE(fact.group);
    const Network network = build_block_diagonal(word_problem(fact.group, "standard"));
    CHECK(network.layers[0].dimension == fact.dimension);
    CHECK(closure_error(network) == 0);
  }
}

TEST_CASE("a product of automata without inverses is taken apart") {
  // (ends in a) × (parity of b) × (a seen at least once), 8 states of which the reachable ones matter.
  std::vector<std::vector<State>> maps(2, std::vector<State>(8));
  for (State q = 0; q < 8; ++q) {
    const State parity = q >> 1 & 1;
    maps[0][q] = 1 | parity << 1 | 4;
    maps[1][q] = 0 | (1 - parity) << 1 | (q & 4);
  }
  const Network network = build_block_diagonal(automaton_of_maps(maps));
  CHECK(network.layers[0].dimension <= 5);
  CHECK(closure_error(network) == 0);
  check_random_word(network, 5, 100);
}
