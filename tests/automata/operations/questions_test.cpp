#include "krohn/automata/operations/questions.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/automata/small_languages.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// The length of a shortest word of a product that is built whole; nothing when there is none.
std::optional<std::size_t> shortest(const Dfa& dfa) {
  const auto word = shortest_accepted_word(dfa);
  return word ? std::optional(word->size()) : std::nullopt;
}

std::optional<std::size_t> length_of(const DecidingWord& answer) {
  return answer.word ? std::optional(answer.word->size()) : std::nullopt;
}

/// All four questions about a pair, by searches that meet the pairs as they go, against products made whole.
void check_questions(const Automaton& a, const Automaton& b) {
  const Dfa in_a = to_dfa(a, 100'000), in_b = to_dfa(b, 100'000);
  const auto accepts = [](const Dfa& dfa, const std::optional<Word>& word) { return dfa.accepts(dfa.run(*word)); };

  const DecidingWord equal = distinguishing_word(a, b);
  CHECK(length_of(equal) == shortest(symmetric_difference_of(in_a, in_b)));
  if (equal.word) {
    CHECK(equal.in_first == accepts(in_a, equal.word));
    CHECK(equal.in_second == accepts(in_b, equal.word));
    CHECK(equal.in_first != equal.in_second);
  }
  const DecidingWord excess = excess_word(a, b);
  CHECK(length_of(excess) == shortest(difference_of(in_a, in_b)));
  if (excess.word) {
    CHECK(accepts(in_a, excess.word));
    CHECK_FALSE(accepts(in_b, excess.word));
  }
  const DecidingWord common = common_word(a, b);
  CHECK(length_of(common) == shortest(intersection_of(in_a, in_b)));
  if (common.word) {
    CHECK(accepts(in_a, common.word));
    CHECK(accepts(in_b, common.word));
  }
  CHECK(length_of(accepted_word(a)) == shortest(in_a));
}

Nfa as_nfa(const Dfa& dfa) { return to_nfa(dfa); }

/// How many sets of states words lead to, by the definition.
std::size_t reachable_subsets(const Nfa& nfa) {
  using Subset = std::set<State>;
  const auto closed = [&](Subset subset) {
    std::vector<State> queue(subset.begin(), subset.end());
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Nfa::Arc& arc : nfa.arcs(queue[i]))
        if (arc.letter == kEpsilon && subset.insert(arc.target).second) queue.push_back(arc.target);
    return subset;
  };
  std::vector<Subset> subsets{closed({nfa.initial().begin(), nfa.initial().end()})};
  for (std::size_t i = 0; i < subsets.size(); ++i)
    for (Letter letter = 0; letter < nfa.alphabet().size(); ++letter) {
      Subset next;
      for (const State state : subsets[i])
        for (const Nfa::Arc& arc : nfa.arcs(state))
          if (arc.letter == letter) next.insert(arc.target);
      next = closed(std::move(next));
      if (std::ranges::find(subsets, next) == subsets.end()) subsets.push_back(std::move(next));
    }
  return subsets.size();
}

}  // namespace

TEST_CASE("all pairs of acceptors of at most two states, deterministic and as nondeterministic automata") {
  std::vector<Dfa> all = all_acceptors(1, 2);
  for (const Dfa& dfa : all_acceptors(2, 2)) all.push_back(dfa);
  for (const Dfa& a : all)
    for (const Dfa& b : all) {
      check_questions(a, b);
      check_questions(as_nfa(a), b);
      check_questions(a, as_nfa(b));
      check_questions(as_nfa(a), as_nfa(b));
    }
}

TEST_CASE("random pairs of nondeterministic automata") {
  Dice dice(21);
  int different = 0, equal = 0, included = 0;
  for (int i = 0; i < 6000; ++i) {
    CAPTURE(i);
    const State states = 1 + dice.below(6);
    const Nfa a = random_nfa(dice, states, 2, dice.below(3 * states), dice.below(3));
    const Nfa b = random_nfa(dice, states, 2, dice.below(3 * states), dice.below(3));
    check_questions(a, b);
    ++(distinguishing_word(a, b).word ? different : equal);
    included += excess_word(a, b).word ? 0 : 1;
  }
  CHECK(different > 1000);
  CHECK(equal > 100);
  CHECK(included > equal);
}

TEST_CASE("nondeterministic automata that are equal by construction, and by one arc not") {
  Dice dice(22);
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    const Nfa a = random_nfa(dice, 2 + dice.below(5), 2, 4 + dice.below(10), dice.below(3));
    Nfa b = as_nfa(determinise(a));
    CHECK_FALSE(distinguishing_word(a, b).word);
    CHECK_FALSE(excess_word(a, b).word);
    CHECK_FALSE(excess_word(b, a).word);
    b.add_arc(dice.below(b.states()), dice.below(2), dice.below(b.states()));
    check_questions(a, b);
    check_questions(b, a);
  }
}

