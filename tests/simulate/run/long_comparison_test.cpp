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
    } else if (end.failing_at) {
      // Disagreements are sought at the ends of pieces; the first of the piece that shows one is found.
      CHECK(*end.failing_at >= *wrong);
      CHECK(*end.failing_at <= end.position);
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

TEST_CASE("a network of another language fails within the first piece") {
  // Parity beside the automaton that never changes.
  const Dfa machine = network_automaton(one_hot(counter(2, {0, 1})), Precision::kFp32, Form::kStructured).value();
  const Dfa never = automaton(2, {0, 0, 1, 1});
  const LongComparison comparison(machine, never, 1, 1'000'000, 4, 2);
  const LongComparisonState end = read_all(comparison, comparison.start());
  const Word word = RandomWord(2, 4, 0).slice(0, 1'000'000);
  std::uint64_t ones = 0, first_odd_piece = 0;
  for (std::uint64_t i = 0; i < word.size() && first_odd_piece == 0; ++i) {
    ones += word[i];
    if ((i + 1) % comparison.piece() == 0 && ones % 2 == 1) first_odd_piece = i + 1;
  }
  REQUIRE(end.failing_at);
  const std::uint64_t begin = first_odd_piece - comparison.piece();
  ones = static_cast<std::uint64_t>(std::count(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(begin), 1u));
  std::uint64_t expected = begin;
  while (ones % 2 == 0) ones += word[expected++];
  CHECK(*end.failing_at == expected);
}
