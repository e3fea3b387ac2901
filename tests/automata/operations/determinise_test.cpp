#include "krohn/automata/operations/determinise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"

using namespace krohn;

namespace {

/// Sparse random automata with ε-moves, several initial states and useless states.
Nfa random_nfa(std::mt19937& random, State states, Letter letters, double arcs_per_state) {
  Nfa nfa(Alphabet::of_characters(std::string("abcdefgh").substr(0, letters)));
  for (State state = 0; state < states; ++state) nfa.add_state(random() % 5 == 0);
  const auto arcs = static_cast<unsigned>(arcs_per_state * states);
  for (unsigned i = 0; i < arcs; ++i)
    nfa.add_arc(static_cast<State>(random() % states),
                random() % 5 == 0 ? kEpsilon : static_cast<Letter>(random() % letters),
                static_cast<State>(random() % states));
  for (auto i = random() % 3; i-- > 0;) nfa.add_initial(static_cast<State>(random() % states));
  return nfa;
}

/// The subset construction as textbooks have it, on sets of states, without any reduction.
Dfa reference_determinise(const Nfa& nfa) {
  using Set = std::set<State>;
  const auto close = [&](Set set) {
    std::vector<State> queue(set.begin(), set.end());
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Nfa::Arc& arc : nfa.arcs(queue[i]))
        if (arc.letter == kEpsilon && set.insert(arc.target).second) queue.push_back(arc.target);
    return set;
  };
  std::map<Set, State> numbers;
  std::vector<Set> sets;
  std::vector<State> table;
  std::vector<bool> accepting;
  const auto number_of = [&](const Set& set) {
    const auto [found, added] = numbers.emplace(set, static_cast<State>(sets.size()));
    if (added) {
      sets.push_back(set);
      accepting.push_back(std::any_of(set.begin(), set.end(), [&](State state) { return nfa.accepts(state); }));
    }
    return found->second;
  };
  number_of(close(Set(nfa.initial().begin(), nfa.initial().end())));
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (Letter letter = 0; letter < nfa.alphabet().size(); ++letter) {
      Set reached;
      for (const State state : Set(sets[i]))
        for (const Nfa::Arc& arc : nfa.arcs(state))
          if (arc.letter == letter) reached.insert(arc.target);
      table.push_back(number_of(close(reached)));
    }
  return Dfa::acceptor(nfa.alphabet(), table, 0, accepting);
}

/// The states of two automata in step: no reachable pair disagrees.
bool equivalent(const Dfa& a, const Dfa& b) {
  std::set<std::pair<State, State>> seen{{a.initial(), b.initial()}};
  std::vector<std::pair<State, State>> queue(seen.begin(), seen.end());
  while (!queue.empty()) {
    const auto [p, q] = queue.back();
    queue.pop_back();
    if (a.accepts(p) != b.accepts(q)) return false;
    for (Letter letter = 0; letter < a.letters(); ++letter)
      if (const std::pair next{a.next(p, letter), b.next(q, letter)}; seen.insert(next).second) queue.push_back(next);
  }
  return true;
}

/// Words whose k-th letter from the end is a: k + 1 states here, 2^k after determinising.
Nfa kth_from_the_end(State k) {
  Nfa nfa(Alphabet::of_characters("ab"));
  for (State state = 0; state <= k; ++state) nfa.add_state(state == k);
  nfa.add_initial(0);
  nfa.add_arc(0, 0, 0);
  nfa.add_arc(0, 1, 0);
  nfa.add_arc(0, 0, 1);
  for (State state = 1; state < k; ++state)
    for (const Letter letter : {0U, 1U}) nfa.add_arc(state, letter, state + 1);
  return nfa;
}

bool is_breadth_first(const Dfa& dfa) {
  State next = 1;
  for (const State target : dfa.table()) {
    if (target > next) return false;
    if (target == next) ++next;
  }
  return dfa.initial() == 0 && next == dfa.states();
}

}  // namespace

TEST_CASE("subsets accept what the nondeterministic automaton accepts") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Nfa nfa = random_nfa(random, static_cast<State>(1 + random() % 9), 2, 2.0);
    const Dfa dfa = determinise(nfa);
    CHECK(is_breadth_first(dfa));
    for (const Word& word : short_words(2, 6)) CHECK(dfa.accepts(dfa.run(word)) == nfa.accepts_word(word));
  }
}

TEST_CASE("both sizes agree with the textbook, and never have more states") {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto states = static_cast<State>(round % 2 == 0 ? 20 + random() % 20 : 150 + random() % 150);
    const Nfa nfa = random_nfa(random, states, static_cast<Letter>(1 + random() % 8), 1.3);
    CAPTURE(round);
    const Dfa dfa = determinise(nfa), reference = reference_determinise(nfa);
    CHECK(dfa.states() <= reference.states());
    CHECK(is_breadth_first(dfa));
    CHECK(equivalent(dfa, reference));
  }
}

TEST_CASE("one word and many words give the same table") {
  // 70 states that read letters but are never reached push the automaton over the edge of one word.
  for (const State k : {1U, 5U, 12U}) {
    Nfa padded = kth_from_the_end(k);
    for (int i = 0; i < 70; ++i) {
      const State state = padded.add_state();
      padded.add_arc(state, 0, k);
    }
    const Dfa small = determinise(kth_from_the_end(k));
    CHECK(small.states() == (State{1} << k));
    CHECK(determinise(padded) == small);
  }
}

TEST_CASE("degenerate automata") {
  Nfa none(Alphabet::of_characters("ab"));
  CHECK(determinise(none).states() == 1);
  CHECK_FALSE(determinise(none).accepts(0));
  Nfa no_letters{Alphabet()};
  no_letters.add_initial(no_letters.add_state(true));
  CHECK(determinise(no_letters).states() == 1);
  CHECK(determinise(no_letters).accepts(0));
  Nfa cycle(Alphabet::of_characters("a"));  // ε-cycle
  for (int i = 0; i < 3; ++i) cycle.add_state(i == 2);
  for (State i = 0; i < 3; ++i) cycle.add_epsilon(i, (i + 1) % 3);
  cycle.add_initial(0);
  CHECK(determinise(cycle).states() == 2);
  CHECK(determinise(cycle).accepts(0));
}

TEST_CASE("the limit is stated, and lets through exactly what it says") {
  CHECK(determinise(kth_from_the_end(10), {.max_states = 1024}).states() == 1024);
  CHECK_THROWS_WITH_AS(determinise(kth_from_the_end(10), {.max_states = 1023}),
                       "the subset construction passed 1,023 states; raise the limit with --max-states", LimitError);
  CHECK_THROWS_AS(determinise(kth_from_the_end(100), {.max_states = 5000}), LimitError);
}

TEST_CASE("a chain of 10^5 optional steps does not take quadratic memory") {
  Nfa nfa(Alphabet::of_characters("a"));
  constexpr State kLength = 100'000;
  for (State state = 0; state <= kLength; ++state) nfa.add_state(state == kLength);
  nfa.add_initial(0);
  for (State state = 0; state < kLength; ++state) nfa.add_epsilon(state, state + 1);
  nfa.add_arc(kLength, 0, 0);
  const Dfa dfa = determinise(nfa);
  CHECK(dfa.states() == 1);
  CHECK(dfa.accepts(0));
}
