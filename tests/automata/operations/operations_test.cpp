#include "krohn/automata/operations/operations.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"

using namespace krohn;

namespace {

bool accepts(const Dfa& dfa, const Word& word) { return dfa.accepts(dfa.run(word)); }

Word joined(const Word& u, const Word& v) {
  Word word = u;
  word.insert(word.end(), v.begin(), v.end());
  return word;
}

Word prefix(const Word& word, std::size_t length) { return {word.begin(), word.begin() + static_cast<long>(length)}; }
Word suffix(const Word& word, std::size_t start) { return {word.begin() + static_cast<long>(start), word.end()}; }

Dfa nothing(Letter letters) {
  return Dfa::acceptor(first_letters(letters), std::vector<State>(letters, 0), 0, {false});
}
Dfa everything(Letter letters) { return complement(nothing(letters)); }
Dfa empty_word(Letter letters) {
  return Dfa::acceptor(first_letters(letters), std::vector<State>(2 * letters, 1), 0, {true, false});
}

/// Exactly the given words, as a tree.
Dfa finite_language(Letter letters, const std::set<Word>& words) {
  std::vector<Word> nodes{{}};
  for (const Word& word : words)
    for (std::size_t length = 1; length <= word.size(); ++length) nodes.push_back(prefix(word, length));
  const std::set<Word> distinct(nodes.begin(), nodes.end());
  nodes.assign(distinct.begin(), distinct.end());
  const auto number = [&](const Word& word) {
    const auto place = std::lower_bound(nodes.begin(), nodes.end(), word);
    return static_cast<State>(place != nodes.end() && *place == word ? place - nodes.begin()
                                                                     : static_cast<long>(nodes.size()));
  };
  std::vector<State> table;
  std::vector<bool> accepting;
  for (const Word& node : nodes) {
    accepting.push_back(words.count(node) == 1);
    for (Letter letter = 0; letter < letters; ++letter) table.push_back(number(joined(node, {letter})));
  }
  accepting.push_back(false);
  table.insert(table.end(), letters, static_cast<State>(nodes.size()));
  return Dfa::acceptor(first_letters(letters), std::move(table), 0, accepting);
}

}  // namespace

TEST_CASE("Boolean operations agree with the words") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    const Letter letters = 1 + dice.below(3);
    const Dfa a = random_acceptor(dice, 1 + dice.below(8), letters, 1 + dice.below(2));
    const Dfa b = random_acceptor(dice, 1 + dice.below(8), letters, 1 + dice.below(2));
    const Dfa either = union_of(a, b), both = intersection_of(a, b), left = difference_of(a, b);
    const Dfa one = symmetric_difference_of(a, b), none = complement(either);
    CAPTURE(round);
    for (int i = 0; i < 60; ++i) {
      const Word word = random_word(dice, letters, 20);
      const bool in_a = accepts(a, word), in_b = accepts(b, word);
      REQUIRE(accepts(either, word) == (in_a || in_b));
      REQUIRE(accepts(both, word) == (in_a && in_b));
      REQUIRE(accepts(left, word) == (in_a && !in_b));
      REQUIRE(accepts(one, word) == (in_a != in_b));
      REQUIRE(accepts(none, word) == !(in_a || in_b));
    }
  }
}

