#include "krohn/automata/syntax/expression.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/automata/small_languages.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Dfa value(const std::string& expression, const LanguageOptions& options = {}) {
  return minimise(to_dfa(load_expression(expression, options), 1'000'000));
}

std::string complaint(const std::string& expression) {
  return test::error_of([&] { load_expression(expression); });
}

}  // namespace

TEST_CASE("operators and functions say what a regular expression says") {
  struct Fact {
    const char *expression, *regex;
  };
  for (const Fact& fact : {
           Fact{"regex:a*", "a*"},
           Fact{"regex:a|b", "a|b"},  // one language, with no blank in it
           Fact{"regex:a | regex:b", "a|b"},
           Fact{"regex:ab|regex:b", "ab|regex:b"},  // still one: no blank
           Fact{"regex:a* & regex:(aa)*", "(aa)*"},
           Fact{"regex:a* - regex:(aa)*", "a(aa)*"},
           Fact{"regex:a* ^ regex:(aa)*b?", "a(aa)*|(aa)*b"},
           Fact{"regex:a* . regex:b", "a*b"},
           Fact{"(regex:ab)*", "(ab)*"},
           Fact{"(regex:ab)+", "(ab)+"},
           Fact{"(regex:ab)?", "(ab)?"},
           Fact{"'regex:ab'*", "(ab)*"},
           Fact{"~regex:a*", "[]"},                            // over the letter a alone
           Fact{"~regex:a* & regex:(a|b)*", "(a|b)*b(a|b)*"},  // over both letters
           Fact{"regex:(a|b)* & ~(regex:a* | regex:b*)", "(a|b)*(ab|ba)(a|b)*"},
           Fact{"~~regex:ab", "ab"},
           Fact{"regex:a | regex:b & regex:c", "a"},
           Fact{"(regex:a | regex:b) & regex:b", "b"},
           Fact{"regex:a . regex:b | regex:c", "ab|c"},
           Fact{"regex:ab - regex:ab - regex:ab", "[]"},
           Fact{"regex:a|b . regex:c", "(a|b)c"},
           Fact{"regex:[)(] . regex:\\) . regex:\")(\"", "[)(]\\)\")(\""},
           Fact{"'regex:a b' | \"regex:c d\"", "a b|c d"},
           Fact{"regex:(a b)", "a b"},  // blanks inside brackets belong to it
           Fact{"union(regex:a{1,2}, regex:b, regex:c)", "aa?|b|c"},
           Fact{"intersection(regex:a*, regex:(aa)*, regex:(aaa)*)", "(a{6})*"},
           Fact{"concatenation(regex:a, regex:b, regex:c)", "abc"},
           Fact{"shuffle(regex:ab, regex:c)", "abc|acb|cab"},
           Fact{"difference(regex:a*, regex:a)", "()|aaa*"},
           Fact{"symmetric-difference(regex:a, regex:b)", "a|b"},
           Fact{"left-quotient(regex:abc, regex:a|ab)", "bc|c"},
           Fact{"right-quotient(regex:abc, regex:c|bc)", "ab|a"},
           Fact{"complement(regex:a*) | regex:b", "(a|b)*b(a|b)*"},
           Fact{"star(regex:ab)", "(ab)*"},
           Fact{"plus(regex:ab)", "(ab)+"},
           Fact{"optional(regex:ab)", "(ab)?"},
           Fact{"reverse(regex:abc)", "cba"},
           Fact{"prefixes(regex:abc)", "(a(b(c?))?)?"},
           Fact{"suffixes(regex:abc)", "((a?b)?c)?"},
           Fact{"factors(regex:abc)", "(a(b(c?))?)?|(bc?)?|c?"},
           Fact{"subwords(regex:abc)", "a?b?c?"},
           Fact{"project(regex:(abc)*, ac)", "(ac)*"},
           Fact{"erase(regex:(abc)*, ac)", "b*"},
           Fact{"over(regex:a*, ab) & ~regex:a", "()|aaa*"},
           Fact{"~over(regex:a*, ab)", "(a|b)*b(a|b)*"},
           Fact{"image(regex:(ab)*, a=xy,b=)", "(xy)*"},
           Fact{"image(regex:(ab)*, a=bb)", "(bbb)*"},
           Fact{"image(regex:ab, a=SYN ACK)", "\"SYN\"\"ACK\"b"},
           Fact{"image(regex:ab, 'a=\"SYN\"')", "\"SYN\"b"},
           Fact{"preimage(regex:(ab)*, x=a,y=ba)", "(xy)*&[]|()"},
           Fact{"preimage(regex:(ab)*, x=ab,y=)", "(x|y)*"},
           Fact{"name:parity & regex:1*", "1(11)*"},
           Fact{" (\tregex:a ) ", "a"},
       }) {
    CAPTURE(fact.expression);
    CHECK_FALSE(distinguishing_word(value(fact.expression), parse_regex(fact.regex)));
  }
}

