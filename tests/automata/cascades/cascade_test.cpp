#include "krohn/automata/cascades/cascade.h"

#include <doctest/doctest.h>

#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/permutations/permutation.h"

using namespace krohn;

namespace {

/// A set/reset flag with a toggle that only works while the flag above is set: two layers made by hand.
/// Letters: s (set), r (reset), t (toggle). States 0 = (off, 0), 1 = (off, 1), 2 = (on, 0), 3 = (on, 1).
Dfa gated_toggle() {
  const Alphabet alphabet = Alphabet::of_characters("srt");
  return Dfa::acceptor(alphabet, {2, 0, 0, 3, 1, 1, 2, 0, 3, 3, 1, 2}, 0, {false, false, false, true});
}

Cascade gated_toggle_cascade() {
  Cascade cascade;
  cascade.alphabet = Alphabet::of_characters("srt");
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
  CHECK(cascade.alphabet_sizes() == std::vector<std::size_t>{3, 2});
  std::vector<Label> labels = cascade.initial;
  State state = dfa.initial();
  for (const Letter letter : dfa.alphabet().parse_word("ttsttrtstsrt")) {
    step(cascade, letter, labels);
    state = dfa.next(state, letter);
    CHECK(decode(cascade, labels) == state);
  }
  CHECK(check_emulation(cascade, dfa).holds);
  CHECK(check_reachable(cascade, dfa).holds);
}

TEST_CASE("wiring the post label where the pre label belongs is caught") {
  // The erratum to Theorem 4 (MATH.md §3): with the flag's new label the toggle would act on the letter after "s" only.
  Cascade cascade = gated_toggle_cascade();
  cascade.layers[0].wiring.next = {1, 1, 0, 0, 0, 1};
  const EmulationResult result = check_emulation(cascade, gated_toggle());
  CHECK_FALSE(result.holds);
  CHECK(result.counterexample.find("\"s\"") != std::string::npos);
}

TEST_CASE("every wrong entry is caught by both checks") {
  const Dfa dfa = gated_toggle();
  Cascade cascade = gated_toggle_cascade();
  for (const auto& [number, bound] : entries(cascade, dfa)) {
    const std::uint32_t good = *number;
    for (std::uint32_t wrong = 0; wrong < bound; ++wrong) {
      if (wrong == good) continue;
      *number = wrong;
      const bool holds = check_emulation(cascade, dfa).holds;
      CHECK_FALSE(holds);
      CHECK(check_reachable(cascade, dfa).holds == holds);
    }
    *number = good;
  }
}

TEST_CASE("a table trimmed too much does not pass") {
  const Dfa dfa = gated_toggle();
  Cascade cascade = gated_toggle_cascade();
  for (CascadeLayer& layer : cascade.layers)
    for (Context& entry : layer.wiring.next) {
      const Context good = std::exchange(entry, kNoContext);
      CHECK_FALSE(check_emulation(cascade, dfa).holds);
      CHECK_FALSE(check_reachable(cascade, dfa).holds);
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
  CHECK_THROWS_AS(check_emulation(gated_toggle_cascade(), gated_toggle(), 2), LimitError);
  CHECK_THROWS_AS(check_reachable(gated_toggle_cascade(), gated_toggle(), 2), LimitError);
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
