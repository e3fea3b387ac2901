#include "krohn/automata/monoid/witness_check.h"

#include <doctest/doctest.h>

#include "krohn/automata/language.h"
#include "krohn/automata/monoid/group_witness.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

TEST_CASE("orders of words on states: permutations of them, and words that leave or merge them") {
  // 0 → 1 → 2 → 0 under the first letter, 3 and 4 swapped; the second letter merges.
  const Dfa dfa = automaton({{1, 2, 0, 4, 3}, {0, 0, 2, 3, 4}}, 5);
  const Word turn{0}, twice{0, 0}, sixth{0, 0, 0, 0, 0, 0}, merge{1};
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1, 2}) == 3);
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1, 2, 3, 4}) == 6);
  CHECK(order_on(dfa, twice, std::vector<State>{0, 1, 2, 3, 4}) == 3);
  CHECK(order_on(dfa, sixth, std::vector<State>{0, 1, 2, 3, 4}) == 1);
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1}) == 0);   // leaves them
  CHECK(order_on(dfa, merge, std::vector<State>{0, 1}) == 0);  // merges them
  CHECK(order_on(dfa, merge, std::vector<State>{0, 2}) == 1);
  CHECK(cycle_lengths(images_of_word(dfa, turn)) == std::vector<std::uint64_t>{2, 3});
  CHECK(cycle_lengths(images_of_word(dfa, merge)) == std::vector<std::uint64_t>{1});
  CHECK(is_idempotent_word(dfa, merge));
  CHECK_FALSE(is_idempotent_word(dfa, twice));
  CHECK(is_idempotent_word(dfa, sixth));
}

TEST_CASE("multiples and regular elements, by breadth-first search with a limit") {
  // {0, 1, 2}: a goes on to the sink 2, b rests.
  const Dfa dfa = automaton({{1, 2, 2}, {0, 1, 2}}, 3);
  const Word one, a{0}, aa{0, 0}, aaa{0, 0, 0};
  CHECK(left_multiple(dfa, a, aa, 10) == true);
  CHECK(left_multiple(dfa, aa, a, 10) == false);
  CHECK(left_multiple(dfa, a, aaa, 1) == std::nullopt);
  CHECK(is_regular_word(dfa, a, 10) == false);
  CHECK(is_regular_word(dfa, aa, 10) == true);  // the constant
  CHECK(is_regular_word(dfa, one, 10) == true);
}

TEST_CASE("coprime orders speak against solvable groups, and only against them") {
  struct Fact {
    const char* name;
    bool solvable;
  };
  for (const auto& [name, solvable] : {Fact{"S4/points", true},
                                       {"D4/points", true},
                                       {"A4/points", true},
                                       {"A5/points", false},
                                       {"S5/points", false},
                                       {"PSL(2,7)/points", false},
                                       {"A7/points", false},
                                       {"M11/points", false},
                                       {"S8/points", false}}) {
    CAPTURE(name);
    const Dfa dfa = named_language(name);
    std::vector<GreenStructure::Loop> loops;
    std::vector<State> states;
    for (State state = 0; state < dfa.states(); ++state) states.push_back(state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      loops.push_back({{letter}, dfa.letter_map(letter).to_permutation()});
    const auto words = coprime_words(loops);
    CHECK(words.has_value() != solvable);
    if (words) CHECK(has_coprime_orders(dfa, words->first, words->second, states));
    const auto odd = odd_word(loops);
    CHECK(odd.has_value() == (std::string(name) != "D4/points"));
  }
}

TEST_CASE("has_coprime_orders refuses what is not coprime, or trivial") {
  // A_5: (1 2)(3 4), (1 3 5) and a 5-cycle.
  const Dfa dfa = named_language("A5/points");
  const std::vector<State> states{0, 1, 2, 3, 4};
  const Word one{};
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const Word word{letter};
    CHECK_FALSE(has_coprime_orders(dfa, word, word, states));
    CHECK_FALSE(has_coprime_orders(dfa, word, one, states));
    CHECK_FALSE(has_coprime_orders(dfa, one, word, states));
  }
}
