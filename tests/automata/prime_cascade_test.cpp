#include "automata/prime_cascade.h"

#include <doctest/doctest.h>

#include "automata/holonomy.h"
#include "bestiary.h"
#include "groups/error.h"
#include "groups/permutation.h"

using namespace krohn;

namespace {

bool is_prime(Label n) {
  for (Label d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

/// Resets, or shifts of Z_p with p prime; and the right automaton, by a check that shares no code.
Cascade checked(const Dfa& dfa, const Cascade& whole) {
  const Cascade cascade = prime_cascade(whole);
  for (const CascadeLayer& layer : cascade.layers) {
    bool resets = true, shifts = is_prime(layer.width);
    for (const Transformation& action : layer.actions) {
      resets = resets && (action.is_identity() || action.constant_image());
      for (Label x = 0; x < layer.width; ++x) shifts = shifts && action[x] == (x + action[0]) % layer.width;
    }
    REQUIRE((resets || shifts));
  }
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
  return cascade;
}

std::vector<Label> widths(const Cascade& cascade) {
  std::vector<Label> result;
  for (const CascadeLayer& layer : cascade.layers) result.push_back(layer.width);
  return result;
}

Dfa from_cycles(std::initializer_list<const char*> letters, Point degree) {
  Maps maps;
  for (const char* text : letters) {
    const Permutation p = parse_cycles(text, degree);
    maps.emplace_back(p.images().begin(), p.images().end());
  }
  return automaton(maps, degree);
}

}  // namespace

TEST_CASE("every automaton with two letters and at most four states, by both decompositions") {
  for (State n = 1; n <= 3; ++n)
    for_all_automata(n, [](const Dfa& dfa) {
      checked(dfa, holonomy_decomposition(dfa));
      checked(dfa, chain_decomposition(dfa));
    });
  std::mt19937 random(19);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const Dfa dfa = random_automaton(random, 4, 2);
    checked(dfa, holonomy_decomposition(dfa));
    checked(dfa, chain_decomposition(dfa));
  }
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

TEST_CASE("a group that is not solvable is refused by name") {
  const Dfa dfa = from_cycles({"(1 2 3)", "(3 4 5)"}, 5);
  CHECK_THROWS_WITH_AS(prime_cascade(holonomy_decomposition(dfa)), doctest::Contains("A_5"), InputError);
}
