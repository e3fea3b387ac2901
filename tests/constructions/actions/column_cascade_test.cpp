#include "krohn/constructions/actions/column_cascade.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/cascades/prime_cascade.h"
#include "krohn/automata/cascades/swap_cascade.h"
#include "krohn/groups/error.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

Cascade columns_of(const Dfa& dfa) {
  const TrackedStates tracked = tracked_states(dfa);
  return column_cascade(dfa, tracked, best_based_action(dfa, tracked));
}

/// The columns emulate the automaton, and so they do cut into resets and swaps.
Cascade checked(const Dfa& dfa) {
  const Cascade columns = columns_of(dfa);
  const EmulationResult plain = check_emulation(columns, dfa);
  REQUIRE_MESSAGE(plain.holds, plain.counterexample);
  const Cascade swaps = swap_cascade(columns);
  const EmulationResult cut = check_emulation(swaps, dfa);
  REQUIRE_MESSAGE(cut.holds, cut.counterexample);
  return swaps;
}

/// The group that the letters generate, acting on itself.
Dfa word_problem_of(const std::vector<Permutation>& letters) {
  const auto group = GroupElements::enumerate(PermutationGroup::from_generators(letters[0].degree(), letters));
  std::vector<std::vector<State>> maps(letters.size(), std::vector<State>(group.size()));
  for (ElementIndex element = 0; element < group.size(); ++element)
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
      maps[letter][element] = group.times_generator(element, letter);
  return automaton_of_maps(maps);
}

std::vector<Permutation> all_permutations(Point degree) {
  std::vector<Permutation> all;
  std::vector<Point> images(degree);
  for (Point point = 0; point < degree; ++point) images[point] = point;
  do all.push_back(Permutation::from_images(images));
  while (std::ranges::next_permutation(images).found);
  return all;
}

std::vector<Label> widths(const Cascade& cascade) {
  std::vector<Label> result;
  for (const CascadeLayer& layer : cascade.layers) result.push_back(layer.width);
  return result;
}

}  // namespace

TEST_CASE("the group of every two permutations of at most four points, and both on the points") {
  for (Point degree = 1; degree <= 4; ++degree)
    for (const Permutation& a : all_permutations(degree))
      for (const Permutation& b : all_permutations(degree)) {
        checked(word_problem_of({a, b}));
        checked(automaton_of_maps({{a.images().begin(), a.images().end()}, {b.images().begin(), b.images().end()}}));
      }
}

TEST_CASE("named groups: a register for each half of a block, and points of a base") {
  CHECK(widths(checked(word_problem("S5", "transpositions"))) == std::vector<Label>{5, 5, 5, 5});
  CHECK(widths(checked(word_problem("S5", "standard"))) == std::vector<Label>{2, 2, 2, 4, 12, 5, 5, 5, 5});
  CHECK(widths(checked(word_problem("S3", "all"))) == std::vector<Label>{2, 6, 6, 3, 3});
  CHECK(widths(checked(word_problem("Z2xZ4", "standard"))).size() > 2);
  for (const char* name : {"D4", "Q8", "A4", "Z6", "Z12", "A5"}) checked(word_problem(name, "standard"));
}

TEST_CASE("of the columns and the prime layers, whichever is cut into fewer layers") {
  struct Fact {
    const char *name, *letters;
    std::vector<Label> widths;
  };
  for (const Fact& fact : {Fact{"S4", "all", {2, 2, 3, 3, 3, 2, 2}},  // prime layers
                           {"S4", "standard", {2, 2, 4, 4, 4, 4}},    // columns
                           {"S4", "transpositions", {4, 4, 4}}}) {
    CAPTURE(fact.name);
    const Dfa dfa = word_problem(fact.name, fact.letters);
    const Cascade columns = columns_of(dfa), primes = prime_cascade(holonomy_decomposition(dfa));
    const Cascade* const both[] = {&columns, &primes};
    const Cascade smallest = smallest_swap_cascade(both);
    CHECK(widths(smallest) == fact.widths);
    CHECK(check_emulation(smallest, dfa).holds);
    CHECK(smallest.layers.size() == std::min(swap_cascade(columns).layers.size(), swap_cascade(primes).layers.size()));
  }
  // Past the limit of one, the other is taken; past both, the first one's limit is what is said.
  const Dfa s4 = word_problem("S4", "all");
  const Cascade columns = columns_of(s4), primes = prime_cascade(holonomy_decomposition(s4));
  const Cascade* const columns_first[] = {&columns, &primes};
  CHECK_THROWS_AS(swap_cascade(columns, {5000}), LimitError);
  CHECK(widths(smallest_swap_cascade(columns_first, {5000})) == widths(swap_cascade(primes)));
  CHECK_THROWS_WITH_AS(smallest_swap_cascade(columns_first, {10}), doctest::Contains("entries"), LimitError);
  CHECK_THROWS_AS(smallest_swap_cascade({}), InputError);
}

TEST_CASE("one state, and letters that do nothing") {
  CHECK(widths(checked(counter(1, {0, 0}))) == std::vector<Label>{1});
  CHECK(widths(checked(counter(3, {0, 0}))) == std::vector<Label>{1});
}
