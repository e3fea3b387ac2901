// Synchronising words, against a breadth-first search over whole maps.

#include "krohn/automata/monoid/synchronising.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>

#include "tests/automata/bestiary.h"
#include "tests/automata/random_automata.h"

using namespace krohn;

namespace {

using Images = std::vector<State>;

/// The length of a shortest word that takes all states to one, by the power automaton.
std::optional<std::size_t> shortest_length(const Dfa& dfa) {
  Images all(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) all[state] = state;
  std::map<Images, std::size_t> length{{all, 0}};
  std::vector<Images> queue{all};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Images from = queue[i];
    if (from.size() == 1) return length.at(from);
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      Images to;
      for (const State state : from) to.push_back(dfa.next(state, letter));
      std::sort(to.begin(), to.end());
      to.erase(std::unique(to.begin(), to.end()), to.end());
      if (length.emplace(to, length.at(from) + 1).second) queue.push_back(to);
    }
  }
  return std::nullopt;
}

bool takes_all_to_one(const Dfa& dfa, const Word& word) {
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.run(word, state) != dfa.run(word, 0)) return false;
  return true;
}

void check(const Dfa& dfa) {
  const auto expected = shortest_length(dfa);
  const Synchronisation found = synchronise(dfa), greedy = synchronise(dfa, 0);
  CHECK(found.answer == (expected ? Answer::kYes : Answer::kNo));
  CHECK(greedy.answer == found.answer);
  if (!expected) {
    CHECK(found.first != found.second);
    return;
  }
  CHECK(found.is_shortest);
  CHECK(found.word.size() == *expected);
  CHECK(takes_all_to_one(dfa, found.word));
  CHECK(greedy.is_shortest == (dfa.states() == 1));
  CHECK(greedy.word.size() >= *expected);
  CHECK(takes_all_to_one(dfa, greedy.word));
}

/// Černý's automaton: its shortest synchronising word has (n − 1)² letters.
Dfa cerny(State states) {
  std::vector<State> table;
  for (State state = 0; state < states; ++state) {
    table.push_back((state + 1) % states);
    table.push_back(state == 0 ? 1 % states : state);
  }
  return Dfa::acceptor(first_letters(2), std::move(table), 0, std::vector<bool>(states));
}

}  // namespace

TEST_CASE("every automaton of up to four states and two letters, or three and three") {
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  check(Dfa::acceptor(Alphabet(), {}, 0, {true}));
  check(Dfa::acceptor(Alphabet(), {}, 0, {true, false}));
}

TEST_CASE("Černý's automata, to where sets of states are too many") {
  for (const State n : {2, 3, 4, 5, 10, 16}) {
    const Synchronisation found = synchronise(cerny(n));
    CHECK(found.is_shortest);
    CHECK(found.word.size() == std::size_t{n - 1} * (n - 1));
  }
  CHECK(in_words(cerny(4), synchronise(cerny(4))) == "by \"baaabaaab\", 9 letters, the shortest");
  const Dfa large = cerny(60);
  const Synchronisation greedy = synchronise(large);
  CHECK(greedy.answer == Answer::kYes);
  CHECK_FALSE(greedy.is_shortest);
  CHECK(greedy.word.size() >= 59 * 59);
  CHECK(takes_all_to_one(large, greedy.word));
  CHECK(in_words(large, greedy).find("; a shorter word may exist") != std::string::npos);
}

TEST_CASE("random automata, and where the pairs are too many") {
  Dice dice(91);
  for (int i = 0; i < 200; ++i) check(random_acceptor(dice, 2 + dice.below(9), 1 + dice.below(3)));
  const State many = 20'000;
  std::vector<State> table(many, 0);
  const Synchronisation open =
      synchronise(Dfa::acceptor(first_letters(1), std::move(table), 0, std::vector<bool>(many)));
  CHECK(open.answer == Answer::kUnknown);
  CHECK(open.limit.find("20000 states are too many") != std::string::npos);
}
