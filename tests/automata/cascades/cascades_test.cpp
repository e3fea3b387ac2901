#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/emulation.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/language.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/permutations/permutation.h"
#include "tests/algebra_campaign.h"
#include "tests/automata/bestiary.h"
#include "tests/automata/cascades/checked_cascades.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// A set/reset flag with a toggle that only works while the flag above is set: two layers made by hand.
/// Letters: s (set), r (reset), t (toggle). States 0 = (off, 0), 1 = (off, 1), 2 = (on, 0), 3 = (on, 1).
Dfa gated_toggle() {
  const Alphabet alphabet = Alphabet::of_characters("srt");
  return Dfa::acceptor(alphabet, {2, 0, 0, 3, 1, 1, 2, 0, 3, 3, 1, 2}, 0, {false, false, false, true});
}

Cascade gated_toggle_cascade() {
  Cascade cascade{.alphabet = Alphabet::of_characters("srt")};
  CascadeLayer flag{2,
                    {Transformation::constant(2, 1), Transformation::constant(2, 0), Transformation::identity(2)},
                    {{0, 1, 2}, {0, 0, 0, 0, 0, 1}},
                    "trivial"};
  CascadeLayer toggle{2, {Transformation::identity(2), Transformation::from_images({1, 0})}, {{0, 1}, {}}, "Z_2"};
  cascade.layers = {flag, toggle};
  cascade.initial = {0, 0};
  cascade.readout.next = {{0, 1}, {0, 1, 2, 3}};
  cascade.method = "by hand";
  return cascade;
}

std::vector<Transformation> from_cycles(std::initializer_list<const char*> generators, Point degree) {
  std::vector<Transformation> result;
  for (const char* text : generators) {
    const Permutation p = parse_cycles(text, degree);
    result.push_back(Transformation::from_images({p.images().begin(), p.images().end()}));
  }
  return result;
}

struct Entry {
  std::uint32_t* number;
  std::size_t bound;
};

/// All numbers in the tables of a cascade with what they must stay below, for mutation.
std::vector<Entry> entries(Cascade& cascade, const Dfa& dfa) {
  std::vector<Entry> result;
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    CascadeLayer& layer = cascade.layers[k];
    const bool last = k + 1 == cascade.layers.size();
    for (auto& entry : layer.wiring.action_of) result.push_back({&entry, layer.actions.size()});
    for (auto& entry : layer.wiring.next) result.push_back({&entry, cascade.layers[k + 1].wiring.action_of.size()});
    for (auto& entry : cascade.readout.next[k])
      result.push_back(
          {&entry, last ? dfa.states() : cascade.readout.next[k + 1].size() / cascade.layers[k + 1].width});
    result.push_back({&cascade.initial[k], layer.width});
  }
  return result;
}

}  // namespace

TEST_CASE("a cascade made by hand steps, decodes and is proved") {
  const Dfa dfa = gated_toggle();
  const Cascade cascade = gated_toggle_cascade();
  CHECK(alphabet_sizes(cascade) == std::vector<std::size_t>{3, 2});
  std::vector<Label> labels = cascade.initial;
  State state = dfa.initial();
  for (const Letter letter : dfa.alphabet().parse_word("ttsttrtstsrt")) {
    step(cascade, letter, labels);
    state = dfa.next(state, letter);
    CHECK(decode(cascade, labels) == state);
  }
  CHECK(check_emulation(cascade, dfa).holds);
  require_reachable(cascade, dfa);
}

TEST_CASE("wiring the post label where the pre label belongs is caught") {
  // The erratum to Theorem 4 (MATH.md §3): with the flag's new label the toggle would act on the letter after "s" only.
  Cascade cascade = gated_toggle_cascade();
  cascade.layers[0].wiring.next = {1, 1, 0, 0, 0, 1};
  const EmulationResult result = check_emulation(cascade, gated_toggle());
  CHECK_FALSE(result.holds);
  CHECK(test::contains(result.counterexample, "\"s\""));
}

