// The groups of holonomy cascades divide the monoid: classes of one height whose groups must not mix, and every small
// automaton, by brute force.

#include <doctest/doctest.h>

#include "krohn/automata/cascades/holonomy_layers.h"
#include "krohn/automata/cascades/prime_cascade.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/algebra_campaign.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

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
    CHECK(check_reachable(cascade, dfa).holds);
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
