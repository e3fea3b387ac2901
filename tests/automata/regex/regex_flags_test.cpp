// Case, word boundaries and searching, against the regular expressions of the standard library.

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/regex/regex.h"
#include "krohn/automata/regex/regex_derivatives.h"
#include "krohn/automata/regex/regex_syntax.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"
#include "tests/scratch.h"

using namespace krohn;

namespace {

/// Every word of at most four letters, against std::regex (ECMAScript) and against the tree.
void check_expression(const std::string& expression, const std::string& ecma, const std::string& alphabet, bool search,
                      bool ignore_case) {
  CAPTURE(expression);
  RegexOptions options;
  options.alphabet = Alphabet::of_characters(alphabet);
  options.search = search;
  const Dfa dfa = parse_regex(expression, options);
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, 100'000, search);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  const auto flags = ignore_case ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
  const std::regex theirs(ecma, flags);
  for (const Word& word : short_words(dfa.letters(), 4)) {
    const std::string text = dfa.alphabet().format_word(word);
    CAPTURE(text);
    const bool expected = search ? std::regex_search(text, theirs) : std::regex_match(text, theirs);
    CHECK(dfa.accepts(dfa.run(word)) == expected);
    CHECK(reference_matches(tree, letters, word) == expected);
  }
}

/// A random expression of ECMAScript and of this project alike.
std::string random_expression(Dice& dice, int depth, bool boundaries) {
  const auto inner = [&] { return random_expression(dice, depth - 1, boundaries); };
  switch (depth == 0 ? dice.below(boundaries ? 4 : 3) : 3 + dice.below(5)) {
    case 0:
      return "a";
    case 1:
      return "B";
    case 2:
      return "[ a]";
    case 3:
      if (boundaries) return std::vector<std::string>{"\\b", "\\B", "^", "$"}[dice.below(4)];
      return " ";
    case 4:
      return "(?:" + inner() + "|" + inner() + ")";
    case 5:
      return "(?:" + inner() + ")*";
    case 6:
      return "(?:" + inner() + ")?";
    default:
      return inner() + inner();
  }
}

}  // namespace

TEST_CASE("word boundaries mean what they mean elsewhere") {
  for (const char* expression : {"\\ba", "a\\b", "\\b", "\\B", "\\b\\B", "a\\b-", "a\\Ba", ".*\\ba\\b.*", "(\\b|a)*",
                                 "(a\\b|-)+", "\\b(a|-)*\\b", "(\\Ba\\b)*", "[^a]\\b."})
    check_expression(expression, expression, "ab- _", false, false);
  Dice dice(51);
  for (int i = 0; i < 400; ++i) {
    const std::string expression = random_expression(dice, 3, true);
    check_expression(expression, expression, "aB ", false, false);
    check_expression(expression, expression, "aB ", true, false);
  }
}

TEST_CASE("ignoring case, for the rest of a group or within one") {
  struct Fact {
    const char *expression, *plain;
  };
  for (const Fact& fact :
       {Fact{"(?i)a", "[aA]"}, Fact{"a(?i)b", "a[bB]"}, Fact{"(a(?i)b)c", "a[bB]c"}, Fact{"(?i:a)b", "[aA]b"},
        Fact{"(?i)a(?-i)b", "[aA]b"}, Fact{"(?i)a(?-i:b)c", "[aA]b[cC]"}, Fact{"(?i)[a-c]", "[a-cA-C]"},
        Fact{"a(?i)|b", "a|[bB]"}, Fact{"(?i)a|b", "[aAbB]"}, Fact{"(?s)a", "a"}, Fact{"(?is-u:a)", "[aA]"},
        Fact{"((?i)a)*b", "[aA]*b"}, Fact{"(?i)1", "1"}, Fact{"(?i)\\x61", "[aA]"}, Fact{"(?i)ä", "[äÄ]"}}) {
    CAPTURE(fact.expression);
    CHECK(parse_regex(fact.expression).states() == parse_regex(fact.plain).states());
    CHECK_FALSE(distinguishing_word(parse_regex(fact.expression), parse_regex(fact.plain)));
  }
  // Not one of k (which has the Kelvin sign beside K) and s (and the long s).
  CHECK(parse_regex("(?i)k").alphabet()[0].characters.size() == 3);
  CHECK_FALSE(distinguishing_word(parse_regex("(?i)[^a]"), parse_regex("[^aA]")));
  CHECK_FALSE(distinguishing_word(parse_regex("(?i)\\w"), parse_regex("\\w")));
  Dice dice(52);
  for (int i = 0; i < 200; ++i) {
    const std::string expression = random_expression(dice, 3, i % 2 == 0);
    check_expression("(?i)" + expression, expression, "aAb ", false, true);
  }
}

TEST_CASE("a search finds what stands anywhere, or at the ends that its anchors name") {
  for (const char* expression : {"a", "ab|ba", "^a", "a$", "^a$", "^a|b$", "^(a|b)$", "", "^$", "a.b", "(ab)*b",
                                 "^a|^b", "[^a]", "(^|b)a(b|$)", "(^-)|(b$)", "a^b", "a$b", "(^a|b)*-", "(a(b|$))*"})
    check_expression(expression, expression, "ab-", true, false);
  CHECK(load_language("search:a=b").alphabet().size() == 4);  // a, b, =, and all of Unicode else
  CHECK(load_language("search:a")
            .accepts(load_language("search:a").run(load_language("search:a").alphabet().parse_word("xäa\n"))));
  CHECK_FALSE(
      distinguishing_word(load_language("expr:search:a & search:b"), load_language("expr:search:b & search:a")));
}

