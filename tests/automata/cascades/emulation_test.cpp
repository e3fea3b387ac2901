#include "krohn/automata/cascades/emulation.h"

#include <doctest/doctest.h>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

/// A flip-flop x (letter 0 sets, letter 1 resets, letter 2 keeps) below a bit y that letters 0 and 2 toggle when x was
/// set; state 2·x + y.
struct FlipFlopToggle {
  std::vector<Context> next{0, 1, 0, 0, 0, 1};
  std::vector<std::vector<Context>> readout{{0, 1}, {0, 1, 2, 3}};
  LabelMachine machine;
  Dfa dfa = make_dfa();

  FlipFlopToggle() {
    LabelLayer flip_flop{2, 0, 2, {}, {{1, 1}, {0, 0}, {0, 1}}, {0, 1, 2}, next};
    LabelLayer toggle{2, 0, 2, {}, {{0, 1}, {1, 0}}, {0, 1}, {}};
    machine = {{flip_flop, toggle}, readout};
  }
  FlipFlopToggle(const FlipFlopToggle&) = delete;

  static Dfa make_dfa() {
    std::vector<State> table;
    for (State q = 0; q < 4; ++q)
      for (const State target : {2 + ((q % 2) ^ (q / 2)), q % 2, (q & 2) + ((q % 2) ^ (q / 2))})
        table.push_back(target);
    return Dfa::acceptor(Alphabet::of_characters("abc"), table, 0, {false, true, false, true});
  }
};

Dfa constant_automaton(State states, Letter letters, State target) {
  return Dfa::acceptor(Alphabet::of_characters(std::string("abcdef").substr(0, letters)),
                       std::vector<State>(std::size_t{states} * letters, target), 0, std::vector<bool>(states));
}

}  // namespace

TEST_CASE("a machine that emulates is proved, by induction and by search") {
  const FlipFlopToggle example;
  const EmulationResult induction = prove_emulation(example.machine, example.dfa);
  CHECK(induction.holds);
  CHECK(induction.counterexample.empty());
  const EmulationResult search = explore_emulation(example.machine, example.dfa);
  CHECK(search.holds);
  CHECK(search.checked == 4 * 3);
}

TEST_CASE("every single change of a table is noticed") {
  const auto refuse = [](const FlipFlopToggle& example, const std::string& what) {
    CAPTURE(what);
    const EmulationResult induction = prove_emulation(example.machine, example.dfa);
    const EmulationResult search = explore_emulation(example.machine, example.dfa);
    CHECK_FALSE(induction.holds);
    CHECK_FALSE(search.holds);
    CHECK_FALSE(induction.counterexample.empty());
    CHECK_FALSE(search.counterexample.empty());
  };
  for (std::size_t i = 0; i < 6; ++i)
    for (const Context changed : {0U, 1U, kNoContext}) {
      FlipFlopToggle example;
      if (example.next[i] == changed) continue;
      example.next[i] = changed;
      refuse(example, "next " + std::to_string(i));
    }
  for (std::size_t layer = 0; layer < 2; ++layer)
    for (std::size_t move = 0; move < 3 - layer; ++move)
      for (std::size_t label = 0; label < 2; ++label) {
        FlipFlopToggle example;
        Label& image = example.machine.layers[layer].moves[move][label];
        image = 1 - image;
        refuse(example, "layer " + std::to_string(layer) + " move " + std::to_string(move));
      }
  for (std::size_t layer = 0; layer < 2; ++layer) {
    FlipFlopToggle example;
    example.machine.layers[layer].initial = 1;
    refuse(example, "initial " + std::to_string(layer));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    FlipFlopToggle example;
    example.readout[1][i] = kNoContext;
    const EmulationResult search = explore_emulation(example.machine, example.dfa);
    CHECK_FALSE(search.holds);
    CHECK_FALSE(prove_emulation(example.machine, example.dfa).holds);
  }
}

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

TEST_CASE("limits are said") {
  const FlipFlopToggle example;
  CHECK_THROWS_WITH_AS(prove_emulation(example.machine, example.dfa, 3), doctest::Contains("3 triples"), LimitError);
  CHECK_THROWS_WITH_AS(explore_emulation(example.machine, example.dfa, 2), doctest::Contains("2 tuples"), LimitError);
}