TEST_CASE("what is not an expression is refused with a column") {
  struct Fact {
    const char *expression, *begins;
  };
  for (const Fact& fact : {
           Fact{"", "expression:1: a language is missing"},
           Fact{"regex:a &", "expression:10: a language is missing"},
           Fact{"& regex:a", "expression:1: a language is missing before \"&\""},
           Fact{"- regex:a", "expression:1: a language is missing before \"-\""},
           Fact{"regex:a regex:b", "expression:9: two languages stand side by side"},
           Fact{"(regex:a", "expression:1: this ( is not closed"},
           Fact{"regex:a)", "expression:8: this ) closes nothing"},
           Fact{"'regex:a", "expression:1: this quote is not closed"},
           Fact{"regex:[a", "expression:7: this [ is not closed"},
           Fact{"regex:(a", "expression:1: a bracket in this is not closed"},
           Fact{"revers(regex:a)", "expression:1: there is no function \"revers\". Did you mean \"reverse\"?"},
           Fact{"reverse(regex:a, regex:b)", "expression:1: it is reverse(A)"},
           Fact{"union(regex:a)", "expression:1: it is union(A, B, …)"},
           Fact{"difference(regex:a, regex:b, regex:c)", "expression:1: it is difference(A, B)"},
           Fact{"project(regex:a)", "expression:1: it is project(A, LETTERS)"},
           Fact{"regex:a, regex:b", "expression:8: a comma"},
           Fact{"project(regex:ab, c)", "expression:1: the letter \"c\" to keep"},
           Fact{"erase(regex:ab, c)", "expression:1: the letter \"c\" to strike out"},
           Fact{"image(regex:ab, c=d)", "expression:1: \"c\" is not in the alphabet"},
           Fact{"image(regex:ab, a=c,a=d)", "expression:1: \"a\" has two images"},
           Fact{"image(regex:ab, a)", "expression:1: \"a\" gives a letter no image"},
           Fact{"name:modarith5 | regex:a", "expression:1: \"name:modarith5\" is a machine with outputs"},
           Fact{"ä | regex:ö regex:ü", "expression:13: two languages"},
       }) {
    CAPTURE(fact.expression);
    const std::string message = complaint(fact.expression);
    CAPTURE(message);
    CHECK(message.starts_with(fact.begins));
  }
  const auto nested = [](std::size_t depth) {
    std::string text(depth, '(');
    text += "regex:a";
    text.append(depth, ')');
    return text;
  };
  CHECK(test::contains(complaint(nested(501)), "nests deeper"));
  CHECK(value(nested(400)) == parse_regex("a"));
}

TEST_CASE("--alphabet adds letters, for regular expressions and for what ~ ranges over") {
  CHECK_FALSE(
      distinguishing_word(value("~regex:a*", LanguageOptions{.alphabet = "abc"}), parse_regex("[abc]*[bc][abc]*")));
}

TEST_CASE("expr: is a language wherever one is") {
  CHECK(load_language("expr:regex:a* & regex:(aa)*") == parse_regex("(aa)*"));
  CHECK_FALSE(distinguishing_word(load_language("expr:~expr:regex:a & regex:a|b"), parse_regex("b")));
}

TEST_CASE("images of and into classes of characters are those of their characters") {
  for (const auto& [expression, right] : {std::pair{"image(regex:[a-z]b, a=xy)", "xyb|[b-z]b"},
                                          {"image(regex:[a-z]b, b=x)", "[ac-z]x|xx"},
                                          {"image(regex:[a-z]*, a=)", "[b-z]*"},
                                          {"image(regex:[ab]c, a=x, b=y)", "[xy]c"},
                                          {"image(regex:[a-z], a=b)", "[b-z]"},
                                          {"image(regex:[a-c]*, a=bb, b=a)", "(bb|a|c)*"},
                                          {"image(regex:a[a-z], a=SYN ACK)", "\"SYN\"\"ACK\"(\"SYN\"\"ACK\"|[b-z])"},
                                          {"preimage(regex:[a-z]b, x=ab, y=b)", "x|yy"}}) {
    CAPTURE(expression);
    CHECK_FALSE(distinguishing_word(value(expression), parse_regex(right)));
  }
}

TEST_CASE("what stays nondeterministic inside is complemented and compared all the same") {
  // 2^15 subsets: past what an operation settles by itself, within what a complement may take.
  const std::string big = "regex:(a|b)*a(a|b){14}";
  const Automaton kept = load_expression(big + " | regex:[]");
  CHECK(std::holds_alternative<Nfa>(kept));
  CHECK(value("~(" + big + ") & " + big).states() == 1);
  CHECK_FALSE(distinguishing_word(value(big + " - regex:b*"), parse_regex("(a|b)*a(a|b){14}")));
  CHECK_THROWS_AS(load_expression("~(" + big + ")", LanguageOptions{.max_states = 1000}), LimitError);
}

TEST_CASE("any text is an expression or refused") {
  Dice dice(61);
  const std::string parts[] = {"regex:a", "regex:[a]", "'",   "\"",          "(",       ")",   " ",     "&", "|",
                               "~",       "*",         "+",   "?",           ",",       " . ", " - ",   "^", "reverse(",
                               "image(",  "project(",  "a=b", "name:parity", "regex:(", "\\",  "union("};
  int values = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint32_t left = 1 + dice.below(8); left > 0; --left) text += parts[dice.below(std::size(parts))];
    CAPTURE(text);
    try {
      const Automaton automaton = load_expression(text);
      ++values;
    } catch (const Error&) {
    }
  }
  CHECK(values > 500);
}