TEST_CASE("a list of words is searched for as fast as it is read") {
  // Each letter is one alternative, so that 2^60 subsets of matches could be told apart.
  std::string letters, words, pairs;
  for (char c = 'A'; c <= 'z'; ++c)
    if (c != '\\' && c != '[' && c != ']' && c != '^') letters += std::string(letters.empty() ? "" : "|") + c;
  CHECK(load_language("search:" + letters).states() == 2);
  Dice dice(53);
  for (int i = 0; i < 1000; ++i) {
    if (i > 0) words += '|';
    for (int length = 4 + dice.below(6); length-- > 0;) words += static_cast<char>('a' + dice.below(26));
  }
  const Dfa in_brackets = load_language("search:(" + words + ")");
  CHECK(load_language("search:" + words) == in_brackets);
  CHECK(in_brackets.states() > 4000);
  CHECK(load_language("search:(^|-)(" + words + ")(-|$)").states() > 2000);
  CHECK_FALSE(distinguishing_word(load_language("search:^(" + words + ")$"), load_language("regex:" + words)));
}

TEST_CASE("anchors wherever they stand mean what they mean in Python") {
  // An expression a line: how it is matched, itself, and of every word of at most three letters over a, - and a line
  // break, in order of length and then of letters, whether it is matched, or ?: tools/bench/peer_regex.py golden.
  std::istringstream lines(test::contents(KROHN_TEST_DATA "/anchors.tsv"));
  RegexOptions options;
  options.alphabet = Alphabet::of_characters("a-\n");
  std::size_t accepted = 0, expressions = 0;
  for (std::string kind, expression, matched; std::getline(lines, kind, '\t');) {
    std::getline(lines, expression, '\t');
    std::getline(lines, matched);
    CAPTURE(kind);
    CAPTURE(expression);
    options.search = kind == "search";
    const Dfa dfa = parse_regex(expression, options);
    std::string ours;
    for (const Word& word : short_words(dfa.letters(), 3)) ours += dfa.accepts(dfa.run(word)) ? '1' : '0';
    REQUIRE(ours.size() == matched.size());
    if (matched.starts_with('?')) ours.front() = '?';
    CHECK(ours == matched);
    accepted += static_cast<std::size_t>(std::ranges::count(ours, '1'));
    ++expressions;
  }
  CHECK(expressions == 1500);
  CHECK(accepted > 10'000);
}

TEST_CASE("automata, relations and derivatives agree on every small expression with anchors, inside & and ~ too") {
  const std::vector<std::string> atoms{"a", "-", "^", "$", "\\b", "\\B", "(?m:^)", "(?m:$)"};
  const auto composed = [](const std::vector<std::string>& left, const std::vector<std::string>& right) {
    std::vector<std::string> all;
    for (const std::string& a : left)
      for (const std::string& b : right)
        for (const char* between : {"", "|", "&"}) all.push_back("(" + a + between + b + ")");
    return all;
  };
  std::vector<std::string> small = composed(atoms, atoms), expressions = atoms;
  for (const std::string& a : atoms) small.push_back("~" + a);
  for (std::size_t i = small.size(); i-- > 0;) small.push_back("(" + small[i] + ")*");
  for (const auto& list : {small, composed(small, atoms), composed(atoms, small)})
    expressions.insert(expressions.end(), list.begin(), list.end());
  RegexOptions options;
  options.alphabet = Alphabet::of_characters("a-\n");
  std::size_t round = 0;
  for (const std::string& expression : expressions) {
    options.search = ++round % 2 == 0;
    const Dfa dfa = parse_regex(expression, options);
    const RegexTree tree = parse_regex_syntax(expression, options.alphabet, 1000, options.search);
    const RegexLetters letters = letters_of(tree, options.alphabet);
    for (const Word& word : short_words(3, 3))
      if (dfa.accepts(dfa.run(word)) != reference_matches(tree, letters, word))
        FAIL_CHECK(expression << " on " << dfa.alphabet().format_word(word));
    if (round % 7 == 0 && word_against_regex(parse_regex(expression), expression)) FAIL_CHECK(expression);
  }
  CHECK(expressions.size() == 19'608);
}

TEST_CASE("what flags and boundaries cannot do is said with its column") {
  struct Fact {
    const char *expression, *begins;
  };
  for (const Fact& fact :
       {Fact{"a(?R)b", "regex:2: the flag R is not supported"}, Fact{"(?x:a)", "regex:1: the flag x is not supported"},
        Fact{"(?i", "regex:1: groups are"}, Fact{"(?i-", "regex:1: groups are"}, Fact{"(?#c)", "regex:1: groups are"},
        Fact{"(?>a)", "regex:1: groups are"}, Fact{"[\\b]", "regex:2: \\b reads no character"},
        Fact{"[a\\z]", "regex:3: \\z reads no character"}}) {
    CAPTURE(fact.expression);
    std::string message;
    try {
      parse_regex(fact.expression);
    } catch (const InputError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.starts_with(fact.begins));
  }
  CHECK_FALSE(word_against_regex(parse_regex("a"), "\\ba"));
  CHECK_FALSE(word_against_regex(parse_regex("[aA]"), "(?i)a"));
}

TEST_CASE("a boundary names no letters of its own") {
  CHECK(parse_regex("\\bfoo\\b").alphabet() == Alphabet::of_characters("fo"));
  CHECK(parse_regex("\\w\\b").alphabet().size() == 1);
  CHECK(parse_regex("\\b\\w").alphabet().size() == 1);
  CHECK(parse_regex("\\b.").alphabet().size() == 2);  // nothing is named, so all of Unicode: words and the rest
}
