// One-hot networks along words, beside the evaluator that writes every number out.
#include "krohn/simulate/prove/claims/unit_run.h"

#include <doctest/doctest.h>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/cascade_network.h"
#include "krohn/simulate/prove/self_check.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// One-hot states whose codewords are named, not written.
Network units(Dfa dfa, std::vector<Matrix> actions) {
  Eigen::MatrixXd initial = unit(dfa.states(), dfa.initial());
  Network network = one_layer(std::move(dfa), std::move(initial), std::move(actions), {});
  network.layers[0].decoder.unit_copies = 1;
  return network;
}

Network units(Dfa dfa) {
  std::vector<Matrix> actions;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) actions.emplace_back(MapMatrix{dfa.letter_map(letter)});
  return units(std::move(dfa), std::move(actions));
}

/// Swaps of neighbours among n states, by maps and reflections in turn.
Network neighbours(std::uint32_t n) {
  std::vector<State> table(std::size_t{n} * (n - 1));
  std::vector<Matrix> actions;
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    for (State q = 0; q < n; ++q) table[q * (n - 1) + i] = q == i ? i + 1 : q == i + 1 ? i : q;
    actions.push_back(swap_matrix(n, i, i + 1, i % 2 == 0 ? Swap::kMap : Swap::kUnnormalised));
  }
  return units(automaton(n - 1, std::move(table)), std::move(actions));
}

/// One-hot states, permuted, reset and reflected, in one layer and in several.
std::vector<Network> networks() {
  std::vector<Network> all{neighbours(5)};
  std::mt19937_64 random(11);
  for (int i = 0; i < 6; ++i) {
    const Dfa dfa = hand_built::random_automaton(random, 5, 2);
    all.push_back(units(dfa));
    all.push_back(cascade_network(dfa, holonomy_decomposition(dfa), {}));
  }
  all.push_back(units(all[1].automaton));
  all.back().automaton = all[3].automaton;  // a network of another language
  return all;
}

}  // namespace

TEST_CASE("a run of ones answers as the evaluator does on all words of up to six letters") {
  std::uint64_t followed = 0, lost = 0;
  for (const Network& network : networks())
    for (const ArithmeticName arithmetic : {ArithmeticName(Precision::kFp32), ArithmeticName(Precision::kBf16)})
      for (const Form form : {Form::kStructured, Form::kDense}) {
        const auto run = make_unit_run(network, arithmetic, form);
        if (!run) continue;
        const auto evaluator = make_evaluator(network, arithmetic, form);
        const Letter letters = network.automaton.letters();
        std::uint64_t words = 1;
        for (std::uint32_t length = 1; length <= 6; ++length) {
          words *= letters;
          for (std::uint64_t number = 0; number < words; ++number) {
            run->reset();
            evaluator->reset();
            std::uint64_t rest = number;
            for (std::uint32_t t = 0; t < length; ++t, rest /= letters) {
              const auto letter = static_cast<Letter>(rest % letters);
              const auto answer = run->step(letter);
              const auto wanted = evaluator->step(letter);
              if (!answer && ++lost) break;
              ++followed;
              REQUIRE(*answer == wanted.value_or(kNoState));
            }
          }
        }
      }
  CHECK(followed > 1000);
  MESSAGE(followed << " letters followed, " << lost << " words lost");
}

TEST_CASE("a run of ones is impossible, or ends, where states are others") {
  CHECK_FALSE(make_unit_run(rotation(5, {0, 1}), Precision::kFp32, Form::kStructured));
  Network away = units(counter(3, {0, 1}));
  const auto whole = make_unit_run(away, Precision::kFp32, Form::kStructured);
  REQUIRE(whole);
  CHECK(whole->step(1) == State{1});
  away.layers[0].initial(1) = 1;  // two ones are no codeword
  CHECK_FALSE(make_unit_run(away, Precision::kFp32, Form::kStructured));
}

TEST_CASE("a large one-hot network is replayed to the last letter") {
  const Network network = units(counter(20'000, {1, 7}));
  Certificate proved;
  proved.claim = Proved{};
  std::uint64_t letters = 0;
  CHECK_FALSE(replay(network, proved, 100'000, letters));
  CHECK(letters == 100'000);
}
