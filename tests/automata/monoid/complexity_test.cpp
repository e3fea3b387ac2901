// Bounds of the Krohn–Rhodes complexity against monoids whose complexity is known.

#include <doctest/doctest.h>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/complexity.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

namespace {

ComplexityBounds bounds(const Dfa& dfa) {
  return complexity_bounds(GreenStructure::of(letter_maps(dfa), dfa.states()), dfa.states());
}

}  // namespace

TEST_CASE("all maps of n points have complexity n-1; aperiodic monoids 0; groups 1") {
  for (State n = 2; n <= 5; ++n) {
    CAPTURE(n);
    const ComplexityBounds full = bounds(full_transformation_monoid(n));
    CHECK(full.lower == n - 1);
    CHECK(full.upper == n - 1);
  }
  CHECK(bounds(automaton({{1, 1, 2}, {0, 2, 2}}, 3)).upper == 0);
  const ComplexityBounds group = bounds(automaton({{1, 2, 0}, {1, 0, 2}}, 3));
  CHECK(group.lower == 1);
  CHECK(group.upper == 1);
}

TEST_CASE("the chain of classes with groups: counted along chains, not over the whole monoid") {
  // A swap of 0, 1 and one of 2, 3 that never meet: two classes with groups side by side, one above the other where a
  // letter leads from the first to the second.
  CHECK(bounds(automaton({{1, 0, 4, 4, 4}, {4, 4, 3, 2, 4}}, 5)).upper == 1);
  // One letter swaps three and a second merges them into a pair that a third swaps.
  const ComplexityBounds nested = bounds(automaton({{1, 2, 0}, {0, 0, 1}, {1, 0, 0}}, 3));
  CHECK(nested.lower == 1);
  CHECK(nested.upper == 2);
}

TEST_CASE("a monoid has groups exactly where its complexity is at least one") {
  std::mt19937 random(5);
  for (int drawn = 0; drawn < 200; ++drawn) {
    const Dfa dfa = random_automaton(random, 3 + static_cast<State>(random() % 3), 2);
    const ComplexityBounds found = bounds(dfa);
    CHECK(found.lower <= found.upper);
    CHECK(found.upper < dfa.states());
    CHECK((found.lower == 0) == (analyse(dfa).groups.empty()));
    CHECK((found.upper == 0) == (found.lower == 0));
  }
}
