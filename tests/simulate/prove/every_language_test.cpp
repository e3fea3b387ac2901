// Every construction on every small automaton and on permutation groups whose first letters tell little: what is built
// is read on all words of a length and proved.

#include <doctest/doctest.h>

#include "krohn/automata/operations/minimise.h"
#include "tests/groups/transitive_groups.h"
#include "tests/network_campaign.h"

using namespace krohn;

namespace {

std::vector<Permutation> cycles(const std::vector<std::string>& texts, Point degree) {
  std::vector<Permutation> letters;
  for (const std::string& text : texts) letters.push_back(parse_cycles(text, degree));
  return letters;
}

}  // namespace

TEST_CASE("letters that fix the start before others move it: groups that were taken for smaller, abelian ones") {
  struct Fact {
    std::vector<std::string> letters;
    Point degree;
  };
  Tally tally;
  for (const auto& [letters, degree] :
       {Fact{{"(2 3)", "(1 2)"}, 3}, Fact{{"(2 3)", "(1 2 3)"}, 3}, Fact{{"(1 2 3)", "(2 3)"}, 3},
        Fact{{"(2 3)", "(1 2 3 4)"}, 4}, Fact{{"(2 4)", "(1 2 3 4)"}, 4}, Fact{{"(1 2 3 4)", "(2 4)"}, 4},
        Fact{{"(2 3 4)", "(1 2)(3 4)", "(1 3)(2 4)"}, 4}}) {
    const Dfa dfa = on_points(cycles(letters, degree));
    check_networks(dfa, 300, tally);
    for (const PlanRow& row : plan(dfa, {}))
      if (row.construction == "rotation" || row.construction == "signed-permutation" || row.construction == "r2")
        CHECK_FALSE(row.possible);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
}

TEST_CASE("no letters at all: every construction is built or refused with a reason") {
  Tally tally;
  for (const bool accepts : {false, true}) {
    const Dfa dfa = Dfa::acceptor(Alphabet::from_names(std::vector<std::string>{}), {}, 0, {accepts});
    check_networks(dfa, 1, tally);
    check_cascades(dfa, tally);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.networks >= 40);
}

TEST_CASE("every automaton of at most two states over two letters, and one in forty of three states") {
  Tally tally;
  const auto check = [&](const Dfa& dfa) {
    if (const Dfa reachable = canonical(dfa); reachable.states() == dfa.states()) check_networks(dfa, 300, tally);
  };
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 2, check);
  int number = 0;
  for_all_tables(3, 2, [&](const Dfa& dfa) {
    if (++number % 40 == 0) check(dfa);
  });
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
}

TEST_CASE("transitive groups of degree at most four, by several generating sets in several orders") {
  Tally tally;
  std::mt19937 random(3);
  for (const TransitiveGroup& row : transitive_groups()) {
    if (row.group.degree() > 4) continue;
    for (const auto& letters : generating_sets(row.group.generator_values(), random))
      check_networks(on_points(letters), 100, tally);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
}
