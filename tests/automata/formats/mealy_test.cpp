#include "krohn/automata/formats/mealy.h"

#include <doctest/doctest.h>

#include <random>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

Mealy random_machine(std::mt19937& random, State states, Letter inputs, Output outputs) {
  std::vector<std::string> names;
  for (Output output = 0; output < outputs; ++output) names.push_back("o" + std::to_string(output));
  std::vector<State> table(std::size_t{states} * inputs);
  std::vector<Output> written(table.size());
  for (State& target : table) target = static_cast<State>(random() % states);
  for (Output& output : written) output = static_cast<Output>(random() % outputs);
  return Mealy::machine(Alphabet::of_characters(std::string("abcd", inputs)), table,
                        static_cast<State>(random() % states), written, names, states);
}

}  // namespace

TEST_CASE("the Moore machine says the last output") {
  std::mt19937 random(51);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    const Mealy mealy = random_machine(random, static_cast<State>(1 + random() % 8),
                                       static_cast<Letter>(1 + random() % 4), static_cast<Output>(1 + random() % 3));
    const Dfa moore = to_moore(mealy);
    CHECK(moore.output_names()[moore.output(moore.initial())] == "-");
    State state = mealy.initial();
    Word inputs;
    for (int i = 0; i < 30; ++i) {
      const auto input = static_cast<Letter>(random() % mealy.inputs().size());
      const std::string output = mealy.output_names()[mealy.output(state, input)];
      inputs.push_back(input);
      CHECK(moore.output_names()[moore.output(moore.run(inputs))] == output);
      state = mealy.next(state, input);
    }
  }
}

TEST_CASE("the initial output has a name of its own, or shares the machine's") {
  const Mealy mealy = Mealy::machine(Alphabet::of_characters("a"), {0}, 0, {0}, {"-"}, 1);
  CHECK(to_moore(mealy).states() == 1);
  const Dfa other = to_moore(mealy, "start");
  CHECK(other.states() == 2);
  CHECK(other.output_names()[0] == "start");
}

TEST_CASE("a machine that is no machine is refused") {
  const Alphabet a = Alphabet::of_characters("a");
  CHECK_THROWS_AS(Mealy::machine(a, {}, 0, {}, {"x"}, 0), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0, 0}, 0, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {1}, 0, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 1, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 0, {1}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 0, {0}, {"x"}, 1).with_state_names({"p", "q"}), InputError);
}
