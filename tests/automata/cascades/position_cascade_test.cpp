#include "krohn/automata/cascades/position_cascade.h"

#include <doctest/doctest.h>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

namespace {

/// A counter of `period` positions first (none for 1), resets below, and the right automaton, by a check that shares no
/// code.
void require_position_cascade(const Dfa& dfa, Label period) {
  const Cascade cascade = position_cascade(dfa);
  const std::size_t counters = period == 1 ? 0 : 1;
  if (counters == 1) {
    REQUIRE(cascade.layers[0].width == period);
    REQUIRE(cascade.layers[0].actions.size() == 1);
    for (Label x = 0; x < period; ++x) REQUIRE(cascade.layers[0].actions[0][x] == (x + 1) % period);
  }
  for (std::size_t k = counters; k < cascade.layers.size(); ++k)
    for (const Transformation& action : cascade.layers[k].actions)
      REQUIRE((action.is_identity() || action.constant_image().has_value()));
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
}

Label counted(const Dfa& dfa) {
  const Cascade cascade = position_cascade(dfa);
  const Transformation& first = cascade.layers[0].actions[0];
  return first.is_permutation() && !first.is_identity() ? cascade.layers[0].width : 1;
}

}  // namespace

TEST_CASE("even length, Tomita 3, lengths modulo m: the period and the cascade") {
  struct Fact {
    const char* what;
    Maps maps;
    Label period;
  };
  const Fact facts[] = {{"(aa)*", {{1, 0}}, 2},
                        {"even length of two letters", {{1, 0}, {1, 0}}, 2},
                        {"Tomita 3", kTomita[2].maps, 2},
                        {"length modulo 6", {{1, 2, 3, 4, 5, 0}}, 6},
                        {"(ab)*, aperiodic", {{1, 2, 2}, {2, 0, 2}}, 1},
                        {"a sink after b at an odd position", {{1, 0, 2}, {1, 2, 2}}, 2}};
  for (const Fact& fact : facts) {
    CAPTURE(fact.what);
    const Dfa dfa = automaton(fact.maps, static_cast<State>(fact.maps[0].size()));
    require_position_cascade(dfa, fact.period);
  }
}

TEST_CASE("a group that positions do not explain is refused with a word") {
  CHECK_THROWS_WITH_AS(position_cascade(automaton({{0, 1}, {1, 0}}, 2)), doctest::Contains("\"l1\" acts with a cycle"),
                       InputError);
  CHECK_THROWS_AS(position_cascade(automaton({{1, 2, 0}, {1, 0, 2}}, 3)), InputError);
}

TEST_CASE("random automata: built exactly when the stamp is quasi-aperiodic") {
  std::mt19937 random(29);
  int aperiodic = 0, with_positions = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const Dfa dfa = canonical(random_automaton(random, 2 + static_cast<State>(random() % 4), 1 + random() % 2));
    const Algebra algebra = analyse(dfa);
    if (algebra.verdict("quasi-aperiodic").answer == Answer::kNo) {
      ++refused;
      REQUIRE_THROWS_AS(position_cascade(dfa), InputError);
      continue;
    }
    const Label period = counted(dfa);
    REQUIRE((period == 1) == (algebra.verdict("aperiodic").answer == Answer::kYes));
    require_position_cascade(dfa, period);
    ++(period == 1 ? aperiodic : with_positions);
  }
  CHECK(aperiodic > 500);
  CHECK(with_positions > 300);
  CHECK(refused > 300);
}

TEST_CASE("limits, degenerate automata, unreachable groups") {
  PositionCascadeOptions options;
  options.max_elements = 10;
  CHECK_THROWS_WITH_AS(position_cascade(full_transformation_monoid(4), options), doctest::Contains("10 elements"),
                       LimitError);
  require_position_cascade(automaton({}, 3, 2), 1);
  require_position_cascade(automaton({{0}}, 1), 1);
  require_position_cascade(automaton({{0, 2, 1}}, 3), 1);  // the swap is out of reach
}
