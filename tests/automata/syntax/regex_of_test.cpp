#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/automata/syntax/regex_syntax.h"
#include "tests/automata/reference_matches.h"
#include "tests/automata/small_languages.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

constexpr RegexOfOptions kQuick{.max_length = 100'000, .orders = 10, .changes = 30, .seconds = 5};

/// By pairs of states, and by matching words of at most `length` letters against the syntax tree alone.
void check_expression(const Dfa& dfa, const std::string& expression, std::size_t length) {
  CAPTURE(expression);
  CHECK_FALSE(distinguishing_word(dfa, parse_regex(expression)));
  const RegexTree tree = parse_regex_syntax(expression, std::nullopt, 1'000'000);
  const RegexLetters letters = letters_of(tree, dfa.alphabet());
  REQUIRE(letters.alphabet == dfa.alphabet());
  for (const Word& word : short_words(dfa.letters(), length))
    CHECK(reference_matches(tree, letters, word) == dfa.accepts(dfa.run(word)));
}

}  // namespace

TEST_CASE("every acceptor of at most three states over two letters has an expression") {
  std::size_t most = 0, languages = 0;
  for (const State states : {1U, 2U, 3U}) {
    std::set<std::pair<std::vector<State>, std::vector<Output>>> seen;
    for (const Dfa& dfa : all_acceptors(states, 2)) {
      const Dfa minimal = minimise(dfa);
      if (minimal.states() != states) continue;
      const bool fresh = seen.emplace(std::vector<State>(minimal.table().begin(), minimal.table().end()),
                                      std::vector<Output>(minimal.outputs().begin(), minimal.outputs().end()))
                             .second;
      if (!fresh) continue;
      const std::string expression = regex_of(minimal, kQuick);
      check_expression(minimal, expression, 4);
      most = std::max(most, expression.size());
      ++languages;
    }
  }
  CHECK(languages == 2 + 24 + 1028);  // Domaratzki, Kisman, Shallit 2002
  CHECK(most <= 40);
}

TEST_CASE("random acceptors have expressions that mean them") {
  Dice dice(31);
  for (int i = 0; i < 10'000; ++i) {
    CAPTURE(i);
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(5), 1 + dice.below(3));
    check_expression(dfa, regex_of(dfa, {.max_length = 1'000'000, .orders = 2, .changes = 3, .seconds = 5}), 2);
  }
}

TEST_CASE("expressions are as short as people write them") {
  for (const char* expression : {"[]",           "()",         "a",
                                 "a*",           "a+",         "a?",
                                 "ab",           "[ab]*",      "[ab]*abb",
                                 "[ab]*a[ab]",   "a*b*",       "(ab)*",
                                 "(ab)+",        "(aa)*",      "a{5}",
                                 "a?b?c?",       "[a-z]+",     "[A-Z_a-z][0-9A-Z_a-z]*",
                                 "[^a]*",        "[^a]*a",     "\"SYN\"(\"ACK\")*",
                                 "(\"SYN\"|a)*", "\\*+",       "[*+]",
                                 "a(b|cd)e",     "\\n\\x{1B}", "[-\\]^\\\\]",
                                 "[01]*1",       "(a|bb)*"}) {
    CAPTURE(expression);
    const Dfa dfa = parse_regex(expression);
    const std::string found = regex_of(dfa);
    CAPTURE(found);
    CHECK(found.size() <= std::string(expression).size());
    CHECK_FALSE(distinguishing_word(dfa, parse_regex(found)));
  }
}

TEST_CASE("an expression longer than asked for is refused, one as long is not") {
  const Dfa dfa = parse_regex("[ab]*abb");
  CHECK(regex_of(dfa, {.max_length = 8}) == "[ab]*abb");
  try {
    regex_of(dfa, {.max_length = 7});
    FAIL("eight bytes in seven");
  } catch (const LimitError& error) {
    CHECK(test::contains(std::string(error.what()), "--longest"));
  }
  CHECK_THROWS_AS(regex_of(Dfa::moore(first_letters(1), {0}, 0, {0}, {"x", "y"})), InputError);
}

