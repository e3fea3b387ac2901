// Every verdict on every small automaton, against the definitions by brute force.

#include <doctest/doctest.h>

#include "krohn/automata/operations/minimise.h"
#include "tests/algebra_campaign.h"

using namespace krohn;

TEST_CASE("verdicts on every language of at most three states over two letters, two over three, four over one") {
  Tally tally;
  const auto check = [&](const Dfa& dfa) {
    for (std::uint32_t set = 0; set < 1U << dfa.states(); ++set)
      if (const Dfa minimal = minimise(accepting(dfa, set)); minimal.states() == dfa.states())
        check_verdicts(minimal, tally);
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.skipped == 0);
  MESSAGE(tally.verdicts << " verdicts");
}

TEST_CASE("verdicts on random automata of four to six states, where groups and limits are richer") {
  Tally tally;
  std::mt19937 random(11);
  for (int drawn = 0; drawn < 300; ++drawn) {
    const Dfa dfa = random_automaton(random, 4 + static_cast<State>(random() % 3), 2);
    check_verdicts(minimise(accepting(dfa, static_cast<std::uint32_t>(random()))), tally, 150);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.skipped < 200);
}
