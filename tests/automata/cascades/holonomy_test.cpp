#include "krohn/automata/cascades/holonomy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "krohn/automata/cascades/skeleton.h"
#include "tests/automata/cascades/checked_cascades.h"

using namespace krohn;

namespace {

std::vector<Label> widths(const Cascade& cascade) {
  std::vector<Label> result;
  for (const CascadeLayer& layer : cascade.layers) result.push_back(layer.width);
  return result;
}

/// A letter q ↦ min(q·…) with targets that never decrease: monotone maps generate aperiodic monoids.
Dfa random_monotone(std::mt19937& random, State states, Letter letters) {
  Maps maps(letters, std::vector<State>(states));
  for (auto& map : maps) {
    for (State& image : map) image = static_cast<State>(random() % states);
    std::sort(map.begin(), map.end());
  }
  return automaton(maps, states);
}

/// Every power sequence of every product of letters must end in a fixed point: no product of letters has a cycle of
/// length above 1. By enumeration; small automata only.
bool is_aperiodic_by_enumeration(const Dfa& dfa, std::size_t max_elements, bool& decided) {
  std::set<std::vector<Point>> elements;
  std::vector<Transformation> open{Transformation::identity(dfa.states())};
  while (!open.empty()) {
    const Transformation element = open.back();
    open.pop_back();
    if (!elements.insert({element.images().begin(), element.images().end()}).second) continue;
    Transformation power = element;
    for (State i = 0; i < dfa.states(); ++i) power = power * element;
    if (power * element != power) return false;
    if (elements.size() > max_elements) {
      decided = false;
      return false;
    }
    for (Letter letter = 0; letter < dfa.letters(); ++letter) open.push_back(element * dfa.letter_map(letter));
  }
  return true;
}

}  // namespace

TEST_CASE("full and symmetric monoids") {
  for (State n = 2; n <= 7; ++n) {
    CAPTURE(n);
    const Dfa dfa = full_transformation_monoid(n);
    const Cascade cascade = checked_holonomy(dfa);
    std::vector<Label> expected;
    for (State width = n; width >= 2; --width) expected.push_back(width);
    CHECK(widths(cascade) == expected);
    if (n <= 6) require_reachable(cascade, dfa);
    const Cascade symmetric = checked_holonomy(symmetric_group(n));
    CHECK(widths(symmetric) == std::vector<Label>{n});
    CHECK(symmetric.layers.front().component == (n == 2 ? "Z_2" : "S_" + std::to_string(n)));
  }
}

TEST_CASE("modular arithmetic with precedence: two layers, Z_4 below Z_5") {
  const Cascade five = checked_holonomy(modular_arithmetic(5));
  CHECK(widths(five) == std::vector<Label>{5, 5});
  std::multiset<std::string> components;
  for (const CascadeLayer& layer : five.layers) components.insert(layer.component);
  CHECK(components == std::multiset<std::string>{"Z_4", "Z_5"});
  for (State m : {2, 3, 4, 6, 7}) {
    CAPTURE(m);
    require_reachable(checked_holonomy(modular_arithmetic(m)), modular_arithmetic(m));
  }
}

TEST_CASE("cyclic automata are one layer") {
  for (State m = 2; m <= 60; ++m) {
    const Cascade cascade = checked_holonomy(cycle(m));
    CHECK(widths(cascade) == std::vector<Label>{m});
    CHECK(cascade.layers.front().component == "Z_" + std::to_string(m));
  }
}

TEST_CASE("degenerate automata") {
  const Dfa one = automaton({{0}, {0}}, 1);
  CHECK(widths(checked_holonomy(one)) == std::vector<Label>{1});
  const Dfa no_letters = automaton({}, 3, 2);
  CHECK(decode(checked_holonomy(no_letters), checked_holonomy(no_letters).initial) == 2);
  const Dfa identities = automaton({{0, 1, 2}, {0, 1, 2}}, 3, 1);
  const Cascade still = checked_holonomy(identities);
  CHECK(decode(still, still.initial) == 1);
  const Dfa unreachable = automaton({{1, 0, 3, 2}, {0, 1, 0, 1}}, 4, 1);
  const Cascade part = checked_holonomy(unreachable);
  CHECK(widths(part) == std::vector<Label>{2});
  CHECK(decode(part, part.initial) == 1);
}