TEST_CASE("every wrong entry and every wrong action is caught by both checks") {
  const Dfa dfa = gated_toggle();
  Cascade cascade = gated_toggle_cascade();
  const auto refuse = [&] {
    for (const EmulationResult& result :
         {check_emulation(cascade, dfa), explore_emulation(label_machine(cascade), dfa)}) {
      CHECK_FALSE(result.holds);
      CHECK_FALSE(result.counterexample.empty());
    }
  };
  for (const auto& [number, bound] : entries(cascade, dfa)) {
    const std::uint32_t good = *number;
    for (std::uint32_t wrong = 0; wrong < bound; ++wrong) {
      if (wrong == good) continue;
      *number = wrong;
      refuse();
    }
    *number = good;
  }
  for (CascadeLayer& layer : cascade.layers)
    for (Transformation& action : layer.actions)
      for (const Label changed : {0U, 1U}) {
        std::vector<Point> images(action.images().begin(), action.images().end());
        images[changed] = 1 - images[changed];
        const Transformation good = std::exchange(action, Transformation::from_images(images));
        refuse();
        action = good;
      }
}

TEST_CASE("a table trimmed too much does not pass") {
  const Dfa dfa = gated_toggle();
  Cascade cascade = gated_toggle_cascade();
  for (CascadeLayer& layer : cascade.layers)
    for (Context& entry : layer.wiring.next) {
      const Context good = std::exchange(entry, kNoContext);
      CHECK_FALSE(check_emulation(cascade, dfa).holds);
      CHECK_FALSE(explore_emulation(label_machine(cascade), dfa).holds);
      entry = good;
    }
  for (auto& level : cascade.readout.next)
    for (Context& entry : level) {
      const Context good = std::exchange(entry, kNoContext);
      CHECK_FALSE(check_emulation(cascade, dfa).holds);
      entry = good;
    }
}

TEST_CASE("a letter or labels outside what words reach are an error, not a wrong answer") {
  Cascade cascade = gated_toggle_cascade();
  cascade.layers[0].wiring.next[5] = kNoContext;
  std::vector<Label> labels{1, 0};
  CHECK_THROWS_AS(step(cascade, 2, labels), Error);
  cascade.readout.next[1][3] = kNoContext;
  CHECK_THROWS_AS(decode(cascade, std::vector<Label>{1, 1}), Error);
}

TEST_CASE("limits of the checks") {
  const Cascade cascade = gated_toggle_cascade();
  CHECK_THROWS_WITH_AS(check_emulation(cascade, gated_toggle(), 3), doctest::Contains("3 triples"), LimitError);
  CHECK_THROWS_WITH_AS(explore_emulation(label_machine(cascade), gated_toggle(), 2), doctest::Contains("2 tuples"),
                       LimitError);
}

TEST_CASE("components are named when that is certain") {
  struct Fact {
    std::vector<Transformation> actions;
    const char* name;
  };
  const Fact facts[] = {
      {{}, "trivial"},
      {from_cycles({"()"}, 3), "trivial"},
      {{Transformation::constant(4, 1), Transformation::constant(4, 2)}, "trivial"},
      {from_cycles({"(1 2)"}, 5), "Z_2"},
      {from_cycles({"(1 2 3)"}, 5), "Z_3"},
      {from_cycles({"(1 2 3)(4 5)"}, 5), "Z_6"},
      {from_cycles({"(1 2 3)", "(4 5)"}, 5), "Z_6"},
      {from_cycles({"(1 2)", "(3 4)"}, 4), "V_4"},
      {from_cycles({"(1 2)", "(1 2 3)"}, 4), "S_3"},
      {from_cycles({"(1 2 3)", "(2 3 4)"}, 5), "A_4"},
      {from_cycles({"(1 2 3 4)", "(1 3)"}, 4), "D_4"},
      {from_cycles({"(1 2)", "(1 2 3 4 5 6)"}, 6), "S_6"},
      {from_cycles({"(1 2)", "(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25)"}, 25), "S_25"},
      {from_cycles({"(1 2 3)", "(2 3 4 5 6 7 8 9)(10 11)"}, 11), "S_9"},
      {from_cycles({"(1 2 3 4 5 6 7 8 9 10 11)", "(3 7 11 8)(4 10 5 6)"}, 11), "M_11"},
  };
  for (const Fact& fact : facts) {
    CAPTURE(fact.name);
    CHECK(component_name(fact.actions) == fact.name);
  }
}

