#include "krohn/automata/cascades/prime_cascade.h"

#include <doctest/doctest.h>

#include "krohn/groups/base/error.h"
#include "tests/automata/cascades/small_cascades.h"

using namespace krohn;

namespace {

bool is_prime(Label n) {
  for (Label d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

/// Resets, shifts of Z_p with p prime, or a regular action of `largest_simple` labels; and the right automaton, by a
/// check that shares no code.
Cascade checked(const Dfa& dfa, const Cascade& whole, std::uint64_t largest_simple = 0) {
  PrimeCascadeOptions options;
  options.largest_simple = largest_simple;
  const Cascade cascade = prime_cascade(whole, options);
  for (const CascadeLayer& layer : cascade.layers) {
    bool resets = true, shifts = is_prime(layer.width);
    for (const Transformation& action : layer.actions) {
      resets = resets && (action.is_identity() || action.constant_image());
      for (Label x = 0; x < layer.width; ++x) shifts = shifts && action[x] == (x + action[0]) % layer.width;
    }
    const bool simple = layer.width == largest_simple && layer.actions.size() <= largest_simple;
    REQUIRE((resets || shifts || simple));
  }
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
  return cascade;
}

}  // namespace

TEST_CASE("every automaton with two letters and at most four states, by both decompositions") {
  check_small_automata(19, [](const Dfa& dfa, const Cascade& whole) { checked(dfa, whole); });
}

TEST_CASE("solvable groups become towers of primes") {
  struct Fact {
    std::initializer_list<const char*> letters;
    Point degree;
    std::vector<Label> widths;
  };
  // After the tower the reset layer holds the point that never changes, and is trimmed.
  const Fact facts[] = {{{"(1 2 3 4 5 6)"}, 6, {3, 2}},
                        {{"(1 2 3)", "(1 2)"}, 3, {2, 3}},
                        {{"(1 2 3 4)", "(1 2)"}, 4, {2, 3, 2, 2}},
                        {{"(1 2 3 4)", "(1 3)"}, 4, {2, 2, 2}},
                        {{"(1 2 3 4 5)", "(2 3 5 4)"}, 5, {2, 2, 5}}};
  for (const Fact& fact : facts) {
    CAPTURE(*fact.letters.begin());
    const Dfa dfa = from_cycles(fact.letters, fact.degree);
    CHECK(widths(checked(dfa, holonomy_decomposition(dfa))) == fact.widths);
  }
}

TEST_CASE("modular arithmetic: Z_4 and Z_5 with resets") {
  for (State m = 2; m <= 7; ++m) {
    CAPTURE(m);
    const Dfa dfa = modular_arithmetic(m);
    checked(dfa, holonomy_decomposition(dfa));
  }
}

TEST_CASE("A_5 stays whole among the primes") {
  struct Fact {
    std::initializer_list<const char*> letters;
    Point degree;
    std::vector<Label> widths;
  };
  const Fact facts[] = {{{"(1 2 3)", "(3 4 5)"}, 5, {60}},
                        {{"(1 2 3 4 5)", "(1 2)"}, 5, {2, 60}},
                        {{"(1 2 3)(6 7)", "(3 4 5)", "(5 6)"}, 7, {}},
                        {{"(1 2 3)", "(3 4 5)", "(1 6)(2 7)(3 8)(4 9)(5 10)"}, 10, {2, 60, 60}}};
  for (const Fact& fact : facts) {
    CAPTURE(*fact.letters.begin());
    const Dfa dfa = from_cycles(fact.letters, fact.degree);
    const Cascade whole = holonomy_decomposition(dfa);
    if (fact.widths.empty())
      CHECK_THROWS_WITH_AS(checked(dfa, whole, 60), doctest::Contains("A_7"), InputError);
    else
      CHECK(widths(checked(dfa, whole, 60)) == fact.widths);
  }
}

TEST_CASE("A_5 with constants, and SL(2,5) as Z_2 below A_5") {
  Maps with_reset{{1, 2, 0, 3, 4}, {0, 1, 3, 4, 2}, {3, 3, 3, 3, 3}};
  const Dfa reset = automaton(with_reset, 5);
  CHECK(widths(checked(reset, holonomy_decomposition(reset), 60)) == std::vector<Label>{60, 5});
  // SL(2,5) on the 24 vectors of F_5² that are not zero, 5x + y − 1: (x, y) ↦ (x + y, y) and (x, x + y).
  Maps special(2, std::vector<State>(24));
  for (State x = 0; x < 5; ++x)
    for (State y = x == 0 ? 1 : 0; y < 5; ++y) {
      special[0][5 * x + y - 1] = 5 * ((x + y) % 5) + y - 1;
      special[1][5 * x + y - 1] = 5 * x + (x + y) % 5 - 1;
    }
  const Dfa dfa = automaton(special, 24);
  CHECK(widths(checked(dfa, holonomy_decomposition(dfa), 60)) == std::vector<Label>{60, 2});
}

TEST_CASE("a group that is not solvable is refused by name") {
  const Dfa dfa = from_cycles({"(1 2 3)", "(3 4 5)"}, 5);
  CHECK_THROWS_WITH_AS(prime_cascade(holonomy_decomposition(dfa)), doctest::Contains("A_5"), InputError);
}
