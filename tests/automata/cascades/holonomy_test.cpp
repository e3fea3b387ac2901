#include "krohn/automata/cascades/holonomy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

namespace {

/// The shape that every holonomy cascade promises, and emulation by a check that shares no code with it.
Cascade checked_holonomy(const Dfa& dfa) {
  const Cascade cascade = holonomy_decomposition(dfa);
  REQUIRE_FALSE(cascade.layers.empty());
  REQUIRE(cascade.initial.size() == cascade.layers.size());
  REQUIRE(cascade.readout.next.size() == cascade.layers.size());
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    REQUIRE(cascade.initial[k] < layer.width);
    REQUIRE((layer.width >= 2 || cascade.layers.size() == 1));
    REQUIRE(layer.wiring.next.size() ==
            (k + 1 == cascade.layers.size() ? 0 : layer.wiring.action_of.size() * layer.width));
    for (const Transformation& action : layer.actions)
      REQUIRE((action.degree() == layer.width && (action.is_permutation() || action.constant_image())));
    REQUIRE(std::set<Transformation>(layer.actions.begin(), layer.actions.end()).size() == layer.actions.size());
  }
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
  return cascade;
}

void require_reachable(const Cascade& cascade, const Dfa& dfa) {
  const EmulationResult result = check_reachable(cascade, dfa, 1'000'000);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
}

std::vector<Label> widths(const Cascade& cascade) {
  std::vector<Label> result;
  for (const CascadeLayer& layer : cascade.layers) result.push_back(layer.width);
  return result;
}

bool has_group(const Cascade& cascade) {
  return std::any_of(cascade.layers.begin(), cascade.layers.end(),
                     [](const CascadeLayer& layer) { return layer.component != "trivial"; });
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

TEST_CASE("holonomy emulates every automaton with two letters and at most four states") {
  for (State n = 1; n <= 4; ++n) for_all_automata(n, [](const Dfa& dfa) { checked_holonomy(dfa); });
}

TEST_CASE("full and symmetric monoids") {
  for (State n = 2; n <= 7; ++n) {
    CAPTURE(n);
    const Dfa dfa = full_transformation_monoid(n);
    const Cascade cascade = checked_holonomy(dfa);
    std::vector<Label> expected;
    for (State width = n; width >= 2; --width) expected.push_back(width);
    CHECK(widths(cascade) == expected);
    if (n <= 6) require_reachable(cascade, dfa);
    Maps maps(2, std::vector<State>(n));
    for (State q = 0; q < n; ++q) {
      maps[0][q] = (q + 1) % n;
      maps[1][q] = q < 2 ? 1 - q : q;
    }
    const Cascade symmetric = checked_holonomy(automaton(maps, n));
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

TEST_CASE("Tomita 1–7, from every initial state: groups only where the language has them") {
  const bool grouped[] = {false, false, true, false, true, true, false};
  for (std::size_t i = 0; i < std::size(kTomita); ++i) {
    CAPTURE(kTomita[i].language);
    const State n = static_cast<State>(kTomita[i].maps[0].size());
    for (State initial = 0; initial < n; ++initial) {
      const Dfa dfa = automaton(kTomita[i].maps, n, initial);
      const Cascade cascade = checked_holonomy(dfa);
      require_reachable(cascade, dfa);
      if (initial == 0) CHECK(has_group(cascade) == grouped[i]);
    }
  }
}

TEST_CASE("cyclic automata are one layer") {
  for (State m = 2; m <= 60; ++m) {
    Maps maps(1, std::vector<State>(m));
    for (State q = 0; q < m; ++q) maps[0][q] = (q + 1) % m;
    const Cascade cascade = checked_holonomy(automaton(maps, m));
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
  checked_holonomy(automaton({{2, 2, 2}, {0, 0, 0}}, 3, 1));
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
    if (round % 6 != 0) continue;
    std::vector<Label> labels(cascade.initial);
    State state = dfa.initial();
    for (int i = 0; i < 100'000; ++i) {
      const auto letter = static_cast<Letter>(random() % letters);
      step(cascade, letter, labels);
      state = dfa.next(state, letter);
      REQUIRE(decode(cascade, labels) == state);
    }
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

TEST_CASE("every automaton of the corpus with at most thirty states") {
  const std::string data = KROHN_TEST_DATA;
  int tried = 0;
  for (const char* folder : {"aalpy", "mata", "mlregtest"})
    for (const auto& entry : std::filesystem::directory_iterator(data + "/" + folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".txt" || entry.path().filename() == "b-hand-made-easy-aut1.mata") continue;
      LanguageOptions options;
      if (extension == ".att") options.symbols = data + "/mlregtest/alph4.txt";
      const Dfa dfa = minimise(load_language(entry.path().string(), options));
      if (dfa.states() > 30) continue;
      CAPTURE(entry.path().filename().string());
      require_reachable(checked_holonomy(dfa), dfa);
      ++tried;
    }
  CHECK(tried >= 20);
}

TEST_CASE("limits are met with a clear error") {
  HolonomyOptions options;
  options.max_sets = 20;
  CHECK_THROWS_AS(holonomy_decomposition(full_transformation_monoid(6), options), LimitError);
  options = {};
  options.max_contexts = 20;
  CHECK_THROWS_AS(holonomy_decomposition(full_transformation_monoid(6), options), LimitError);
}