TEST_CASE("automata without letters") {
  CHECK(regex_of(Dfa::acceptor(Alphabet(), {}, 0, {true})) == "()");
  CHECK(regex_of(Dfa::acceptor(Alphabet(), {}, 0, {false})) == "[]");
}

TEST_CASE("terms simplify as they are built") {
  RegexTerms terms(first_letters(3));
  const auto a = terms.letters({0}), b = terms.letters({1}), c = terms.letters({2});
  const auto text = [&](RegexTerms::Id id) { return terms.text(id); };
  CHECK(text(terms.union_of(a, b)) == "[ab]");
  CHECK(text(terms.union_of(a, terms.star(a))) == "a*");
  CHECK(text(terms.concatenation(a, terms.star(a))) == "a+");
  CHECK(text(terms.concatenation(terms.star(a), a)) == "a+");
  CHECK(text(terms.concatenation(a, terms.plus(a))) == "aa+");
  CHECK(text(terms.concatenation(terms.optional(a), terms.star(a))) == "a*");
  CHECK(text(terms.concatenation(terms.concatenation(a, b), terms.star(terms.concatenation(a, b)))) == "(ab)+");
  CHECK(text(terms.concatenation(terms.star(terms.concatenation(a, b)), terms.concatenation(a, b))) == "(ab)+");
  CHECK(text(terms.star(terms.union_of(terms.star(a), terms.plus(b)))) == "[ab]*");
  CHECK(text(terms.star(terms.concatenation(terms.star(a), terms.star(b)))) == "[ab]*");
  CHECK(text(terms.union_of(RegexTerms::kEmptyWord, terms.plus(a))) == "a*");
  CHECK(text(terms.union_of(terms.concatenation(a, b), terms.concatenation(a, c))) == "a[bc]");
  CHECK(text(terms.union_of(terms.concatenation(b, a), terms.concatenation(c, a))) == "[bc]a");
  CHECK(text(terms.union_of(a, terms.concatenation(a, b))) == "ab?");
  CHECK(text(terms.concatenation(a, RegexTerms::kNothing)) == "[]");
  CHECK(text(terms.star(RegexTerms::kNothing)) == "()");
  const std::vector<RegexTerms::Id> five(5, a), optional(4, terms.optional(a));
  CHECK(text(terms.concatenation(five)) == "a{5}");
  CHECK(text(terms.concatenation(optional)) == "a{0,4}");
}

TEST_CASE("random terms have the words of their texts") {
  Dice dice(32);
  RegexTerms terms(first_letters(2));
  std::vector<RegexTerms::Id> pool{terms.letters({0}), terms.letters({1}), terms.letters({0, 1}),
                                   RegexTerms::kEmptyWord};
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    const auto left = pool[dice.below(static_cast<std::uint32_t>(pool.size()))];
    const auto right = pool[dice.below(static_cast<std::uint32_t>(pool.size()))];
    const Nfa in_left = terms.automaton(left), in_right = terms.automaton(right);
    RegexTerms::Id made = 0;
    Nfa expected(first_letters(2));
    switch (dice.below(5)) {
      case 0:
        made = terms.union_of(left, right), expected = union_of(in_left, in_right);
        break;
      case 1:
        made = terms.concatenation(left, right), expected = concatenation(in_left, in_right);
        break;
      case 2:
        made = terms.star(left), expected = star(in_left);
        break;
      case 3:
        made = terms.plus(left), expected = plus(in_left);
        break;
      default:
        made = terms.optional(left), expected = union_of(in_left, terms.automaton(RegexTerms::kEmptyWord));
    }
    CAPTURE(terms.text(made));
    REQUIRE(words_of(terms.automaton(made), 5) == words_of(expected, 5));
    REQUIRE_FALSE(distinguishing_word(parse_regex(terms.text(made)), minimal_of(expected, 100'000)));
    REQUIRE(terms.accepts_empty(made) == expected.accepts_word(Word{}));
    if (terms.length(made) < 40) pool.push_back(made);
  }
}
