// The automaton that a network is, and that automaton over long words.
#include "krohn/simulate/run/long_comparison.h"

#include <doctest/doctest.h>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/cascade_network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/network_automaton.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// An output of a machine as an evaluator says it.
State answer_of(const Dfa& machine, State state, const Network& network) {
  const Output output = machine.output(state);
  return output == network.automaton.states() ? kNoState : output;
}

/// Networks whose reachable states are finitely many, right and wrong ones.
std::vector<Network> networks() {
  std::vector<Network> all{symmetric(4, 3, Swap::kMap), rotation(3, {1, 2})};
  std::mt19937_64 random(5);
  for (int i = 0; i < 4; ++i) {
    const Dfa dfa = hand_built::random_automaton(random, 5, 2);
    all.push_back(cascade_network(dfa, holonomy_decomposition(dfa), {}));
    all.push_back(one_hot(dfa));
    all.push_back(one_hot(dfa));
    all.back().automaton = hand_built::random_automaton(random, 5, 2);  // a network of another language
  }
  return all;
}

LongComparisonState read_all(const LongComparison& comparison, LongComparisonState state) {
  while (!comparison.is_done(state)) comparison.read_piece(state);
  return state;
}

/// The first letter of the word after which network and automaton differ, letter by letter; 0 before the first.
std::optional<std::uint64_t> first_difference(const Network& network, const Word& word) {
  const auto evaluator = reference_evaluator(network, Precision::kBf16);
  State state = network.automaton.initial();
  if (evaluator->current() != state) return 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    state = network.automaton.next(state, word[i]);
    if (evaluator->step(word[i]) != state) return i + 1;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("the machine of reachable states answers as the network does, letter by letter") {
  for (const Network& network : networks())
    for (const Form form : {Form::kStructured, Form::kDense}) {
      const std::optional<Dfa> machine = network_automaton(network, Precision::kBf16, form);
      REQUIRE(machine);
      for (std::uint64_t stream = 0; stream < 3; ++stream) {
        const Word word = RandomWord(network.automaton.letters(), 3, stream).slice(0, 300);
        const auto evaluator = reference_evaluator(network, Precision::kBf16, form);
        State state = machine->initial();
        REQUIRE(answer_of(*machine, state, network) == evaluator->current().value_or(kNoState));
        for (const Letter letter : word) {
          state = machine->next(state, letter);
          REQUIRE(answer_of(*machine, state, network) == evaluator->step(letter).value_or(kNoState));
        }
      }
    }
}

TEST_CASE("a machine that is too large is no machine") {
  const Network network = symmetric(4, 3, Swap::kMap);
  const std::uint64_t states = network_automaton(network, Precision::kFp32, Form::kStructured)->states();
  CHECK(states == 24);
  NetworkAutomatonOptions options;
  options.max_states = states;
  CHECK(network_automaton(network, Precision::kFp32, Form::kStructured, options));
  options.max_states = states - 1;
  CHECK_FALSE(network_automaton(network, Precision::kFp32, Form::kStructured, options));
  options = {};
  options.max_transitions = states * network.automaton.letters() - 1;
  CHECK_FALSE(network_automaton(network, Precision::kFp32, Form::kStructured, options));
  // A rotation in bf16 drifts: its states are many more than the automaton's.
  options = {};
  options.max_states = 1000;
  CHECK_FALSE(network_automaton(rotation(10, {1, 3}), Precision::kBf16, Form::kStructured, options));
}

TEST_CASE("long comparisons end as letter by letter, wherever they are stopped and on how many threads") {
  constexpr std::uint64_t kLength = 200'001, kWords = 2, kSeed = 8;
  for (const Network& network : networks()) {
    const Dfa machine = network_automaton(network, Precision::kBf16, Form::kStructured).value();
    const LongComparison comparison(machine, network.automaton, kWords, kLength, kSeed, 1);
    const LongComparisonState end = read_all(comparison, comparison.start());
    const Word word = RandomWord(network.automaton.letters(), kSeed, 0).slice(0, kLength);
    const std::optional<std::uint64_t> wrong = first_difference(network, word);
    if (!wrong) {
      CHECK_FALSE(end.failing_at);
      CHECK(comparison.letters_read(end) == kLength * kWords);
      CHECK(end.comparisons == kWords * ((kLength + comparison.piece() - 1) / comparison.piece()));
    } else {
      CHECK(end.failing_at == wrong);
      CHECK(comparison.letters_read(end) == *wrong);
    }
    const LongComparison on_threads(machine, network.automaton, kWords, kLength, kSeed, 3);
    LongComparisonState state = on_threads.start();
    while (!on_threads.is_done(state)) {
      on_threads.read_piece(state);
      if (on_threads.is_done(state)) break;
      const LongComparisonState copied = state;  // what a file would hold
      CHECK(read_all(comparison, copied) == end);
    }
    CHECK(state == end);
  }
}

TEST_CASE("a disagreement in the middle of a piece is found although both agree again at its end") {
  // Parity beside an automaton that always says 0: they agree after every even number of ones.
  const Dfa machine = network_automaton(one_hot(counter(2, {0, 1})), Precision::kFp32, Form::kStructured).value();
  const Dfa never = automaton(2, {0, 0, 1, 1});
  constexpr std::uint64_t kLength = 1'000'000;
  int hidden = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const LongComparison comparison(machine, never, 1, kLength, seed, 2);
    const LongComparisonState end = read_all(comparison, comparison.start());
    const Word word = RandomWord(2, seed, 0).slice(0, comparison.piece());
    const auto first_one = static_cast<std::uint64_t>(std::ranges::find(word, 1u) - word.begin()) + 1;
    hidden += std::ranges::count(word, 1u) % 2 == 0;
    CHECK(end.failing_at == first_one);
  }
  REQUIRE(hidden > 0);
}

TEST_CASE("the first disagreement of all words of up to nine letters, wherever machines go astray for a while") {
  // Every machine of two states and letters whose outputs are states of parity, or none.
  const Dfa parity = counter(2, {0, 1});
  for (std::uint32_t code = 0; code < 16 * 9; ++code) {
    std::vector<State> table;
    for (std::uint32_t bit = 0; bit < 4; ++bit) table.push_back(code >> bit & 1);
    const std::uint32_t said = code / 16;
    const Dfa machine = Dfa::moore(parity.alphabet(), table, 0, {said % 3, said / 3}, {"0", "1", "2"});
    const Dfa lasting = with_lasting_disagreement(machine, parity);
    for (std::uint32_t length = 1; length <= 9; ++length)
      for (std::uint32_t word = 0; word < 1u << length; ++word) {
        State told = machine.initial(), lasts = lasting.initial(), right = 0;
        bool agreed = machine.output(told) == right;
        for (std::uint32_t t = 0; t < length && machine.output(machine.initial()) == 0; ++t) {
          const Letter letter = word >> t & 1;
          told = machine.next(told, letter);
          lasts = lasting.next(lasts, letter);
          right = parity.next(right, letter);
          agreed = agreed && machine.output(told) == right;
          if ((lasting.output(lasts) == right) != agreed) FAIL("machine " << code << ", word " << word);
        }
      }
  }
}