TEST_CASE("laws of Boolean algebra hold as identity of canonical automata") {
  Dice dice(2);
  for (int round = 0; round < 400; ++round) {
    const Letter letters = dice.below(4);
    const Dfa a = random_acceptor(dice, 1 + dice.below(7), letters),
              b = random_acceptor(dice, 1 + dice.below(7), letters);
    const Dfa c = random_acceptor(dice, 1 + dice.below(4), letters);
    CAPTURE(round);
    REQUIRE(complement(union_of(a, b)) == intersection_of(complement(a), complement(b)));
    REQUIRE(complement(intersection_of(a, b)) == union_of(complement(a), complement(b)));
    REQUIRE(complement(complement(a)) == minimise(a));
    REQUIRE(difference_of(a, b) == intersection_of(a, complement(b)));
    REQUIRE(symmetric_difference_of(a, b) == union_of(difference_of(a, b), difference_of(b, a)));
    REQUIRE(intersection_of(a, union_of(b, c)) == union_of(intersection_of(a, b), intersection_of(a, c)));
    REQUIRE(union_of(a, nothing(letters)) == minimise(a));
    REQUIRE(intersection_of(a, everything(letters)) == minimise(a));
    REQUIRE(is_empty(difference_of(a, a)));
    REQUIRE(is_universal(union_of(a, complement(a))));
  }
}

TEST_CASE("concatenation, star, plus and reverse agree with the words") {
  Dice dice(3);
  const std::vector<Word> words = short_words(2, 7);
  for (int round = 0; round < 60; ++round) {
    const Dfa a = random_acceptor(dice, 1 + dice.below(4), 2), b = random_acceptor(dice, 1 + dice.below(4), 2);
    const Dfa product = concatenation(a, b), closure = star(a), positive = plus(a), backwards = reverse(a);
    CAPTURE(round);
    for (const Word& word : words) {
      std::vector<bool> factors(word.size() + 1, false);  // the prefix of that length is a concatenation from a*
      factors[0] = true;
      bool in_product = false, in_plus = false;
      for (std::size_t end = 0; end <= word.size(); ++end) {
        in_product |= accepts(a, prefix(word, end)) && accepts(b, suffix(word, end));
        for (std::size_t start = 0; start <= end; ++start) {
          const bool last = factors[start] && accepts(a, suffix(prefix(word, end), start));
          if (last) factors[end] = true;
          if (last && end == word.size()) in_plus = true;
        }
      }
      REQUIRE(accepts(product, word) == in_product);
      REQUIRE(accepts(closure, word) == factors[word.size()]);
      REQUIRE(accepts(positive, word) == in_plus);
      REQUIRE(accepts(backwards, word) == accepts(a, Word(word.rbegin(), word.rend())));
      REQUIRE(reverse_nfa(a).accepts_word(word) == accepts(backwards, word));
    }
  }
}

TEST_CASE("laws of the rational operations") {
  Dice dice(4);
  for (int round = 0; round < 150; ++round) {
    const Letter letters = 1 + dice.below(2);
    const Dfa a = random_acceptor(dice, 1 + dice.below(4), letters),
              b = random_acceptor(dice, 1 + dice.below(3), letters);
    const Dfa c = random_acceptor(dice, 1 + dice.below(3), letters);
    CAPTURE(round);
    REQUIRE(reverse(reverse(a)) == minimise(a));
    REQUIRE(reverse(concatenation(a, b)) == concatenation(reverse(b), reverse(a)));
    REQUIRE(concatenation(concatenation(a, b), c) == concatenation(a, concatenation(b, c)));
    REQUIRE(concatenation(a, union_of(b, c)) == union_of(concatenation(a, b), concatenation(a, c)));
    REQUIRE(concatenation(a, empty_word(letters)) == minimise(a));
    REQUIRE(concatenation(nothing(letters), a) == nothing(letters));
    REQUIRE(star(star(a)) == star(a));
    REQUIRE(star(a) == union_of(plus(a), empty_word(letters)));
    REQUIRE(plus(a) == concatenation(a, star(a)));
    REQUIRE(star(union_of(a, b)) == star(concatenation(star(a), star(b))));
  }
}

