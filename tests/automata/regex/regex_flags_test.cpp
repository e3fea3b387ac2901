// Case, word boundaries and searching, against the regular expressions of the standard library.

#include <doctest/doctest.h>

#include <regex>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/regex/regex.h"
#include "krohn/automata/regex/regex_derivatives.h"
#include "krohn/automata/regex/regex_syntax.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"

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
      return boundaries ? (dice.below(2) == 0 ? "\\b" : "\\B") : " ";
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
  for (const char* expression :
       {"a", "ab|ba", "^a", "a$", "^a$", "^a|b$", "^(a|b)$", "", "^$", "a.b", "(ab)*b", "^a|^b", "[^a]"})
    check_expression(expression, expression, "ab-", true, false);
  CHECK(load_language("search:a=b").alphabet().size() == 4);  // a, b, =, and all of Unicode else
  CHECK(load_language("search:a")
            .accepts(load_language("search:a").run(load_language("search:a").alphabet().parse_word("xäa\n"))));
  CHECK_FALSE(
      distinguishing_word(load_language("expr:search:a & search:b"), load_language("expr:search:b & search:a")));
  RegexOptions search;
  search.search = true;
  CHECK_THROWS_WITH_AS(parse_regex("^a&b", search), doctest::Contains("regex:3: a search has ^ and $"), InputError);
}

TEST_CASE("what flags and boundaries cannot do is said with its column") {
  struct Fact {
    const char *expression, *begins;
  };
  for (const Fact& fact :
       {Fact{"a(?m)b", "regex:2: the flag m is not supported"}, Fact{"(?x:a)", "regex:1: the flag x is not supported"},
        Fact{"(?i", "regex:1: groups are"}, Fact{"(?i-", "regex:1: groups are"}, Fact{"(?#c)", "regex:1: groups are"},
        Fact{"(?>a)", "regex:1: groups are"}, Fact{"a&\\bb", "regex:3: \\b and \\B are not supported inside & and ~"},
        Fact{"~(a\\B)", "regex:4: \\b and \\B"}, Fact{"[\\b]", "regex:2: \\b looks around itself"},
        Fact{"\\A", "regex:1: \\A looks"}}) {
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
  CHECK_THROWS_AS(word_against_regex(parse_regex("a"), "\\ba"), InputError);
  CHECK_FALSE(word_against_regex(parse_regex("[aA]"), "(?i)a"));
}

TEST_CASE("a boundary names no letters of its own") {
  CHECK(parse_regex("\\bfoo\\b").alphabet() == Alphabet::of_characters("fo"));
  CHECK(parse_regex("\\w\\b").alphabet().size() == 1);
  CHECK(parse_regex("\\b\\w").alphabet().size() == 1);
  CHECK(parse_regex("\\b.").alphabet().size() == 2);  // nothing is named, so all of Unicode: words and the rest
}
