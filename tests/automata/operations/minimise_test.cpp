#include "krohn/automata/operations/minimise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "krohn/automata/operations/partition.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"

using namespace krohn;

namespace {

/// The same automaton under a random renumbering of its states.
Dfa shuffled(Dice& dice, const Dfa& dfa) {
  std::vector<State> to(dfa.states());
  std::iota(to.begin(), to.end(), State{0});
  std::shuffle(to.begin(), to.end(), dice.engine());
  std::vector<State> table(dfa.table().size());
  std::vector<Output> outputs(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) {
    outputs[to[state]] = dfa.output(state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      table[std::size_t{to[state]} * dfa.letters() + letter] = to[dfa.next(state, letter)];
  }
  return Dfa::moore(dfa.alphabet(), std::move(table), to[dfa.initial()], std::move(outputs),
                    {dfa.output_names().begin(), dfa.output_names().end()});
}

/// Every state twice, each copy with targets among both copies at random: the same language, twice the states.
Dfa doubled(Dice& dice, const Dfa& dfa) {
  std::vector<State> table;
  std::vector<Output> outputs;
  for (State state = 0; state < 2 * dfa.states(); ++state) {
    outputs.push_back(dfa.output(state / 2));
    for (const State target : dfa.row(state / 2)) table.push_back(2 * target + dice.below(2));
  }
  return Dfa::moore(dfa.alphabet(), std::move(table), 2 * dfa.initial(), std::move(outputs),
                    {dfa.output_names().begin(), dfa.output_names().end()});
}

/// Counts a's and accepts at every multiple of `period` in a ring of `states`, so `period` states are minimal.
Dfa ring(State states, State period) {
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < states; ++state) {
    table.push_back((state + 1) % states);
    accepting.push_back(state % period == 0);
  }
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

/// A ring whose accepting states spell the Fibonacci word of length `states`: the inputs that cost Hopcroft's algorithm
/// n log n (Castiglione, Restivo, Sciortino 2008).
Dfa fibonacci_ring(int order) {
  std::string shorter = "b", word = "a";
  for (int i = 0; i < order; ++i) shorter = std::exchange(word, word + shorter);
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < word.size(); ++state) {
    table.push_back((state + 1) % static_cast<State>(word.size()));
    accepting.push_back(word[state] == 'a');
  }
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

/// The last `bits` letters; accepts when the oldest of them is b.
Dfa de_bruijn(int bits) {
  const State states = State{1} << bits;
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < states; ++state) {
    table.push_back(2 * state % states);
    table.push_back((2 * state + 1) % states);
    accepting.push_back(state >= states / 2);
  }
  return Dfa::acceptor(first_letters(2), std::move(table), 0, accepting);
}

/// A line of a's with one accepting state at its end: as slow for Moore's rounds as can be.
Dfa line(State states) {
  std::vector<State> table;
  std::vector<bool> accepting(states, false);
  for (State state = 0; state < states; ++state) table.push_back(std::min(state + 1, states - 1));
  accepting[states - 2] = true;
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

}  // namespace

TEST_CASE("known automata minimise to known sizes") {
  struct Fact {
    const char* name;
    Dfa dfa;
    State states;
  };
  for (const Fact& fact : {Fact{"ring 12, period 4", ring(12, 4), 4}, Fact{"ring 12, period 12", ring(12, 12), 12},
                           Fact{"ring 7, period 1", ring(7, 1), 1}, Fact{"line 1000", line(1000), 1000},
                           Fact{"Fibonacci ring", fibonacci_ring(12), 377}, Fact{"de Bruijn", de_bruijn(10), 1024}}) {
    CAPTURE(fact.name);
    const Dfa minimal = minimise(fact.dfa);
    CHECK(minimal.states() == fact.states);
    CHECK(minimal == reference_minimise(fact.dfa));
  }
}

TEST_CASE("degenerate automata") {
  const Dfa no_letters = Dfa::acceptor(Alphabet(), {}, 1, {false, true});
  CHECK(minimise(no_letters).states() == 1);
  CHECK(minimise(no_letters).accepts(0));
  CHECK(minimise_brzozowski(no_letters) == minimise(no_letters));
  for (const bool accepting : {false, true}) {
    const Dfa constant = Dfa::acceptor(first_letters(2), {1, 1, 0, 1}, 0, {accepting, accepting});
    CHECK(minimise(constant) == Dfa::acceptor(first_letters(2), {0, 0}, 0, {accepting}));
    CHECK(minimise_brzozowski(constant) == minimise(constant));
  }
}

TEST_CASE("three minimisers agree on random acceptors") {
  Dice dice(1);
  for (int round = 0; round < 6000; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(14), 1 + dice.below(3), 1 + dice.below(4));
    CAPTURE(round);
    const Dfa minimal = minimise(dfa);
    REQUIRE(minimal == reference_minimise(dfa));
    REQUIRE(minimal == minimise_brzozowski(dfa));
  }
}