TEST_CASE("different letters: a language rejects words with letters that it lacks") {
  const Automaton a = parse_regex("a*"), both = parse_regex("(a|c)*");
  const Alphabet letters = common_alphabet(a, both);
  CHECK_FALSE(excess_word(a, both).word);
  CHECK(letters.format_word(*excess_word(both, a).word) == "c");
  CHECK(letters.format_word(*distinguishing_word(a, both).word) == "c");
  CHECK(distinguishing_word(a, both).in_second);
  const Automaton nfa = to_nfa(std::get<Dfa>(both));
  CHECK(letters.format_word(*distinguishing_word(a, nfa).word) == "c");
  CHECK(letters.format_word(*excess_word(nfa, a).word) == "c");
  CHECK(common_word(nfa, parse_regex("a*b*")).word == Word{});
  CHECK_FALSE(common_word(nfa, parse_regex("b+")).word);
}

TEST_CASE("letter n from the end: equality and inclusion need no subset construction") {
  // Its deterministic automaton has 2^(n+1) states; two such expressions share their subsets' structure.
  const auto nth = [](int n, const char* start) {
    return parse_regex_as_it_is(std::string(start) + "a(a|b){" + std::to_string(n) + "}");
  };
  const Automaton a = nth(40, "(a|b)*"), b = nth(40, "(b*a*)*"), longer = nth(41, "(a|b)*");
  REQUIRE(std::holds_alternative<Nfa>(a));
  const QuestionLimits limits{20'000};
  CHECK_FALSE(distinguishing_word(a, b, limits).word);
  CHECK_FALSE(excess_word(a, b, limits).word);
  const DecidingWord difference = distinguishing_word(a, longer, limits);
  CHECK(difference.word->size() == 41);
  CHECK(difference.in_first);
  CHECK_FALSE(accepted_word(parse_regex_as_it_is("[]")).word);
  CHECK(common_word(a, longer, limits).word->size() == 42);
}

TEST_CASE("machines with outputs are compared by them, and have no other questions") {
  const Dfa moore = Dfa::moore(first_letters(1), {1, 0}, 0, {0, 1}, {"even", "odd"});
  const Dfa other = Dfa::moore(first_letters(1), {1, 1}, 0, {0, 1}, {"even", "odd"});
  CHECK(distinguishing_word(Automaton(moore), Automaton(other), {}).word->size() == 2);
  CHECK_FALSE(distinguishing_word(Automaton(moore), Automaton(moore), {}).word);
  CHECK_THROWS_AS(excess_word(moore, other), InputError);
  CHECK_THROWS_AS(common_word(moore, other), InputError);
  CHECK_THROWS_AS(accepted_word(moore), InputError);
}

TEST_CASE("limits say how far the search came, and stop one pair past what is needed") {
  const Automaton a = parse_regex_as_it_is("(a|b)*a(a|b){20}"), b = parse_regex_as_it_is("(a|b)*a(a|b){21}");
  const DecidingWord whole = distinguishing_word(a, b);
  REQUIRE(whole.word->size() == 21);
  CHECK_NOTHROW(distinguishing_word(a, b, {whole.pairs}));
  try {
    distinguishing_word(a, b, {5});
    FAIL("the limit was passed over");
  } catch (const LimitError& error) {
    const std::string message = error.what();
    CHECK(test::contains(message, "--max-pairs"));
    CHECK(test::contains(message, "No word of fewer than"));
  }
  CHECK_THROWS_AS(excess_word(a, b, {5}), LimitError);
  CHECK_THROWS_AS(common_word(a, b, {5}), LimitError);
}

TEST_CASE("the lazy subset construction is the subset construction") {
  Dice dice(23);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    const Nfa nfa = random_nfa(dice, 1 + dice.below(7), 3, dice.below(20), dice.below(4));
    LazySubsets subsets(nfa);
    for (const Word& word : short_words(3, 4)) {
      LazySubsets::Index here = subsets.initial();
      for (const Letter letter : word) here = subsets.next(here, letter);
      CHECK(subsets.accepts(here) == nfa.accepts_word(word));
    }
    CHECK(subsets.size() <= reachable_subsets(nfa) + 1);
  }
}

TEST_CASE("letters that stand for several valuations of bits are not compared by name") {
  const auto over = [](const std::vector<std::string>& names) {
    return Automaton(Dfa::acceptor(Alphabet::from_names(names), std::vector<State>(names.size(), 0), 0, {true}));
  };
  const Automaton coarse = over({"01", "1-"}), fine = over({"01", "10", "11"}), open = over({"01", "00|…"});
  CHECK_FALSE(distinguishing_word(coarse, coarse, {}).word);
  CHECK_THROWS_AS(distinguishing_word(coarse, fine, {}), InputError);
  CHECK_THROWS_AS(excess_word(fine, coarse), InputError);
  CHECK_THROWS_AS(common_word(fine, open), InputError);
  CHECK_FALSE(excess_word(over({"01"}), fine).word);
  CHECK_FALSE(excess_word(over({"a-", "b"}), over({"a-", "b", "-x"})).word);  // not of 0, 1 and - alone
}
