// Both decompositions on every family of automata that the project names: no step of a cascade differs from the
// automaton.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "krohn/automata/cascades/prime_cascade.h"
#include "krohn/automata/cascades/swap_cascade.h"
#include "krohn/automata/language.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/automata/cascades/checked_cascades.h"

using namespace krohn;

namespace {

/// Checked, then exhaustively over the reachable label tuples, or a long random word where there are too many.
void require_right(const Cascade& cascade, const Dfa& dfa) {
  try {
    require_reachable(cascade, dfa, 5'000);
  } catch (const LimitError&) {
    std::mt19937 random(23);
    require_no_mismatch(cascade, dfa, random, 1'000'000);
  }
}

void require_both(const Dfa& dfa) {
  require_right(checked_holonomy(dfa), dfa);
  require_right(checked_chain(dfa), dfa);
}

/// Maps that never decrease generate an aperiodic monoid; so do maps that never go up the states.
Dfa random_aperiodic(std::mt19937& random, State n, bool monotone) {
  Maps maps(1 + random() % 3, std::vector<State>(n));
  for (auto& map : maps) {
    for (State q = 0; q < n; ++q) map[q] = static_cast<State>(random() % (monotone ? n : q + 1));
    if (monotone) std::sort(map.begin(), map.end());
  }
  return automaton(maps, n, n - 1);
}

}  // namespace

TEST_CASE("both decompositions: every automaton with two letters and at most four states") {
  for (State n = 1; n <= 4; ++n)
    for_all_tables(n, 2, [](const Dfa& dfa) {
      if (dfa.letter_map(1) < dfa.letter_map(0)) return;  // the same automaton with its letters' names exchanged
      checked_holonomy(dfa);
      ChainOptions full;
      full.early_stop = false;
      require_reachable(checked_chain(dfa), dfa);
      require_reachable(checked_chain(dfa, full), dfa);
    });
}

TEST_CASE(
    "all decompositions without a start: every state has labels, and the layers see what no word from one state does") {
  const auto check = [](const Dfa& started) {
    const Dfa dfa = Dfa(started).without_start();
    const Cascade holonomy = checked_holonomy(dfa);
    for (const Cascade& cascade :
         {holonomy, checked_chain(dfa), checked(prime_cascade(holonomy), dfa), checked(swap_cascade(holonomy), dfa)})
      require_every_start(cascade, dfa);
    bool has_groups = false;
    for (const CascadeLayer& layer : holonomy.layers) has_groups = has_groups || layer.component != "trivial";
    CHECK(has_groups == (analyse(dfa).verdict("aperiodic").answer == Answer::kNo));
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  std::mt19937 random(29);
  for (int i = 0; i < 40; ++i) check(random_automaton(random, 4 + static_cast<State>(random() % 2), 2));
  // Z_2 on points 3 and 4, which no word reaches from 1.
  const Cascade hidden = holonomy_decomposition(automaton({{0, 0, 3, 2}}, 4).without_start());
  REQUIRE(hidden.layers.size() >= 1);
  CHECK(std::ranges::any_of(hidden.layers, [](const CascadeLayer& layer) { return layer.component == "Z_2"; }));
}

TEST_CASE("both decompositions: Tomita 1–7 from every initial state, with groups only where the language has them") {
  const bool grouped[] = {false, false, true, false, true, true, false};
  for (std::size_t i = 0; i < std::size(kTomita); ++i) {
    CAPTURE(kTomita[i].language);
    const State n = static_cast<State>(kTomita[i].maps[0].size());
    for (State initial = 0; initial < n; ++initial) {
      const Dfa dfa = automaton(kTomita[i].maps, n, initial);
      require_reachable(checked_chain(dfa), dfa);
      const Cascade cascade = checked_holonomy(dfa);
      require_reachable(cascade, dfa);
      const auto has_group = [](const CascadeLayer& layer) { return layer.component != "trivial"; };
      if (initial == 0) CHECK(std::ranges::any_of(cascade.layers, has_group) == grouped[i]);
    }
  }
}

TEST_CASE("both decompositions: T_n, S_n, Z_m, modular arithmetic") {
  for (State n = 2; n <= 7; ++n) {
    CAPTURE(n);
    require_both(full_transformation_monoid(n));
    require_both(symmetric_group(n));
    require_both(modular_arithmetic(n));
  }
  for (const State m : {2, 3, 5, 12, 60, 97}) {
    CAPTURE(m);
    require_both(cycle(m));
  }
}

TEST_CASE("both decompositions: monotone and other aperiodic random automata to fifteen states") {
  std::mt19937 random(31);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    require_both(random_aperiodic(random, 2 + static_cast<State>(random() % 14), round % 2 == 0));
  }
}

TEST_CASE("both decompositions: degenerate automata") {
  require_both(automaton({{0}, {0}}, 1));
  require_both(automaton({}, 3, 2));
  require_both(automaton({{0, 1, 2}, {0, 1, 2}}, 3, 1));
  require_both(automaton({{2, 2, 2}, {0, 0, 0}}, 3, 1));
  require_both(automaton({{1, 0, 3, 2}, {0, 1, 0, 1}}, 4, 1));
}

TEST_CASE("both decompositions: every automaton of the corpus with at most thirty states") {
  const std::string data = KROHN_TEST_DATA;
  int tried = 0;
  for (const char* folder : {"aalpy", "mata", "mlregtest"})
    for (const auto& entry : std::filesystem::directory_iterator(data + "/" + folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".txt") continue;
      LanguageOptions options;
      if (extension == ".att") options.symbols = data + "/mlregtest/alph4.txt";
      CAPTURE(entry.path().filename().string());
      Dfa dfa = automaton({}, 1);
      try {
        dfa = load_language(entry.path().string(), options);
      } catch (const LimitError&) {
        continue;  // determinised it is larger by far
      }
      const Dfa minimal = minimise(dfa);
      if (minimal.states() > 30) continue;
      if (dfa.states() <= 30 && dfa != minimal) require_reachable(checked_holonomy(minimal), minimal);
      require_both(dfa.states() > 30 ? minimal : dfa);
      ++tried;
    }
  CHECK(tried >= 20);
}