TEST_CASE("Moore machines with up to four outputs agree with the reference") {
  Dice dice(2);
  for (int round = 0; round < 3000; ++round) {
    const Dfa dfa = random_moore(dice, 1 + dice.below(200), dice.below(5), 1 + dice.below(4), 1 + dice.below(50));
    CAPTURE(round);
    REQUIRE(minimise(dfa) == reference_minimise(dfa));
  }
}

TEST_CASE("renumbering and doubling states changes nothing, minimising twice neither") {
  Dice dice(3);
  for (int round = 0; round < 500; ++round) {
    const Dfa dfa = random_moore(dice, 1 + dice.below(60), 1 + dice.below(3), 2, 1 + dice.below(4));
    const Dfa minimal = minimise(dfa);
    CAPTURE(round);
    REQUIRE(minimise(shuffled(dice, dfa)) == minimal);
    REQUIRE(minimise(doubled(dice, shuffled(dice, dfa))) == minimal);
    REQUIRE(minimise(minimal) == minimal);
    REQUIRE(canonical(shuffled(dice, minimal)) == minimal);
  }
}

TEST_CASE("Hopcroft's refinement alone reaches what the rounds reach") {
  Dice dice(4);
  for (int round = 0; round < 1000; ++round) {
    const Dfa dfa = random_moore(dice, 1 + dice.below(100), 1 + dice.below(3), 1 + dice.below(4), 1 + dice.below(30));
    Partition by_hopcroft = partition_by_output(dfa.outputs());
    Partition by_rounds = by_hopcroft;
    refine_by_hopcroft(dfa.table(), dfa.letters(), by_hopcroft);
    CAPTURE(round);
    REQUIRE(is_congruence(dfa.table(), dfa.letters(), by_hopcroft));
    if (!refine_by_rounds(dfa.table(), dfa.letters(), by_rounds))
      refine_by_hopcroft(dfa.table(), dfa.letters(), by_rounds);
    REQUIRE(by_rounds.classes.size() == by_hopcroft.classes.size());
    for (State state = 0; state < dfa.states(); ++state)
      REQUIRE(by_rounds.class_of[by_hopcroft.members(by_hopcroft.class_of[state])[0]] == by_rounds.class_of[state]);
  }
}

TEST_CASE("slow inputs for rounds are handed to Hopcroft and finish") {
  Partition partition = partition_by_output(line(5000).outputs());
  CHECK_FALSE(refine_by_rounds(line(5000).table(), 1, partition));
  CHECK(minimise(line(300'000)).states() == 300'000);
  CHECK(minimise(fibonacci_ring(24)).states() == 121'393);
  CHECK(minimise(ring(300'000, 3)).states() == 3);
}

TEST_CASE("canonical drops unreachable states and keeps names with their states") {
  const Dfa dfa = Dfa::acceptor(first_letters(2), {2, 0, 1, 1, 0, 2}, 2, {true, false, false})
                      .with_state_names({"one", "unreachable", "start"});
  const Dfa result = canonical(dfa);
  CHECK(result == Dfa::acceptor(first_letters(2), {1, 0, 0, 1}, 0, {false, true}));
  REQUIRE(result.states() == 2);
  CHECK(result.state_name(0) == "start");
  CHECK(result.state_name(1) == "one");
}

TEST_CASE("Brzozowski refuses other machines and keeps to its limit") {
  Dice dice(5);
  CHECK_THROWS_AS(minimise_brzozowski(random_moore(dice, 5, 2, 3, 1)), InputError);
  CHECK_THROWS_AS(minimise_brzozowski(de_bruijn(8), 100), LimitError);
}
