// One layer of another library that is an automaton: every small automaton against its own table, and what the layers
// keep bit for bit.

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::test;

namespace {

std::unique_ptr<OperationsReader> reader_of(const ExactStock& stock, const Dfa& automaton, Precision format) {
  Operations operations = stock_operations(stock.shape, stock.tensors, format).operations;
  operations.tokens.resize(automaton.letters());
  std::iota(operations.tokens.begin(), operations.tokens.end(), 0U);
  return operations_reader(operations, stock.tensors);
}

/// Words up to `length`, after each the answer: the number that are wrong, ties included.
std::size_t wrong_words(const ExactStock& stock, const Dfa& automaton, std::size_t length,
                        Precision format = Precision::kFp32) {
  const auto reader = reader_of(stock, automaton, format);
  struct Place {
    LetterReader::Memory memory;
    State state;
    std::size_t length;
  };
  std::vector<Place> places{{reader->start(), automaton.initial(), 0}};
  std::size_t wrong = 0;
  while (!places.empty()) {
    const Place place = std::move(places.back());
    places.pop_back();
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      Place next{place.memory, automaton.next(place.state, letter), place.length + 1};
      wrong += reader->step(letter, next.memory, true).output == automaton.output(next.state) ? 0 : 1;
      if (next.length < length) places.push_back(std::move(next));
    }
  }
  return wrong;
}

/// Every automaton of that many states over two letters, initial state 0, that accepts some and not all states.
template <class Do>
void each_automaton(State states, const Do& work) {
  std::uint64_t tables = 1;
  for (State i = 0; i < 2 * states; ++i) tables *= states;
  for (std::uint64_t table = 0; table < tables; ++table)
    for (std::uint32_t accepted = 1; accepted + 1 < 1U << states; ++accepted) {
      std::vector<State> next;
      std::uint64_t left = table;
      for (State i = 0; i < 2 * states; ++i, left /= states) next.push_back(static_cast<State>(left % states));
      std::vector<Output> outputs;
      for (State state = 0; state < states; ++state) outputs.push_back(accepted >> state & 1U);
      work(Dfa::moore(Alphabet::of_characters("ab"), std::move(next), 0, std::move(outputs), {"reject", "accept"}));
    }
}

/// True if every letter keeps all states of the minimal automaton or takes all to one.
bool is_latch(const Dfa& given) {
  const Dfa automaton = minimise(given);
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    bool keeps = true, resets = true;
    for (State state = 0; state < automaton.states(); ++state) {
      keeps &= automaton.next(state, letter) == state;
      resets &= automaton.next(state, letter) == automaton.next(0, letter);
    }
    if (!keeps && !resets) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("an sLSTM is any automaton") {
  each_automaton(2, [](const Dfa& automaton) {
    const ExactStock stock = exact_slstm(automaton);
    REQUIRE(wrong_words(stock, automaton, 6) == 0);
    REQUIRE(wrong_words(stock, automaton, 6, Precision::kFp64) == 0);
  });
  for (const char* name : {"name:S3", "regex:(a|b)*abb", "regex:(a|b|c)*b", "name:Z5", "regex:a*"}) {
    CAPTURE(name);
    const Dfa automaton = minimise(load_language(name));
    CHECK(wrong_words(exact_slstm(automaton), automaton, 4) == 0);
  }
  CHECK_THROWS_AS(exact_slstm(load_language("name:S7")), LimitError);
}

TEST_CASE("Mamba-2 and mLSTM are the automata whose letters keep all states or take all to one, and no others") {
  std::size_t latches = 0, others = 0;
  for (const State states : {2U, 3U})
    each_automaton(states, [&](const Dfa& automaton) {
      if (!is_latch(automaton)) {
        ++others;
        REQUIRE(contains(error_of([&] { exact_mamba2(automaton); }), "keeps its state or overwrites it"));
        REQUIRE(contains(error_of([&] { exact_mlstm(automaton); }), "keeps its state or overwrites it"));
        return;
      }
      ++latches;
      REQUIRE(wrong_words(exact_mamba2(automaton), automaton, 6) == 0);
      REQUIRE(wrong_words(exact_mamba2(automaton), automaton, 6, Precision::kFp64) == 0);
      REQUIRE(wrong_words(exact_mlstm(automaton), automaton, 6) == 0);
    });
  CHECK(latches > 50);
  CHECK(others > 1000);
  CHECK(contains(error_of([] { exact_mamba2(load_language("name:parity")); }), "permutes states"));
  const Dfa last = load_language("regex:(a|b|c|d|e)*(a|c)e*");
  CHECK(wrong_words(exact_mamba2(last), last, 4) == 0);
  CHECK(wrong_words(exact_mlstm(last), last, 4) == 0);
}

TEST_CASE("fp32 keeps the mLSTM's state where the reals forget it") {
  // e keeps the state: b, then e over and over.
  const Dfa automaton = load_language("regex:(a|b|e)*be*");
  const auto forgets = [&](Precision format) {
    const auto reader = reader_of(exact_mlstm(automaton), automaton, format);
    LetterReader::Memory memory = reader->start();
    for (const Letter letter : {1U, 2U}) reader->step(letter, memory, false);
    const LetterReader::Memory before = memory;
    for (int i = 0; i < 1000; ++i) reader->step(2, memory, false);
    return memory != before;
  };
  CHECK_FALSE(forgets(Precision::kFp32));
  CHECK(forgets(Precision::kFp64));
}