TEST_CASE("random automata up to fifteen states, and words of 10^5 letters beside the automaton") {
  std::mt19937 random(41);
  for (int round = 0; round < 60; ++round) {
    const State n = 2 + static_cast<State>(random() % 14);
    const Letter letters = 1 + static_cast<Letter>(random() % 3);
    CAPTURE(round);
    const Dfa dfa = random_automaton(random, n, letters);
    const Cascade cascade = checked_holonomy(dfa);
    if (round % 6 == 0) require_no_mismatch(cascade, dfa, random, 100'000);
  }
}

TEST_CASE("an aperiodic automaton never gets a permutation") {
  std::mt19937 random(97);
  int drawn = 0;
  for (int tries = 0; drawn < 1000 && tries < 100'000; ++tries) {
    const State n = 2 + static_cast<State>(random() % 14);
    Dfa dfa = tries % 2 == 0 ? random_monotone(random, n, 1 + static_cast<Letter>(random() % 3))
                             : random_automaton(random, 2 + n % 4, 2);
    bool decided = true;
    if (tries % 2 == 1 && !is_aperiodic_by_enumeration(dfa, 500, decided)) continue;
    ++drawn;
    const Cascade cascade = checked_holonomy(dfa);
    for (const CascadeLayer& layer : cascade.layers)
      for (const Transformation& action : layer.actions)
        if (action.is_permutation() && layer.width > 1) REQUIRE(action.is_identity());
  }
  CHECK(drawn == 1000);
}

TEST_CASE("limits are met with a clear error") {
  HolonomyOptions options;
  options.max_sets = 20;
  CHECK_THROWS_AS(holonomy_decomposition(full_transformation_monoid(6), options), LimitError);
  options = {};
  options.max_contexts = 20;
  CHECK_THROWS_AS(holonomy_decomposition(full_transformation_monoid(6), options), LimitError);
}

TEST_CASE("holonomy of long rows of states") {
  // A shift that stops at the end, and a return: the images are the ends of the row and the single states.
  for (const State states : {State{255}, State{256}, State{257}, State{300}, State{514}}) {
    CAPTURE(states);
    Maps maps(2, std::vector<State>(states, 0));
    for (State state = 0; state < states; ++state) maps[0][state] = std::min(state + 1, states - 1);
    const Dfa dfa = automaton(maps, states);
    const Cascade cascade = holonomy_decomposition(dfa);
    CHECK(cascade.layers.size() == states - 1);
    for (const CascadeLayer& layer : cascade.layers) CHECK(layer.width == 2);
    CHECK(check_emulation(cascade, dfa).holds);
  }
}

TEST_CASE("tiles are the maximal image sets inside a set, by looking at all pairs and triples") {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    const State states = 4 + static_cast<State>(random() % 7);
    Maps maps(3, std::vector<State>(states));
    for (auto& map : maps)
      for (State q = 0; q < states; ++q)
        map[q] = random() % 3 == 0 ? static_cast<State>(random() % states) : q;  // many sets, in many classes
    const Skeleton skeleton = Skeleton::of(automaton(maps, states));
    const SetOrbit& sets = skeleton.sets();
    const auto properly_inside = [&](Skeleton::Set a, Skeleton::Set b) { return a != b && sets.is_subset(a, b); };
    for (Skeleton::Set set = 0; set < sets.size(); ++set) {
      std::set<Skeleton::Set> expected;
      for (Skeleton::Set inner = 0; inner < sets.size(); ++inner) {
        if (sets.cardinality(set) == 1 || !properly_inside(inner, set)) continue;
        bool is_maximal = true;
        for (Skeleton::Set between = 0; is_maximal && between < sets.size(); ++between)
          is_maximal = !(properly_inside(inner, between) && properly_inside(between, set));
        if (is_maximal) expected.insert(inner);
      }
      const auto tiles = skeleton.tiles(set);
      REQUIRE(std::set<Skeleton::Set>(tiles.begin(), tiles.end()) == expected);
      REQUIRE(tiles.size() == expected.size());
    }
  }
}

TEST_CASE("the outline bounds the complexity before any layer is built") {
  const auto outline_of = [](const Dfa& dfa) {
    HolonomyOutline outline;
    HolonomyOptions options;
    options.outline = [&](const HolonomyOutline& known) { outline = known; };
    options.max_contexts = 1;
    CHECK_THROWS_AS(holonomy_decomposition(dfa, options), LimitError);
    return outline;
  };
  for (State n = 3; n <= 6; ++n) {
    const HolonomyOutline outline = outline_of(full_transformation_monoid(n));
    CHECK(outline.heights == n - 1);
    CHECK(outline.heights_with_groups == n - 1);
    CHECK(outline.sets == (1U << n) - 1);
    CHECK(outline.classes == n);
  }
  std::mt19937 random(9);
  for (int i = 0; i < 10; ++i) CHECK(outline_of(random_monotone(random, 6, 3)).heights_with_groups == 0);
}