TEST_CASE("quotients agree with the words and obey their laws") {
  Dice dice(5);
  for (int round = 0; round < 150; ++round) {
    const Letter letters = 1 + dice.below(2);
    const Dfa language = random_acceptor(dice, 1 + dice.below(6), letters);
    const Word u = random_word(dice, letters, 4), v = random_word(dice, letters, 4);
    CAPTURE(round);
    for (int i = 0; i < 30; ++i) {
      const Word word = random_word(dice, letters, 12);
      REQUIRE(accepts(left_quotient(language, u), word) == accepts(language, joined(u, word)));
      REQUIRE(accepts(right_quotient(language, u), word) == accepts(language, joined(word, u)));
    }
    REQUIRE(left_quotient(left_quotient(language, u), v) == left_quotient(language, joined(u, v)));
    REQUIRE(right_quotient(right_quotient(language, u), v) == right_quotient(language, joined(v, u)));
    REQUIRE(left_quotient(language, finite_language(letters, {u})) == left_quotient(language, u));
    REQUIRE(right_quotient(language, finite_language(letters, {u})) == right_quotient(language, u));
    REQUIRE(left_quotient(language, finite_language(letters, {u, v})) ==
            union_of(left_quotient(language, u), left_quotient(language, v)));
    REQUIRE(right_quotient(language, finite_language(letters, {u, v})) ==
            union_of(right_quotient(language, u), right_quotient(language, v)));
    REQUIRE(left_quotient(concatenation(finite_language(letters, {u}), language), u) == minimise(language));
    const Dfa other = random_acceptor(dice, 1 + dice.below(5), letters);
    REQUIRE(reverse(left_quotient(language, other)) == right_quotient(reverse(language), reverse(other)));
    REQUIRE(left_quotient(language, nothing(letters)) == nothing(letters));
    REQUIRE(right_quotient(language, nothing(letters)) == nothing(letters));
  }
}

TEST_CASE("operands over different alphabets are read over the common refinement") {
  const Dfa only_a = finite_language(1, {{0}});                                     // {a} over {a}
  const Dfa b_words = Dfa::acceptor(Alphabet::of_characters("b"), {0}, 0, {true});  // b*
  const Dfa either = union_of(only_a, b_words);
  REQUIRE(either.alphabet() == first_letters(2));
  for (const Word& word : short_words(2, 5)) {
    const bool all_b = std::all_of(word.begin(), word.end(), [](Letter letter) { return letter == 1; });
    CHECK(accepts(either, word) == (word == Word{0} || all_b));
    CHECK(accepts(concatenation(only_a, b_words), word) ==
          (!word.empty() && word[0] == 0 && accepts(b_words, Word(word.size() - 1, 0)) &&
           std::all_of(word.begin() + 1, word.end(), [](Letter l) { return l == 1; })));
    CHECK(accepts(extend_alphabet(b_words, first_letters(1)), word) ==
          std::all_of(word.begin(), word.end(), [](Letter letter) { return letter == 0; }));  // b comes first there
  }
  CHECK(is_empty(intersection_of(plus(only_a), plus(b_words))));
  CHECK(left_quotient(either, only_a) == extend_alphabet(empty_word(1), first_letters(2)));
  CHECK(equivalent(right_quotient(concatenation(only_a, b_words), b_words), concatenation(only_a, b_words)));
  CHECK(is_universal(complement(nothing(1))));
  CHECK_FALSE(is_universal(extend_alphabet(everything(1), first_letters(2))));
}

TEST_CASE("a distinguishing word is a shortest one, whichever search finds it") {
  Dice dice(6);
  for (int round = 0; round < 3000; ++round) {
    const Letter letters = dice.below(4);
    const Output outputs = 1 + dice.below(4);
    const Dfa a = random_moore(dice, 1 + dice.below(12), letters, outputs, 1 + dice.below(4));
    Dfa b = random_moore(dice, 1 + dice.below(12), letters, outputs, 1 + dice.below(4));
    if (dice.below(2) == 0) b = canonical(minimise(a));
    CAPTURE(round);
    const auto word = distinguishing_word(a, b), least = reference_distinguishing_word(a, b);
    REQUIRE(word.has_value() == least.has_value());
    REQUIRE(equivalent(a, b) == (minimise(a) == minimise(b)));
    REQUIRE(equivalent(a, b) == !word.has_value());
    if (word) {
      REQUIRE(word->size() == least->size());
      REQUIRE(a.output(a.run(*word)) != b.output(b.run(*word)));
    }
  }
}

