// Both decompositions on every family of automata that the project names: no step of a cascade differs from the
// automaton.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

namespace {

/// The induction over all label tuples, which is a proof; then exhaustively over the reachable tuples, or a long random
/// word where there are too many.
void require_no_mismatch(const Cascade& cascade, const Dfa& dfa) {
  const EmulationResult proved = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(proved.holds, proved.counterexample);
  try {
    const EmulationResult reached = check_reachable(cascade, dfa, 5'000);
    REQUIRE_MESSAGE(reached.holds, reached.counterexample);
    return;
  } catch (const LimitError&) {
  }
  std::mt19937 random(23);
  std::vector<Label> labels(cascade.initial);
  State state = dfa.initial();
  std::uint64_t mismatches = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto letter = static_cast<Letter>(random() % dfa.letters());
    step(cascade, letter, labels);
    state = dfa.next(state, letter);
    mismatches += decode(cascade, labels) != state;
  }
  REQUIRE(mismatches == 0);
}

void require_both(const Dfa& dfa) {
  require_no_mismatch(holonomy_decomposition(dfa), dfa);
  require_no_mismatch(chain_decomposition(dfa), dfa);
}

Dfa symmetric_group(State n) {
  Maps maps(2, std::vector<State>(n));
  for (State q = 0; q < n; ++q) {
    maps[0][q] = (q + 1) % n;
    maps[1][q] = q < 2 ? 1 - q : q;
  }
  return automaton(maps, n);
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

TEST_CASE("both decompositions: T_n, S_n, Z_m, Tomita, modular arithmetic") {
  for (State n = 2; n <= 7; ++n) {
    CAPTURE(n);
    require_both(full_transformation_monoid(n));
    require_both(symmetric_group(n));
    require_both(modular_arithmetic(n));
  }
  for (const State m : {2, 3, 5, 12, 60, 97}) {
    CAPTURE(m);
    Maps maps(1, std::vector<State>(m));
    for (State q = 0; q < m; ++q) maps[0][q] = (q + 1) % m;
    require_both(automaton(maps, m));
  }
  for (const Tomita& tomita : kTomita) {
    CAPTURE(tomita.language);
    require_both(automaton(tomita.maps, static_cast<State>(tomita.maps[0].size())));
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
      if (dfa.states() > 30) dfa = minimise(dfa);
      if (dfa.states() > 30) continue;
      require_both(dfa);
      ++tried;
    }
  CHECK(tried >= 20);
}
