#include "krohn/automata/cascades/prime_cascade.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/groups/base/error.h"
#include "tests/automata/cascades/small_cascades.h"

using namespace krohn;

namespace {

/// Resets or swaps; and the right automaton, by a check that shares no code.
Cascade checked(const Dfa& dfa, const Cascade& whole) {
  const Cascade cascade = swap_cascade(whole);
  for (const CascadeLayer& layer : cascade.layers) {
    bool resets = true, swaps = true;
    for (const Transformation& action : layer.actions) {
      resets = resets && (action.is_identity() || action.constant_image());
      swaps = swaps && action.is_permutation() && action.to_permutation().reflection_length() <= 1;
    }
    REQUIRE((resets || swaps));
  }
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
  return cascade;
}

}  // namespace

TEST_CASE("every automaton with two letters and at most three states, and many of four, by both decompositions") {
  check_small_automata(20, [](const Dfa& dfa, const Cascade& whole) { checked(dfa, whole); });
}

TEST_CASE("counters, registers and points of groups") {
  struct Fact {
    std::initializer_list<const char*> letters;
    Point degree;
    std::vector<Label> widths;
  };
  // Constant products need no register: all blocks of one letter are alike.
  const Fact facts[] = {{{"(1 2)", "(2 3)", "(3 4)"}, 4, {4}},
                        {{"(1 2 3)", "(1 2)"}, 3, {2, 2, 4, 3}},
                        {{"(1 2 3 4)", "(1 2)"}, 4, {2, 2, 4, 4}},
                        {{"(1 2 3 4 5)", "(1 2)"}, 5, {2, 2, 2, 4, 12, 5}},
                        {{"(1 2 3 4 5)"}, 5, {2, 2, 5}},
                        {{"(1 2 3)", "(3 4 5)"}, 5, {2, 2, 2, 4, 12, 5}},
                        {{"(1 2 3 4 5 6 7)", "(1 2)"}, 7, {2, 2, 2, 2, 4, 12, 87, 7}}};
  for (const Fact& fact : facts) {
    CAPTURE(*fact.letters.begin());
    const Dfa dfa = from_cycles(fact.letters, fact.degree);
    CHECK(widths(checked(dfa, holonomy_decomposition(dfa))) == fact.widths);
  }
}

TEST_CASE("modular arithmetic: groups beside constants") {
  for (State m = 2; m <= 7; ++m) {
    CAPTURE(m);
    const Dfa dfa = modular_arithmetic(m);
    checked(dfa, holonomy_decomposition(dfa));
  }
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
