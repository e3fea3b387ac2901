#include <regex>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/automata/syntax/regex_syntax.h"
#include "tests/automata/random_automata.h"
#include "tests/automata/reference_matches.h"
#include "tests/testing.h"

using namespace krohn;

// Case, word boundaries and searching, against the regular expressions of the standard library.

namespace {

/// Every word of at most four letters, against std::regex (ECMAScript) and against the tree.
void check_expression(const std::string& expression, const std::string& ecma, const std::string& alphabet, bool search,
                      bool ignore_case) {
  CAPTURE(expression);
  const RegexOptions options{.alphabet = Alphabet::of_characters(alphabet), .search = search};
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
  RegexOptions options{.alphabet = Alphabet::of_characters("a-\n")};
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
    const std::string message = test::error_of([&] { parse_regex(fact.expression); });
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

namespace {

/// The names of the letters, one after another with spaces between.
std::string names_of(const Dfa& dfa) {
  std::string names;
  for (const Symbol& symbol : dfa.alphabet().symbols()) names += (names.empty() ? "" : " ") + symbol.name;
  return names;
}

bool accepts(const Dfa& dfa, std::string_view word) { return dfa.accepts(dfa.run(dfa.alphabet().parse_word(word))); }

RegexOptions over(std::string_view alphabet) { return {.alphabet = parse_alphabet(alphabet)}; }

// A second syntax tree, matcher and printer that share nothing with the parser ------------------------------------

struct Expression {
  enum Kind { kLetter, kAny, kEmptyWord, kNothing, kUnion, kAnd, kThen, kNot, kRepeat } kind;
  char letter = 'a';
  std::shared_ptr<Expression> left, right;
  int least = 0, most = 0;  ///< most < 0: unbounded
};

using Tree = std::shared_ptr<Expression>;

/// Matches by trying every split: exponential and obvious.
bool matches(const Expression& e, std::string_view word) {
  switch (e.kind) {
    case Expression::kLetter:
      return word.size() == 1 && word[0] == e.letter;
    case Expression::kAny:
      return word.size() == 1;
    case Expression::kEmptyWord:
      return word.empty();
    case Expression::kNothing:
      return false;
    case Expression::kUnion:
      return matches(*e.left, word) || matches(*e.right, word);
    case Expression::kAnd:
      return matches(*e.left, word) && matches(*e.right, word);
    case Expression::kNot:
      return !matches(*e.left, word);
    case Expression::kThen:
      for (std::size_t i = 0; i <= word.size(); ++i)
        if (matches(*e.left, word.substr(0, i)) && matches(*e.right, word.substr(i))) return true;
      return false;
    case Expression::kRepeat: {
      if (word.empty() && (e.least == 0 || matches(*e.left, word))) return true;
      if (e.most == 0) return false;
      Expression rest = e;
      rest.least = std::max(0, e.least - 1);
      rest.most = e.most < 0 ? -1 : e.most - 1;
      // A first copy that reads nothing only uses a copy up.
      for (std::size_t i = 1; i <= word.size(); ++i)
        if (matches(*e.left, word.substr(0, i)) && matches(rest, word.substr(i))) return true;
      return e.least > 0 && matches(*e.left, {}) && matches(rest, word);
    }
  }
  return false;
}

int strength(const Expression& e) {
  switch (e.kind) {
    case Expression::kUnion:
      return 0;
    case Expression::kAnd:
      return 1;
    case Expression::kThen:
      return 2;
    case Expression::kNot:
      return 3;
    case Expression::kRepeat:
      return 4;
    default:
      return 5;
  }
}

/// Prints with no more brackets than the documented precedence needs.
std::string print(const Expression& e, std::mt19937& random) {
  const auto part = [&](const Expression& child, int needed) {
    const std::string text = print(child, random);
    return strength(child) < needed ? (random() % 2 == 0 ? "(" : "(?:") + text + ")" : text;
  };
  const int level = strength(e);
  switch (e.kind) {
    case Expression::kLetter:
      return random() % 4 == 0 ? fmt::format("\\x{:02x}", e.letter) : std::string(1, e.letter);
    case Expression::kAny:
      return ".";
    case Expression::kEmptyWord:
      return "()";
    case Expression::kNothing:
      return "[]";
    case Expression::kUnion:
      return part(*e.left, level) + "|" + part(*e.right, level);
    case Expression::kAnd:
      return part(*e.left, level) + "&" + part(*e.right, level);
    case Expression::kThen:
      return part(*e.left, level) + part(*e.right, level);
    case Expression::kNot:
      return "~" + part(*e.left, level);
    case Expression::kRepeat:
      break;
  }
  const std::string lazy = random() % 5 == 0 ? "?" : "";
  const std::string child = part(*e.left, level + 1);
  if (e.least == 0 && e.most < 0 && random() % 2 == 0) return child + "*" + lazy;
  if (e.least == 1 && e.most < 0 && random() % 2 == 0) return child + "+" + lazy;
  if (e.least == 0 && e.most == 1 && random() % 2 == 0) return child + "?" + lazy;
  if (e.most < 0) return fmt::format("{}{{{},}}{}", child, e.least, lazy);
  if (e.least == e.most && random() % 2 == 0) return fmt::format("{}{{{}}}{}", child, e.least, lazy);
  return fmt::format("{}{{{},{}}}{}", child, e.least, e.most, lazy);
}

Tree random_tree(std::mt19937& random, int size, bool boolean) {
  auto tree = std::make_shared<Expression>();
  if (size <= 1) {
    const auto pick = random() % 12;
    tree->kind = pick == 0   ? Expression::kEmptyWord
                 : pick == 1 ? Expression::kNothing
                 : pick == 2 ? Expression::kAny
                             : Expression::kLetter;
    tree->letter = static_cast<char>('a' + random() % 2);
    return tree;
  }
  const auto pick = random() % (boolean ? 10 : 7);
  if (pick == 5 || pick == 6 || pick == 7) {
    tree->kind = pick == 7 ? Expression::kNot : Expression::kRepeat;
    tree->left = random_tree(random, size - 1, boolean);
    tree->least = static_cast<int>(random() % 3);
    tree->most = random() % 2 == 0 ? -1 : tree->least + static_cast<int>(random() % 3);
    return tree;
  }
  tree->kind = pick < 2 ? Expression::kUnion : pick < 5 ? Expression::kThen : Expression::kAnd;
  const int left = 1 + static_cast<int>(random() % static_cast<unsigned>(size - 1));
  tree->left = random_tree(random, left, boolean);
  tree->right = random_tree(random, std::max(1, size - 1 - left), boolean);
  return tree;
}

std::string read_file(const std::string& path) {
  std::string line = test::contents(path);
  REQUIRE_MESSAGE(!line.empty(), path);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace

TEST_CASE("every kind of expression, its letters and its words") {
  struct Fact {
    const char* expression;
    const char* letters;  ///< empty: not looked at
    std::vector<const char*> accepted, rejected;
  };
  const std::vector<Fact> facts{
      {"(a|b)*abb", "a b", {"abb", "aabb", "abbabb"}, {"", "ab", "abba"}},
      {"[a-z]+[0-9]", "[0-9] [a-z]", {"a1", "zz9"}, {"1", "a", "a11"}},
      {"[ab]*a", "a b", {"a", "ba"}, {"", "ab"}},
      {"[a-z]*end", "[a-cf-mo-z] d e n", {"end", "bend"}, {"en", "ende"}},
      {"", "", {""}, {}},
      {"()", "", {""}, {}},
      {"[]", "", {}, {""}},
      {"a|", "a", {"", "a"}, {"aa"}},
      {"(|a)b", "a b", {"b", "ab"}, {"a", "", "aab"}},
      {"a{2}", "a", {"aa"}, {"a", "aaa"}},
      {"a{2,}", "a", {"aa", "aaaaa"}, {"", "a"}},
      {"a{1,3}", "a", {"a", "aa", "aaa"}, {"", "aaaa"}},
      {"a{0}", "a", {""}, {"a"}},
      {"(a?){3}", "a", {"", "a", "aaa"}, {"aaaa"}},
      {"a*?b+?c??", "a b c", {"b", "aabbc"}, {"a", "bcc"}},
      {"^ab$|^c$", "a b c", {"ab", "c"}, {"a", "abc"}},
      {"(?:a)(?P<x>b)(?<yé>c)", "a b c", {"abc"}, {"ab"}},
      {"a.c", "a c", {"aac", "acc"}, {"ac"}},
      {".", "[\\x{00}-\\x{10FFFF}]", {"x", "é"}, {"", "xy"}},
      {"~(a*)", "a", {}, {"", "a", "aaa"}},
      {"~a", "a", {"", "aa"}, {"a"}},
      {"~ab", "a b", {"b", "bb", "aab", "abab"}, {"ab", "", "a"}},
      {"~~a", "a", {"a"}, {"", "aa"}},
      {"~a*", "a", {}, {"", "a", "aa"}},
      {"(aa)*&(aaa)*", "a", {"", "aaaaaa"}, {"aa", "aaa", "aaaa"}},
      {"a|b&a|b", "a b", {"a", "b"}, {"ab"}},
      {"[^a]", "[^a] a", {"b", "é", "😀"}, {"a", "", "bb"}},
      {"\\D", "[^0-9] [0-9]", {"x"}, {"7"}},
      {"\\d\\s\\w", "[\\t-\\r ] [0-9] [A-Z_a-z]", {"0 _", "1\ta"}, {"0__"}},
      {"\\pL+", "[A-Za-zªµºÀ-ÖØ-öø-ˁˆ-ˑˠ-ˤ…]", {"a", "éß", "語"}, {""}},
      {"\\p{Lu}\\P{Lu}", "", {"Aa", "É1"}, {"aA", "AA"}},
      {"\\p{Script=Greek}", "", {"α"}, {""}},
      {"\\x41\\x{e9}\\u0042\\U00000043\\n", "\\n A B C é", {"AéBC\n"}, {"A"}},
      {"\\(\\*\\\\\\.\\\"", "\" ( * . \\", {"(*\\.\""}, {}},
      {"[\\]\\-x-z-]", "[\\-\\]x-z]", {"]", "-", "y"}, {}},
      {"[&~.|*(]", "[&(*.|~]", {"&", "~", ".", "(", "|", "*"}, {}},
      {"\"SYN\"(\"SYN+ACK\"|x)\"a\"", "a x SYN SYN+ACK", {"SYN SYN+ACK a", "SYN x a"}, {"SYN", "SYN a"}},
      {"\"a \\\"b\\\\\"*", "a \"b\\", {"", "\"a \\\"b\\\\\""}, {}},
      {"(\"x1\"|.)*\"x2\"&~(.*\"x2\".+)", "x1 x2", {"x2", "x1 x1 x2"}, {"", "x1", "x2 x2"}},
  };
  for (const Fact& fact : facts) {
    CAPTURE(std::string(fact.expression));
    const Dfa dfa = parse_regex(fact.expression);
    if (*fact.letters != 0) CHECK(names_of(dfa) == fact.letters);
    for (const char* word : fact.accepted) CHECK_MESSAGE(accepts(dfa, word), word);
    for (const char* word : fact.rejected) CHECK_MESSAGE(!accepts(dfa, word), word);
    CHECK(minimise(dfa) == dfa);
  }
}

TEST_CASE("an explicit alphabet is the universe, and is split where the expression needs it") {
  CHECK(names_of(parse_regex("a*", over("abc"))) == "a b c");
  CHECK(accepts(parse_regex("~a", over("ab")), "b"));
  CHECK(accepts(parse_regex("[^a]", over("abc")), "c"));
  CHECK(accepts(parse_regex(".", over("abc")), "c"));
  CHECK(accepts(parse_regex("[a-z]\\w", over("bc")), "bc"));
  CHECK(parse_regex("a\\xff", over("bytes")).letters() == 256);
  CHECK(names_of(parse_regex("[a-y]b", over("unicode"))) == "[^a-y] [ac-y] b");
  CHECK(accepts(parse_regex("\"SYN\".", over("SYN ACK")), "SYN ACK"));
  CHECK(parse_regex("[^a]*", over("SYN ACK a")).states() == 2);  // tokens are in no class
}

TEST_CASE("errors name the column") {
  struct Fact {
    const char* expression;
    int column;
    const char* message;
    const char* alphabet = nullptr;
  };
  for (const Fact& fact : std::vector<Fact>{
           {"(a", 1, "not closed"},
           {"ab((c)", 3, "not closed"},
           {"a)", 2, "closes nothing"},
           {"éé)", 3, "closes nothing"},
           {"*a", 1, "nothing to repeat"},
           {"a|*", 3, "nothing to repeat"},
           {"(+)", 2, "nothing to repeat"},
           {"~*", 2, "nothing to repeat"},
           {"a**", 3, "cannot follow a quantifier"},
           {"a{2}{3}", 5, "cannot follow a quantifier"},
           {"a*+", 3, "possessive"},
           {"a{,}", 2, "{,n}"},
           {"a{x}", 2, "{m,n}"},
           {"a{1,2", 2, "{m,n}"},
           {"a{3,1}", 2, "{3,1} is reversed"},
           {"a]", 2, "\\]"},
           {"a}", 2, "\\}"},
           {"[a", 1, "not closed"},
           {"[z-a]", 2, "reversed"},
           {"[\\d-z]", 2, "single characters"},
           {"[a-\\d]", 2, "single characters"},
           {"[[:alpha:]]", 2, "POSIX"},
           {"[a-z&&b]", 5, "intersect outside"},
           {"a\\", 2, "backslash"},
           {"\\q", 1, "unknown escape \\q"},
           {"a\\1", 2, "back-references"},
           {"\\k<x>", 1, "back-references"},
           {"(?P=x)", 1, "back-references"},
           {"(?P<1>a)", 5, "begins with a letter"},
           {"a\\Z", 2, "write \\z for the end"},
           {"\\Gx", 1, "write \\A for the start"},
           {"a\\012", 2, "octal in other engines"},
           {"[\\09]", 2, "octal in other engines"},
           {"^*", 2, "nothing to repeat"},
           {"a$+", 3, "nothing to repeat"},
           {"a(?=b)", 2, "look-around"},
           {"(?<!b)", 1, "look-around"},
           {"(?x)a", 1, "the flag x is not supported"},
           {"(?>a)", 1, "atomic"},
           {"(?<n", 1, "name"},
           {"(?<>a)", 1, "name"},
           {"(?<a b>a)", 5, "letters, digits and _"},
           {"&a", 1, "on its left"},
           {"a&", 2, "on its right"},
           {"a|b&|c", 4, "on its right"},
           {"a~", 2, "~ needs"},
           {"(~)", 2, "~ needs"},
           {"\\xg0", 1, "2 hexadecimal digits"},
           {"\\u12", 1, "4 hexadecimal digits"},
           {"\\x{}", 1, "hexadecimal digits"},
           {"\\x{110000}", 1, "U+110000 is not"},
           {"\\uD800", 1, "U+D800 is not"},
           {"\\p", 1, "\\p needs"},
           {"\\p{", 1, "not closed"},
           {"\\p{Nonsense}", 1, "not a Unicode property"},
           {"\\p{L}]", 6, "\\]"},
           {"\\p{[a]}", 4, "property name"},
           {"x\"ab", 2, "quote is not closed"},
           {"\"\"", 1, "needs a name"},
           {"abc", 3, "\"c\" is not in the alphabet {a, b}", "ab"},
           {"[abc]", 4, "\"c\" is not in the alphabet", "ab"},
           {"a[x-z]", 2, "no character of [x-z] is in the alphabet", "ab"},
           {"\"SYN\"FIN", 6, "\"F\" is not in the alphabet {SYN, FIN}; names of several characters", "SYN FIN"},
           {"\"ACK\"", 1, "\"ACK\" is not in the alphabet", "SYN FIN"},
       }) {
    CAPTURE(std::string(fact.expression));
    const RegexOptions options = fact.alphabet != nullptr ? over(fact.alphabet) : RegexOptions{};
    const std::string what = test::error_of([&] { parse_regex(fact.expression, options); });
    CAPTURE(what);
    CHECK(what.starts_with(fmt::format("regex:{}: ", fact.column)));
    CHECK(test::contains(what, fact.message));
  }
}

TEST_CASE("text that is not UTF-8 is refused with the byte") {
  CHECK_THROWS_WITH_AS(parse_regex("ab\xFF"), doctest::Contains("byte 2"), InputError);
  CHECK_THROWS_WITH_AS(parse_regex("\xC3"), doctest::Contains("byte 0"), InputError);
}

TEST_CASE("what would explode is refused at once") {
  for (const char* expression : {"a{1,1000000000}", "a{1000000000}", "a{1000000000,}", "((a{1000}){1000}){1000}",
                                 "a{99999999999999999999999}", "(a|~b{3000000}){2}"}) {
    CAPTURE(std::string(expression));
    CHECK_THROWS_WITH_AS(parse_regex(expression), doctest::Contains("max_expression_size"), InputError);
  }
  RegexOptions small{.max_expression_size = 10};
  CHECK_THROWS_WITH_AS(parse_regex("abcdef", small), doctest::Contains("regex:6: "), InputError);
  small = {};
  small.max_states = 1000;
  for (const char* expression : {"(a|b)*a(a|b){16}", "(a|b)*a(a|b){8}&(a|b)*b(a|b){8}", "a{1000}"}) {
    CAPTURE(std::string(expression));
    CHECK_THROWS_WITH_AS(parse_regex(expression, small), doctest::Contains("--max-states"), LimitError);
  }
}

TEST_CASE("a million brackets, tildes or letters do not exhaust the stack") {
  constexpr std::size_t kDeep = 1'000'000;
  const std::string open(kDeep, '('), close(kDeep, ')'), tildes(kDeep, '~'), letters(kDeep / 10, 'a');
  CHECK(parse_regex(open + "a" + close).states() == 3);
  CHECK_THROWS_WITH_AS(parse_regex(open + "a"), doctest::Contains("regex:1000000: this ( is not closed"), InputError);
  CHECK_THROWS_WITH_AS(parse_regex("a" + close), doctest::Contains("regex:2: "), InputError);
  CHECK(parse_regex(tildes + "a").states() == 3);
  CHECK(parse_regex(letters).states() == kDeep / 10 + 2);
  std::string stars = open + "a";
  for (std::size_t i = 0; i < kDeep; ++i) stars += ")*";
  CHECK(parse_regex(stars).states() == 1);
  std::string pluses(kDeep / 10, '(');
  pluses += 'a';
  for (std::size_t i = 0; i < kDeep / 10; ++i) pluses += ")+";
  CHECK(parse_regex(pluses).states() == 2);
}

TEST_CASE("random expressions agree with two independent matchers on every short word") {
  std::mt19937 random(20);
  const RegexOptions options = over("ab");
  for (int round = 0; round < 1500; ++round) {
    const Tree tree = random_tree(random, 1 + static_cast<int>(random() % 9), true);
    const std::string expression = print(*tree, random);
    CAPTURE(expression);
    const Dfa dfa = parse_regex(expression, options);
    const RegexTree syntax = parse_regex_syntax(expression, options.alphabet, 10'000);
    const RegexLetters letters = letters_of(syntax, options.alphabet);
    for (const Word& word : short_words(2, 6)) {
      const std::string text = dfa.alphabet().format_word(word);
      const bool expected = matches(*tree, text);
      if (dfa.accepts(dfa.run(word)) != expected) FAIL_CHECK(text);
      if (reference_matches(syntax, letters, word) != expected) FAIL_CHECK("reference: " << text);
    }
    CHECK(minimise(dfa) == dfa);
  }
}

TEST_CASE("random expressions agree with std::regex on the common syntax") {
  std::mt19937 random(21);
  const RegexOptions options = over("ab");
  for (int round = 0; round < 200; ++round) {
    const Tree tree = random_tree(random, 1 + static_cast<int>(random() % 8), false);
    const std::string expression = print(*tree, random);
    CAPTURE(expression);
    const Dfa dfa = parse_regex(expression, options);
    const std::regex rival(expression, std::regex::ECMAScript);
    for (const Word& word : short_words(2, 5)) {
      const std::string text = dfa.alphabet().format_word(word);
      if (dfa.accepts(dfa.run(word)) != std::regex_match(text, rival)) FAIL_CHECK(text);
    }
  }
}

TEST_CASE("letters are the coarsest classes that no set tells apart") {
  std::mt19937 random(22);
  for (int round = 0; round < 100; ++round) {
    std::vector<CharacterSet> sets;
    std::string expression;
    for (auto i = 1 + random() % 5; i-- > 0;) {
      std::vector<CodePointRange> ranges;
      std::string text;
      for (auto j = 1 + random() % 3; j-- > 0;) {
        const auto first = static_cast<char32_t>(U'a' + random() % 20);
        const auto last = static_cast<char32_t>(first + random() % 5);
        ranges.push_back({first, last});
        text += fmt::format("{}-{}", static_cast<char>(first), static_cast<char>(last));
      }
      const bool negated = random() % 5 == 0;
      sets.push_back(negated ? complement(normalised(ranges)) : normalised(ranges));
      expression += (negated ? "[^" : "[") + text + "]";
    }
    CAPTURE(expression);
    const Alphabet alphabet = parse_regex(expression).alphabet();
    for (char32_t c = U'A'; c < U'~'; ++c)
      for (char32_t d = U'A'; d < U'~'; ++d) {
        if (!alphabet.find(c) || !alphabet.find(d)) continue;
        const bool together = std::all_of(
            sets.begin(), sets.end(), [&](const CharacterSet& set) { return contains(set, c) == contains(set, d); });
        if ((alphabet.find(c) == alphabet.find(d)) != together) FAIL_CHECK(static_cast<char>(c));
      }
    for (char32_t c = U'A'; c < U'~'; ++c)
      for (const CharacterSet& set : sets)
        if (contains(set, c)) CHECK(alphabet.find(c).has_value());
  }
}

TEST_CASE("the k-th letter from the end takes 2^k states") {
  CHECK(parse_regex("(a|b)*a(a|b){16}").states() == 131072);
}

TEST_CASE("expressions from the wild") {
  const std::string folder = KROHN_TEST_DATA "/rebar/";
  const Dfa bible = parse_regex(read_file(folder + "bibleref.txt"));
  CHECK(accepts(bible, "1 John 3:16"));
  CHECK_FALSE(accepts(bible, "John"));
  const Dfa date = parse_regex(read_file(folder + "date.txt"));
  CHECK(accepts(date, "2010-03-14T10:11:12Z"));
  CHECK(accepts(date, "12:30 pm CEST"));
  CHECK(accepts(date, "sep."));
  CHECK_FALSE(accepts(date, "2010-13-14T10:11:12Z"));
  const Dfa url = parse_regex(read_file(folder + "url.txt"));
  CHECK(accepts(url, "https://127.0.0.1:8080/a/b?x"));
  CHECK(accepts(url, "www.example.TECHNOLOGY/x"));
  CHECK_FALSE(accepts(url, "https://127.0.0.1:8"));
  for (const Dfa* dfa : {&bible, &date, &url}) MESSAGE(dfa->states() << " states, " << dfa->letters() << " letters");
}

TEST_CASE("derivatives agree with automata on which expressions are equal, with a word as short where they are not") {
  std::mt19937 random(22);
  std::string before = "a";
  int different = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::string expression = print(*random_tree(random, 1 + static_cast<int>(random() % 9), true), random);
    CAPTURE(expression);
    CAPTURE(before);
    const Dfa dfa = parse_regex(expression), other = parse_regex(before);
    CHECK_FALSE(word_against_regex(dfa, expression));
    const std::optional<Word> found = word_against_regex(other, expression);
    const std::optional<Word> expected = distinguishing_word(other, dfa);
    REQUIRE(found.has_value() == expected.has_value());
    if (found) CHECK(found->size() == expected->size());
    different += found.has_value();
    before = expression;
  }
  CHECK(different > 500);
  CHECK(different < 1000);
  CHECK_THROWS_AS(word_against_regex(parse_regex("a"), std::string(100'000, 'a')), InputError);
  CHECK_THROWS_AS(word_against_regex(parse_regex("(a|b)*a(a|b){12}"), "(a|b)*a(a|b){12}", 100), LimitError);
}
