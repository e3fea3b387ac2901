#include "krohn/automata/cascades/cascade.h"
#include "krohn/groups/permutations/permutation.h"
#include "tests/automata/cascades/checked_cascades.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

bool is_prime(Label n) {
  for (Label d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

bool is_reset(const Transformation& action) { return action.is_identity() || action.constant_image(); }

/// Resets, shifts of Z_p with p prime, or a regular action of `largest_simple` labels; and the right automaton, by a
/// check that shares no code.
Cascade primes(const Dfa& dfa, const Cascade& whole, std::uint64_t largest_simple = 0) {
  const Cascade cascade = checked(prime_cascade(whole, PrimeCascadeOptions{.largest_simple = largest_simple}), dfa);
  for (const CascadeLayer& layer : cascade.layers) {
    bool resets = true, shifts = is_prime(layer.width);
    for (const Transformation& action : layer.actions) {
      resets = resets && is_reset(action);
      for (Label x = 0; x < layer.width; ++x) shifts = shifts && action[x] == (x + action[0]) % layer.width;
    }
    const bool simple = layer.width == largest_simple && layer.actions.size() <= largest_simple;
    REQUIRE((resets || shifts || simple));
  }
  return cascade;
}

/// Resets or swaps; and the right automaton.
Cascade swaps(const Dfa& dfa, const Cascade& whole) {
  const Cascade cascade = checked(swap_cascade(whole), dfa);
  for (const CascadeLayer& layer : cascade.layers) {
    bool resets = true, swaps = true;
    for (const Transformation& action : layer.actions) {
      resets = resets && is_reset(action);
      swaps = swaps && action.is_permutation() && action.to_permutation().reflection_length() <= 1;
    }
    REQUIRE((resets || swaps));
  }
  return cascade;
}

Dfa from_cycles(std::initializer_list<const char*> letters, Point degree) {
  Maps maps;
  for (const char* text : letters) {
    const Permutation p = parse_cycles(text, degree);
    maps.emplace_back(p.images().begin(), p.images().end());
  }
  return automaton(maps, degree);
}

struct Fact {
  std::initializer_list<const char*> letters;
  Point degree;
  std::vector<Label> widths;
};

void check_widths(std::initializer_list<Fact> facts, const std::function<Cascade(const Dfa&, const Cascade&)>& cut) {
  for (const Fact& fact : facts) {
    CAPTURE(*fact.letters.begin());
    const Dfa dfa = from_cycles(fact.letters, fact.degree);
    CHECK(widths(cut(dfa, holonomy_decomposition(dfa))) == fact.widths);
  }
}

Cascade with_60(const Dfa& dfa, const Cascade& whole) { return primes(dfa, whole, 60); }

}  // namespace

TEST_CASE("every automaton with two letters and at most three states, and many of four, by both decompositions") {
  const auto cut = [](const Dfa& dfa, const Cascade& whole) {
    primes(dfa, whole);
    swaps(dfa, whole);
  };
  const auto check = [&](const Dfa& dfa) {
    cut(dfa, holonomy_decomposition(dfa));
    cut(dfa, chain_decomposition(dfa));
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  std::mt19937 random(19);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    check(random_automaton(random, 4, 2));
  }
  for (State m = 2; m <= 7; ++m) {
    CAPTURE(m);
    const Dfa dfa = family("modarith", m);
    cut(dfa, holonomy_decomposition(dfa));
  }
}

TEST_CASE("solvable groups become towers of primes") {
  // After the tower the reset layer holds the point that never changes, and is trimmed.
  check_widths({{{"(1 2 3 4 5 6)"}, 6, {3, 2}},
                {{"(1 2 3)", "(1 2)"}, 3, {2, 3}},
                {{"(1 2 3 4)", "(1 2)"}, 4, {2, 3, 2, 2}},
                {{"(1 2 3 4)", "(1 3)"}, 4, {2, 2, 2}},
                {{"(1 2 3 4 5)", "(2 3 5 4)"}, 5, {2, 2, 5}}},
               [](const Dfa& dfa, const Cascade& whole) { return primes(dfa, whole); });
}

TEST_CASE("A_5 stays whole among the primes") {
  check_widths({{{"(1 2 3)", "(3 4 5)"}, 5, {60}},
                {{"(1 2 3 4 5)", "(1 2)"}, 5, {2, 60}},
                {{"(1 2 3)", "(3 4 5)", "(1 6)(2 7)(3 8)(4 9)(5 10)"}, 10, {2, 60, 60}}},
               with_60);
  const Dfa seven = from_cycles({"(1 2 3)(6 7)", "(3 4 5)", "(5 6)"}, 7);
  CHECK_THROWS_WITH_AS(with_60(seven, holonomy_decomposition(seven)), doctest::Contains("A_7"), InputError);
}

TEST_CASE("A_5 with constants, and SL(2,5) as Z_2 below A_5") {
  Maps with_reset{{1, 2, 0, 3, 4}, {0, 1, 3, 4, 2}, {3, 3, 3, 3, 3}};
  const Dfa reset = automaton(with_reset, 5);
  CHECK(widths(with_60(reset, holonomy_decomposition(reset))) == std::vector<Label>{60, 5});
  // SL(2,5) on the 24 vectors of F_5² that are not zero, 5x + y − 1: (x, y) ↦ (x + y, y) and (x, x + y).
  Maps special(2, std::vector<State>(24));
  for (State x = 0; x < 5; ++x)
    for (State y = x == 0 ? 1 : 0; y < 5; ++y) {
      special[0][5 * x + y - 1] = 5 * ((x + y) % 5) + y - 1;
      special[1][5 * x + y - 1] = 5 * x + (x + y) % 5 - 1;
    }
  const Dfa dfa = automaton(special, 24);
  CHECK(widths(with_60(dfa, holonomy_decomposition(dfa))) == std::vector<Label>{60, 2});
}

TEST_CASE("a group that is not solvable is refused by name") {
  const Dfa dfa = from_cycles({"(1 2 3)", "(3 4 5)"}, 5);
  CHECK_THROWS_WITH_AS(prime_cascade(holonomy_decomposition(dfa)), doctest::Contains("A_5"), InputError);
}

TEST_CASE("swaps: counters, registers and points of groups") {
  // Constant products need no register: all blocks of one letter are alike.
  check_widths({{{"(1 2)", "(2 3)", "(3 4)"}, 4, {4}},
                {{"(1 2 3)", "(1 2)"}, 3, {2, 2, 4, 3}},
                {{"(1 2 3 4)", "(1 2)"}, 4, {2, 2, 4, 4}},
                {{"(1 2 3 4 5)", "(1 2)"}, 5, {2, 2, 2, 4, 12, 5}},
                {{"(1 2 3 4 5)"}, 5, {2, 2, 5}},
                {{"(1 2 3)", "(3 4 5)"}, 5, {2, 2, 2, 4, 12, 5}},
                {{"(1 2 3 4 5 6 7)", "(1 2)"}, 7, {2, 2, 2, 2, 4, 12, 87, 7}}},
               swaps);
}

TEST_CASE("the limit is on the entries of all tables, and one fewer than are needed is refused") {
  const Dfa dfa = from_cycles({"(1 2 3 4 5)", "(1 2)"}, 5);
  const Cascade whole = holonomy_decomposition(dfa);
  const auto fits = [&](std::uint64_t entries) {
    try {
      swap_cascade(whole, {entries});
      return true;
    } catch (const LimitError&) {
      return false;
    }
  };
  std::uint64_t least = 0;
  while (!fits(least)) ++least;
  CHECK(least > 500);
  CHECK(least < 2000);
  CHECK_THROWS_WITH_AS(swap_cascade(whole, {least - 1}), doctest::Contains("entries"), LimitError);
}

TEST_CASE("contexts and nodes that do the same are one") {
  const Dfa dfa = from_cycles({"(1 2 3 4 5)", "(1 2)"}, 5);
  const Cascade cascade = swap_cascade(holonomy_decomposition(dfa));
  for (std::size_t k = 1; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    std::set<std::vector<Context>> rows, nodes;
    for (std::size_t c = 0; c < layer.wiring.action_of.size(); ++c) {
      std::vector<Context> row{layer.wiring.action_of[c]};
      for (Label x = 0; x < layer.width && !layer.wiring.next.empty(); ++x)
        row.push_back(layer.wiring.next[c * layer.width + x]);
      CHECK(rows.insert(row).second);
    }
    const std::vector<Context>& next = cascade.readout.next[k];
    for (auto row = next.begin(); row != next.end(); row += layer.width)
      CHECK(nodes.insert({row, row + layer.width}).second);
  }
}
