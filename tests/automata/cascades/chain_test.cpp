#include <doctest/doctest.h>

#include <algorithm>

#include "tests/automata/cascades/checked_cascades.h"

using namespace krohn;

TEST_CASE("full transformation monoids: n − 1 layers of widths n … 2 and few distinct actions") {
  struct Fact {
    State n;
    std::vector<std::size_t> actions;
  };
  for (const Fact& fact : {Fact{2, {2}}, Fact{3, {3, 3}}, Fact{4, {3, 5, 3}}, Fact{5, {3, 6, 5, 3}},
                           Fact{6, {3, 7, 6, 5, 3}}, Fact{7, {3, 8, 7, 6, 5, 3}}}) {
    const State n = fact.n;
    CAPTURE(n);
    const Dfa dfa = full_transformation_monoid(n);
    const Cascade cascade = checked_chain(dfa);
    REQUIRE(cascade.layers.size() == n - 1);
    for (State k = 0; k < n - 1; ++k) CHECK(cascade.layers[k].width == n - k);
    CHECK(cascade.alphabet_sizes() == fact.actions);
    if (n <= 6) require_reachable(cascade, dfa);
  }
  const Cascade t5 = chain_decomposition(full_transformation_monoid(5));
  CHECK(t5.layers[0].component == "S_5");
  CHECK(t5.layers[3].component == "Z_2");
}

TEST_CASE("modular arithmetic with precedence: the early stop saves the last group") {
  ChainOptions full;
  full.early_stop = false;
  CHECK(checked_chain(modular_arithmetic(5), full).layers.size() == 24);
  const Dfa dfa = modular_arithmetic(5);
  const Cascade cascade = checked_chain(dfa);
  CHECK(cascade.layers.size() == 21);
  CHECK(cascade.layers.back().width == 5);
  CHECK(cascade.layers.back().component == "Z_5");
  const Dfa small = modular_arithmetic(3);
  require_reachable(checked_chain(small), small);
}

TEST_CASE("a permutation automaton is one layer, and so is one of constants and permutations") {
  const Dfa z100 = [] {
    std::vector<State> plus(100);
    for (State q = 0; q < 100; ++q) plus[q] = (q + 1) % 100;
    return automaton({plus, std::vector<State>(100, 7)}, 100);
  }();
  const Cascade cascade = checked_chain(z100);
  CHECK(cascade.layers.size() == 1);
  CHECK(cascade.layers[0].width == 100);
  CHECK(cascade.layers[0].component == "Z_100");
}

TEST_CASE("more points than one machine word") {
  // A counter that saturates at 69: the chain removes one state a layer.
  constexpr State n = 70;
  std::vector<State> up(n), down(n);
  for (State q = 0; q < n; ++q) up[q] = std::min(q + 1, n - 1), down[q] = q == 0 ? 0 : q - 1;
  const Cascade cascade = checked_chain(automaton({up, down}, n, 35));
  CHECK(cascade.layers.size() <= n - 1);
}

TEST_CASE("degenerate automata") {
  SUBCASE("one state") { CHECK(checked_chain(automaton({{0}, {0}}, 1)).layers.front().width == 1); }
  SUBCASE("no letters") { CHECK(checked_chain(automaton({}, 3, 2)).layers.size() == 1); }
  SUBCASE("all letters the identity: only the initial state is reachable") {
    const Dfa dfa = automaton({{0, 1, 2}, {0, 1, 2}}, 3, 1);
    const Cascade cascade = checked_chain(dfa);
    CHECK(cascade.layers.front().width == 1);
    CHECK(decode(cascade, cascade.initial) == 1);
  }
  SUBCASE("constants only") {
    const Cascade cascade = checked_chain(automaton({{2, 2, 2}, {1, 1, 1}}, 3));
    CHECK(cascade.layers.size() == 1);
    CHECK(cascade.layers[0].component == "trivial");
  }
  SUBCASE("unreachable states are dropped") {
    const Cascade cascade = checked_chain(automaton({{1, 0, 0, 3}, {0, 1, 3, 2}}, 4));
    CHECK(cascade.layers.size() == 1);
    CHECK(cascade.layers[0].width == 2);
  }
  SUBCASE("a first state that is never entered again") {
    const Dfa dfa = automaton({{1, 1, 2}, {2, 2, 1}}, 3);
    require_reachable(checked_chain(dfa), dfa);
  }
}

TEST_CASE("random automata with up to ten states") {
  std::mt19937 random(20260801);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const State n = 2 + static_cast<State>(random() % 9);
    const Dfa dfa = random_automaton(random, n, 1 + static_cast<Letter>(random() % 4));
    const Cascade cascade = checked_chain(dfa);
    if (n <= 6) require_reachable(cascade, dfa);
  }
}

TEST_CASE("seven random states, four letters: about six layers on average") {
  std::mt19937 random(7);
  double layers = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds;) {
    const Dfa dfa = random_automaton(random, 7, 4);
    if (reachable(dfa) != 7) continue;
    layers += static_cast<double>(checked_chain(dfa).layers.size());
    ++round;
  }
  CHECK(layers / kRounds == doctest::Approx(6.0).epsilon(0.02));
}

TEST_CASE("long random words, stepping beside the automaton") {
  std::mt19937 random(11);
  for (const Dfa& dfa : {modular_arithmetic(5), full_transformation_monoid(9), random_automaton(random, 12, 3)})
    require_no_mismatch(chain_decomposition(dfa), dfa, random, 100'000);
}

TEST_CASE("the limit on contexts is met with a clear error") {
  ChainOptions options;
  options.max_contexts = 100;
  CHECK_THROWS_AS(chain_decomposition(full_transformation_monoid(7), options), LimitError);
  options.max_contexts = 400;
  CHECK_NOTHROW(chain_decomposition(full_transformation_monoid(7), options));
}