TEST_CASE("modular arithmetic with precedence: the early stop saves the last group") {
  CHECK(checked_chain(named_language("modarith5"), ChainOptions{.early_stop = false}).layers.size() == 24);
  const Dfa dfa = named_language("modarith5");
  const Cascade cascade = checked_chain(dfa);
  CHECK(cascade.layers.size() == 21);
  CHECK(cascade.layers.back().width == 5);
  CHECK(cascade.layers.back().component == "Z_5");
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
  for (const Dfa& dfa : {named_language("modarith5"), named_language("T9"), random_automaton(random, 12, 3)})
    require_no_mismatch(chain_decomposition(dfa), dfa, random, 100'000);
}

TEST_CASE("the limit on contexts is met with a clear error") {
  ChainOptions options{.max_contexts = 100};
  CHECK_THROWS_AS(chain_decomposition(named_language("T7"), options), LimitError);
  options.max_contexts = 400;
  CHECK_NOTHROW(chain_decomposition(named_language("T7"), options));
}

// Both decompositions on every family of automata that the project names: no step of a cascade differs from the
// automaton.

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
      const ChainOptions full{.early_stop = false};
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
  for (State i = 0; i < std::size(grouped); ++i) {
    CAPTURE(i);
    const Dfa tomita = family("tomita", i + 1);
    for (State initial = 0; initial < tomita.states(); ++initial) {
      const Dfa dfa = Dfa::acceptor(tomita.alphabet(), {tomita.table().begin(), tomita.table().end()}, initial,
                                    std::vector<bool>(tomita.states()));
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
    // n − 1 layers of widths n … 2, and few distinct actions.
    const Dfa full = family("T", n), symmetric = named_language("S" + std::to_string(n) + "/points");
    std::vector<Label> descending;
    std::vector<std::size_t> actions{n == 2 ? 2U : 3U};
    for (State width = n; width >= 2; --width) descending.push_back(width);
    for (State width = n; width >= 3; --width) actions.push_back(width + (width > 3 ? 1U : 0U));
    const Cascade chain = checked_chain(full), holonomy = checked_holonomy(full), one = checked_holonomy(symmetric);
    CHECK(widths(chain) == descending);
    CHECK(alphabet_sizes(chain) == actions);
    CHECK(widths(holonomy) == descending);
    CHECK(widths(one) == std::vector<Label>{n});
    for (const Cascade& cascade : {chain, one})
      CHECK(cascade.layers.front().component == (n == 2 ? "Z_2" : "S_" + std::to_string(n)));
    CHECK(chain.layers.back().component == "Z_2");
    require_right(chain, full);
    require_right(holonomy, full);
    require_both(symmetric);
    require_both(family("modarith", n));
  }
  for (State m = 2; m <= 60; ++m) {
    CAPTURE(m);
    const Cascade cascade = checked_holonomy(family("counter", m));
    CHECK(widths(cascade) == std::vector<Label>{m});
    CHECK(cascade.layers.front().component == "Z_" + std::to_string(m));
  }
  for (const State m : {2, 3, 5, 12, 60, 97}) {
    CAPTURE(m);
    require_both(family("counter", m));
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
  struct Fact {
    const char* what;
    Dfa dfa;
    std::vector<Label> chain, holonomy;
  };
  for (const Fact& fact :
       {Fact{"one state", automaton({{0}, {0}}, 1), {1}, {1}},
        {"no letters", automaton({}, 3, 2), {1}, {1}},
        {"the identity: only one state is reachable", automaton({{0, 1, 2}, {0, 1, 2}}, 3, 1), {1}, {1}},
        {"constants", automaton({{2, 2, 2}, {1, 1, 1}}, 3), {3}, {3}},
        {"unreachable states", automaton({{1, 0, 3, 2}, {0, 1, 0, 1}}, 4, 1), {2}, {2}},
        {"a group out of reach", automaton({{1, 0, 0, 3}, {0, 1, 3, 2}}, 4), {2}, {2}},
        {"a first state that is never entered again", automaton({{1, 1, 2}, {2, 2, 1}}, 3), {2, 2}, {2, 2}}}) {
    CAPTURE(fact.what);
    const Cascade chain = checked_chain(fact.dfa), holonomy = checked_holonomy(fact.dfa);
    CHECK(widths(chain) == fact.chain);
    CHECK(widths(holonomy) == fact.holonomy);
    for (const Cascade& cascade : {chain, holonomy}) {
      require_reachable(cascade, fact.dfa);
      CHECK(decode(cascade, cascade.initial) == fact.dfa.initial());
    }
  }
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

namespace {

Dfa constant_automaton(State states, Letter letters, State target) {
  return Dfa::acceptor(Alphabet::of_characters(std::string("abcdef").substr(0, letters)),
                       std::vector<State>(std::size_t{states} * letters, target), 0, std::vector<bool>(states));
}

}  // namespace

TEST_CASE("states show labels; a state that shows none may exist as long as nothing reaches it") {
  // Three states for the labels 0, 1: states 0 and 2 both show 0.
  const std::vector<std::vector<Context>> readout{{0, 1}};
  const Dfa parity = Dfa::acceptor(Alphabet::of_characters("a"), {1, 0}, 0, {false, true});
  LabelLayer layer{4, 0, 2, {0, 1, 0, kNoLabel}, {{1, 2, 1, 3}}, {0}, {}};
  LabelMachine machine{{layer}, readout};
  CHECK(prove_emulation(machine, parity).holds);
  CHECK(explore_emulation(machine, parity).checked == 3);
  machine.layers[0].moves[0][2] = 3;  // now the third state leads to the one without a label
  CHECK_FALSE(prove_emulation(machine, parity).holds);
  CHECK_FALSE(explore_emulation(machine, parity).holds);
}

TEST_CASE("what no word reaches breaks the induction but not the search") {
  const std::vector<std::vector<Context>> readout{{0, 1, 2}};
  const Dfa parity = Dfa::acceptor(Alphabet::of_characters("a"), {1, 0, 2}, 0, {false, true, false});
  LabelMachine machine{{{3, 0, 3, {}, {{1, 0, 0}}, {0}, {}}}, readout};
  CHECK_FALSE(prove_emulation(machine, parity).holds);  // label 2 is state 2, which stays; the machine leaves it
  CHECK(explore_emulation(machine, parity).holds);
}

TEST_CASE("no layers at all: right for one state, wrong for more") {
  const LabelMachine none;
  CHECK(prove_emulation(none, constant_automaton(1, 2, 0)).holds);
  CHECK(explore_emulation(none, constant_automaton(1, 2, 0)).holds);
  CHECK_FALSE(prove_emulation(none, constant_automaton(2, 2, 1)).holds);
  CHECK_FALSE(explore_emulation(none, constant_automaton(2, 2, 1)).holds);
}

// The groups of holonomy cascades divide the monoid: classes of one height whose groups must not mix, and every small
// automaton, by brute force.

namespace {

std::vector<std::string> groups_of(const Cascade& cascade) {
  std::vector<std::string> groups;
  for (const CascadeLayer& layer : cascade.layers)
    if (layer.component != "trivial") groups.push_back(layer.component);
  return groups;
}

}  // namespace

TEST_CASE("inequivalent classes of one height keep their groups: what shared labels would generate is not there") {
  struct Fact {
    Maps maps;
    std::vector<std::string> groups;
    std::vector<Label> primes;  ///< the orders that the groups have as prime factors
  };
  const Fact facts[] = {
      // On shared labels these made S_4, S_5 and S_6.
      {{{1, 2, 4, 0, 0}, {3, 1, 3, 2, 1}}, {"Z_4", "Z_2", "Z_2"}, {2}},
      {{{1, 2, 3, 4, 0, 0, 0}, {6, 6, 6, 6, 6, 6, 5}, {5, 6, 5, 5, 5, 5, 5}, {5, 6, 5, 6, 5, 0, 1}},
       {"Z_5", "Z_2", "Z_2"},
       {2, 5}},
      {{{0, 5, 5, 5, 0, 1, 0}, {6, 2, 6, 4, 3, 3, 1}}, {"Z_6", "Z_2"}, {2, 3}},
  };
  for (const Fact& fact : facts) {
    const Dfa dfa = automaton(fact.maps, static_cast<State>(fact.maps[0].size()));
    CAPTURE(described(dfa));
    const Cascade cascade = holonomy_decomposition(dfa);
    CHECK(check_emulation(cascade, dfa).holds);
    auto groups = groups_of(cascade), expected = fact.groups;
    std::sort(groups.begin(), groups.end());
    std::sort(expected.begin(), expected.end());
    for (const std::string& group : groups) {
      CAPTURE(group);
      CHECK(std::find(expected.begin(), expected.end(), group) != expected.end());
    }
    std::set<Label> primes;
    const Cascade primary = prime_cascade(cascade, {1'000'000, 0});
    CHECK(check_emulation(primary, dfa).holds);
    for (const CascadeLayer& layer : primary.layers)
      if (layer.component != "trivial") primes.insert(layer.width);
    CHECK(primes == std::set<Label>(fact.primes.begin(), fact.primes.end()));
  }
}

TEST_CASE("classes of one height share a layer exactly when one group contains the others") {
  // Q = {0,1,2} ∪ {3,4,5}: some letters move the first block and some the second; the others crush one block into a
  // point of the other. Neither block comes from the other: two classes of height 1, each with the group of its
  // letters.
  using Letters = std::vector<std::vector<State>>;
  const std::vector<State> three{1, 2, 0}, low{1, 0, 2}, high{0, 2, 1};
  const auto automaton_of = [](const Letters& first, const Letters& second) {
    Maps maps;
    for (const auto& map : first) maps.push_back({map[0], map[1], map[2], 3, 4, 5});
    for (const auto& map : second) maps.push_back({0, 1, 2, 3 + map[0], 3 + map[1], 3 + map[2]});
    for (State point = 0; point < 3; ++point) {
      maps.push_back({0, 1, 2, point, point, point});
      maps.push_back({3 + point, 3 + point, 3 + point, 3, 4, 5});
    }
    return automaton(maps, 6);
  };
  struct Fact {
    Letters first, second;
    std::vector<std::string> groups;  ///< of the layers, in order
  };
  const Fact facts[] = {
      {{}, {}, {}},
      {{three}, {}, {"Z_3"}},
      {{three}, {three}, {"Z_3"}},
      {{low}, {low}, {"Z_2"}},
      {{low}, {high}, {"Z_2", "Z_2"}},
      {{three}, {low}, {"Z_3", "Z_2"}},
      {{three, low}, {three}, {"S_3"}},
      {{three}, {three, low}, {"S_3"}},
      {{three, low}, {high}, {"S_3"}},
  };
  for (const Fact& fact : facts) {
    const Dfa dfa = automaton_of(fact.first, fact.second);
    CAPTURE(described(dfa));
    const Cascade cascade = holonomy_decomposition(dfa);
    CHECK(check_emulation(cascade, dfa).holds);
    require_reachable(cascade, dfa);
    CHECK(groups_of(cascade) == fact.groups);
    const Skeleton skeleton = Skeleton::of(dfa);
    CHECK(holonomy_layers(skeleton).count == (fact.groups.size() == 2 ? 3 : 2));
  }
}

TEST_CASE("the groups of the layers divide the monoid: every automaton of two letters and at most three states") {
  Tally tally;
  const auto check = [&](const Dfa& dfa) {
    if (const Dfa reachable = canonical(dfa); reachable.states() == dfa.states()) check_cascades(reachable, tally);
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.groups > 100);
}

TEST_CASE("the groups of the layers divide the monoid: random automata of four to seven states") {
  Tally tally;
  std::mt19937 random(5);
  for (int drawn = 0; drawn < 600; ++drawn)
    check_cascades(canonical(random_automaton(random, 4 + static_cast<State>(random() % 4), 2)), tally, 200);
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.groups > 50);
  MESSAGE(tally.groups << " groups, " << tally.skipped << " monoids too large");
}

TEST_CASE("modular arithmetic with precedence: two layers, Z_4 below Z_5") {
  const Cascade five = checked_holonomy(named_language("modarith5"));
  CHECK(widths(five) == std::vector<Label>{5, 5});
  std::multiset<std::string> components;
  for (const CascadeLayer& layer : five.layers) components.insert(layer.component);
  CHECK(components == std::multiset<std::string>{"Z_4", "Z_5"});
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
  for (int drawn = 0; drawn < 1000; ++drawn) {
    const Dfa dfa = random_aperiodic(random, 2 + static_cast<State>(random() % 14), drawn % 2 == 0);
    for (const CascadeLayer& layer : checked_holonomy(dfa).layers)
      for (const Transformation& action : layer.actions)
        if (action.is_permutation() && layer.width > 1) REQUIRE(action.is_identity());
  }
}

TEST_CASE("limits are met with a clear error") {
  HolonomyOptions options{.max_sets = 20};
  CHECK_THROWS_AS(holonomy_decomposition(named_language("T6"), options), LimitError);
  options = {};
  options.max_contexts = 20;
  CHECK_THROWS_AS(holonomy_decomposition(named_language("T6"), options), LimitError);
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
    CHECK_THROWS_AS(
        holonomy_decomposition(
            dfa, HolonomyOptions{.max_contexts = 1, .outline = [&](const HolonomyOutline& known) { outline = known; }}),
        LimitError);
    return outline;
  };
  for (State n = 3; n <= 6; ++n) {
    const HolonomyOutline outline = outline_of(family("T", n));
    CHECK(outline.heights == n - 1);
    CHECK(outline.heights_with_groups == n - 1);
    CHECK(outline.sets == (1U << n) - 1);
    CHECK(outline.classes == n);
  }
  std::mt19937 random(9);
  for (int i = 0; i < 30; ++i)
    if (const Dfa dfa = random_aperiodic(random, 6, true).without_start(); dfa.letters() == 3)
      CHECK(outline_of(dfa).heights_with_groups == 0);
}

namespace {

/// A counter of `period` positions first (none for 1), resets below, and the right automaton, by a check that shares no
/// code.
void require_position_cascade(const Dfa& dfa, Label period) {
  const Cascade cascade = position_cascade(dfa);
  const std::size_t counters = period == 1 ? 0 : 1;
  if (counters == 1) {
    REQUIRE(cascade.layers[0].width == period);
    REQUIRE(cascade.layers[0].actions.size() == 1);
    for (Label x = 0; x < period; ++x) REQUIRE(cascade.layers[0].actions[0][x] == (x + 1) % period);
  }
  for (std::size_t k = counters; k < cascade.layers.size(); ++k)
    for (const Transformation& action : cascade.layers[k].actions)
      REQUIRE((action.is_identity() || action.constant_image().has_value()));
  const EmulationResult result = check_emulation(cascade, dfa);
  REQUIRE_MESSAGE(result.holds, result.counterexample);
}

Label counted(const Dfa& dfa) {
  const Cascade cascade = position_cascade(dfa);
  const Transformation& first = cascade.layers[0].actions[0];
  return first.is_permutation() && !first.is_identity() ? cascade.layers[0].width : 1;
}

}  // namespace

TEST_CASE("even length, Tomita 3, lengths modulo m: the period and the cascade") {
  struct Fact {
    const char* what;
    Maps maps;
    Label period;
  };
  const Fact facts[] = {{"(aa)*", {{1, 0}}, 2},
                        {"even length of two letters", {{1, 0}, {1, 0}}, 2},
                        {"length modulo 6", {{1, 2, 3, 4, 5, 0}}, 6},
                        {"(ab)*, aperiodic", {{1, 2, 2}, {2, 0, 2}}, 1},
                        {"a sink after b at an odd position", {{1, 0, 2}, {1, 2, 2}}, 2}};
  for (const Fact& fact : facts) {
    CAPTURE(fact.what);
    const Dfa dfa = automaton(fact.maps, static_cast<State>(fact.maps[0].size()));
    require_position_cascade(dfa, fact.period);
  }
  require_position_cascade(named_language("tomita3"), 2);
}

TEST_CASE("a group that positions do not explain is refused with a word") {
  CHECK_THROWS_WITH_AS(position_cascade(automaton({{0, 1}, {1, 0}}, 2)), doctest::Contains("\"l1\" acts with a cycle"),
                       InputError);
  CHECK_THROWS_AS(position_cascade(automaton({{1, 2, 0}, {1, 0, 2}}, 3)), InputError);
}

TEST_CASE("random automata: built exactly when the stamp is quasi-aperiodic") {
  std::mt19937 random(29);
  int aperiodic = 0, with_positions = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const Dfa dfa = canonical(random_automaton(random, 2 + static_cast<State>(random() % 4), 1 + random() % 2));
    const Algebra algebra = analyse(dfa);
    if (algebra.verdict("quasi-aperiodic").answer == Answer::kNo) {
      ++refused;
      REQUIRE_THROWS_AS(position_cascade(dfa), InputError);
      continue;
    }
    const Label period = counted(dfa);
    REQUIRE((period == 1) == (algebra.verdict("aperiodic").answer == Answer::kYes));
    require_position_cascade(dfa, period);
    ++(period == 1 ? aperiodic : with_positions);
  }
  CHECK(aperiodic > 500);
  CHECK(with_positions > 300);
  CHECK(refused > 300);
}

TEST_CASE("limits, degenerate automata, unreachable groups") {
  CHECK_THROWS_WITH_AS(position_cascade(named_language("T4"), PositionCascadeOptions{.max_elements = 10}),
                       doctest::Contains("10 elements"), LimitError);
  require_position_cascade(automaton({}, 3, 2), 1);
  require_position_cascade(automaton({{0}}, 1), 1);
  require_position_cascade(automaton({{0, 2, 1}}, 3), 1);  // the swap is out of reach
}