TEST_CASE("outputs are compared by name") {
  const Dfa a = Dfa::moore(first_letters(1), {1, 0}, 0, {0, 1}, {"red", "green"});
  const Dfa b = Dfa::moore(first_letters(1), {1, 0}, 0, {2, 1}, {"blue", "green", "red"});
  CHECK(equivalent(a, b));
  const Dfa c = Dfa::moore(first_letters(1), {1, 1}, 0, {2, 1}, {"blue", "green", "red"});
  CHECK(distinguishing_word(a, c) == Word{0, 0});
}

TEST_CASE("emptiness, universality, finiteness and shortest words agree with short words") {
  Dice dice(8);
  for (int round = 0; round < 500; ++round) {
    const State states = 1 + dice.below(4);
    const Dfa dfa = random_acceptor(dice, states, 2, 1 + dice.below(3));
    std::optional<Word> least;
    bool all = true, some_long = false;
    for (const Word& word : short_words(2, 7)) {  // n … 2n − 1 letters decide finiteness
      const bool accepted = accepts(dfa, word);
      if (accepted && !least) least = word;
      all &= accepted;
      some_long |= accepted && word.size() >= states;
    }
    CAPTURE(round);
    REQUIRE(shortest_accepted_word(dfa) == least);
    REQUIRE(is_empty(dfa) == !least.has_value());
    REQUIRE(is_universal(dfa) == all);
    REQUIRE(is_finite(dfa) == !some_long);
  }
}

TEST_CASE("empty alphabets, empty languages, one state") {
  const Dfa yes = everything(0), no = nothing(0);
  CHECK(is_universal(yes));
  CHECK(is_finite(yes));
  CHECK(is_empty(no));
  CHECK(shortest_accepted_word(yes) == Word{});
  CHECK(union_of(yes, no) == yes);
  CHECK(star(no) == yes);
  CHECK(plus(no) == no);
  CHECK(concatenation(yes, no) == no);
  CHECK(reverse(yes) == yes);
  CHECK(left_quotient(yes, Word{}) == yes);
  CHECK(distinguishing_word(yes, no) == Word{});
  CHECK(star(nothing(2)) == empty_word(2));
  CHECK(union_of(yes, nothing(2)) == empty_word(2));  // the empty word is in both worlds
}

TEST_CASE("what is no acceptor, too large, or over the wrong letters is refused") {
  Dice dice(9);
  const Dfa machine = random_moore(dice, 4, 2, 3), acceptor = random_acceptor(dice, 4, 2);
  CHECK_THROWS_AS(union_of(machine, acceptor), InputError);
  CHECK_THROWS_AS(union_of(acceptor, machine), InputError);
  CHECK_THROWS_AS(complement(machine), InputError);
  CHECK_THROWS_AS(concatenation(acceptor, machine), InputError);
  CHECK_THROWS_AS(star(machine), InputError);
  CHECK_THROWS_AS(reverse(machine), InputError);
  CHECK_THROWS_AS(left_quotient(machine, Word{}), InputError);
  CHECK_THROWS_AS(is_empty(machine), InputError);
  CHECK_THROWS_AS(left_quotient(acceptor, Word{0, 2}), InputError);
  CHECK_THROWS_AS(distinguishing_word(machine, random_acceptor(dice, 3, 3)), InputError);
  const Dfa large = random_acceptor(dice, 200, 2), larger = random_acceptor(dice, 200, 2);
  CHECK_THROWS_AS(union_of(large, larger, 1000), LimitError);
  CHECK_THROWS_AS(reverse(large, 1000), LimitError);
}
