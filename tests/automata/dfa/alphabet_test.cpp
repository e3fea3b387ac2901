#include "krohn/automata/dfa/alphabet.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/dfa/valuations.h"
#include "krohn/groups/error.h"

using namespace krohn;

namespace {

std::vector<std::string> names_of(const Alphabet& alphabet) {
  std::vector<std::string> names;
  for (const Symbol& symbol : alphabet.symbols()) names.push_back(symbol.name);
  return names;
}

using Names = std::vector<std::string>;

Symbol class_of(CharacterSet characters) { return {class_name(characters), characters}; }

/// A random set of characters below `limit`, by membership.
CharacterSet random_set(std::mt19937& random, char32_t limit) {
  std::vector<CodePointRange> ranges;
  for (char32_t c = 0; c < limit; ++c)
    if (random() % 3 == 0) ranges.push_back({c, c});
  return normalised(ranges);
}

}  // namespace

TEST_CASE("UTF-8 is decoded exactly and refused with the byte") {
  CHECK(decode_utf8("aé€😀") == U"aé€😀");
  for (const char32_t c : {U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xD7FF', U'\xE000', U'\xFFFF', U'\x10FFFF'})
    CHECK(decode_utf8(to_utf8(c)) == std::u32string(1, c));
  struct Bad {
    std::string text;
    const char* where;
  };
  for (const Bad& bad : {Bad{"\xFF", "byte 0"}, Bad{"ab\xC3", "byte 2"}, Bad{"a\xC0\x80", "byte 1"},
                         Bad{"\xED\xA0\x80", "byte 0"}, Bad{"é\xF4\x90\x80\x80", "byte 2"}, Bad{"\x80", "byte 0"}}) {
    CAPTURE(std::string(bad.where));
    CHECK_THROWS_WITH_AS(decode_utf8(bad.text), doctest::Contains(bad.where), InputError);
  }
}

TEST_CASE("sets of characters obey the laws of sets") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const CharacterSet a = random_set(random, 40), b = random_set(random, 40);
    CHECK(complement(complement(a)) == a);
    CHECK(cardinality(a) + cardinality(complement(a)) == 0x110000 - 0x800);
    const CharacterSet both = intersection(a, b);
    for (char32_t c = 0; c < 45; ++c) {
      CHECK(contains(both, c) == (contains(a, c) && contains(b, c)));
      CHECK(contains(complement(a), c) == !contains(a, c));
    }
  }
  CHECK(normalised({{0xD700, 0xE001}}) == CharacterSet{{0xD700, 0xD7FF}, {0xE000, 0xE001}});
}

TEST_CASE("letters are found by name and by character") {
  const Alphabet alphabet = Alphabet::from_symbols(
      {class_of({{'a', 'z'}}), {"SYN+ACK", {}}, class_of({{'0', '9'}, {0x660, 0x669}}), {"ö", {{U'ö', U'ö'}}}});
  CHECK(names_of(alphabet) == Names{"[a-z]", "SYN+ACK", "[0-9٠-٩]", "ö"});
  CHECK(alphabet.find("SYN+ACK") == Letter{1});
  CHECK(alphabet.find("q") == Letter{0});
  CHECK(alphabet.find(U'٣') == Letter{2});
  CHECK(alphabet.find(U'ö') == Letter{3});
  CHECK(alphabet.find("SYN") == std::nullopt);
  CHECK(alphabet.find(U'A') == std::nullopt);
  CHECK_FALSE(alphabet.is_characterwise());
  const Alphabet copy = alphabet;
  CHECK(copy.symbols().data() == alphabet.symbols().data());
}

TEST_CASE("names of classes are short, and valid to print") {
  struct Fact {
    CharacterSet characters;
    const char* name;
  };
  for (const auto& [characters, name] :
       {Fact{{{'a', 'a'}}, "a"}, Fact{{{'\n', '\n'}}, "\\n"}, Fact{{{0x7F, 0x7F}}, "\\x{7F}"},
        Fact{{{0x301, 0x301}}, "\\x{301}"}, Fact{{{'a', 'b'}}, "[ab]"}, Fact{{{'a', 'c'}}, "[a-c]"},
        Fact{{{'-', '-'}, {']', ']'}}, "[\\-\\]]"}, Fact{complement(CharacterSet{{'a', 'a'}}), "[^a]"},
        Fact{all_characters(), "[\\x{00}-\\x{10FFFF}]"}, Fact{{{'b', kLastCodePoint}}, "[b-\\x{10FFFF}]"}})
    CHECK(class_name(normalised(characters)) == name);
  CharacterSet many;
  for (char32_t c = 'A'; c < 0x200; c += 2) many.push_back({c, c});
  CHECK(decode_utf8(class_name(many)).size() <= 28);
  CHECK(class_name(many).find("…") != std::string::npos);
}

TEST_CASE("what is ambiguous or malformed is refused") {
  const auto refused = [](std::vector<Symbol> symbols, const char* message) {
    CAPTURE(message);
    CHECK_THROWS_WITH_AS(Alphabet::from_symbols(std::move(symbols)), doctest::Contains(message), InputError);
  };
  refused({{"a", {}}, {"a", {}}}, "\"a\" twice");
  refused({{"x", {{'a', 'b'}}}, {"x", {}}}, "two letters, of other characters each");
  refused({{"", {}}}, "empty name");
  refused({{"\xFF", {}}}, "UTF-8");
  refused({class_of({{'a', 'm'}}), class_of({{'m', 'z'}})}, "share the character m");
  refused({{"b", {}}, class_of({{'a', 'z'}})}, "named like a character of the letter \"[a-z]\"");
  refused({{"x", {{'b', 'a'}}}}, "reversed");
  refused({{"x", {{0, 0x110000}}}}, "U+10FFFF");
  refused({{"x", {{0xD800, 0xDFFF}}}}, "surrogates");
}

TEST_CASE("names become characters or tokens, and come back") {
  const std::vector<std::string> names{"a", "\\n", "\\x{7F}", "SYN", "é", "\\x{41}", "\\x{7f}", "\\q"};
  const Alphabet alphabet = Alphabet::from_names(names);
  CHECK(names_of(alphabet) == names);
  CHECK(alphabet.find(U'\n') == Letter{1});
  CHECK(alphabet.find("\n") == Letter{1});
  CHECK(alphabet.find(U'\x7F') == Letter{2});
  CHECK(alphabet[5].characters.empty());  // "A" would be printed as itself
  CHECK(names_of(Alphabet::of_characters("banana")) == Names{"b", "a", "n"});
}

TEST_CASE("words are read and written back") {
  const Alphabet ab = Alphabet::of_characters("ab");
  CHECK(ab.parse_word("abba") == Word{0, 1, 1, 0});
  for (const char* spaced : {"ab ba", "abba\n", "\tabba", "\u00a0"}) CHECK_THROWS_AS(ab.parse_word(spaced), InputError);
  CHECK_THROWS_WITH_AS(ab.parse_word("ab ba"),
                       "character 3 of the word, \" \", is not in the alphabet {a, b}; white space is not skipped",
                       InputError);
  CHECK(ab.parse_word("") == Word{});
  CHECK(Alphabet::of_characters("a \n").parse_word("a a\n") == Word{0, 1, 0, 2});
  CHECK_THROWS_WITH_AS(ab.parse_word("abc"), "character 3 of the word, \"c\", is not in the alphabet {a, b}",
                       InputError);
  const Alphabet cycles = Alphabet::from_names(std::vector<std::string>{"(1 2)", "(1,2 3)", "()"});
  CHECK(cycles.parse_word("(1 2), (1,2 3) ()") == Word{0, 1, 2});
  CHECK_THROWS_WITH_AS(cycles.parse_word("(1 2) (1 3)"), doctest::Contains("symbol 2 of the word, \"(1 3)\" at byte 6"),
                       InputError);
}

TEST_CASE("options are read as characters, ranges, words and presets") {
  struct Fact {
    const char* text;
    Names names;
  };
  for (const Fact& fact :
       {Fact{"ab", {"a", "b"}}, Fact{"a-c01", {"a", "b", "c", "0", "1"}}, Fact{"-a", {"-", "a"}},
        Fact{"a-", {"a", "-"}}, Fact{"a\\-c", {"a", "-", "c"}}, Fact{"\\x41\\x{e9}\\n", {"A", "é", "\\n"}},
        Fact{"SYN ACK", {"SYN", "ACK"}}, Fact{"(1 2) (1 2 3)", {"(1 2)", "(1 2 3)"}},
        Fact{"\"(\" \")\" 10", {"(", ")", "10"}}, Fact{" token", {"token"}}, Fact{"\"a b\" c", {"a b", "c"}}}) {
    CAPTURE(std::string(fact.text));
    CHECK(names_of(parse_alphabet(fact.text)) == fact.names);
  }
  CHECK(parse_alphabet("bytes").size() == 256);
  CHECK(parse_alphabet("bytes").find(U'\xFF') == Letter{255});
  CHECK(parse_alphabet("unicode").size() == 1);
  CHECK(parse_alphabet("unicode").find(U'😀') == Letter{0});
  for (const char* text :
       {"", "  ", "aa", "z-a", "a\\", "\\x4", "\\x{}", "\\x{110000}", "\\x{D800}", "\xFF", "a a", "\"a b"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_alphabet(text), InputError);
  }
}

TEST_CASE("words over any alphabet round trip") {
  std::mt19937 random(5);
  const std::vector<Alphabet> alphabets{
      Alphabet::of_characters("ab \n"), parse_alphabet("bytes"),
      Alphabet::from_symbols({class_of({{'a', 'z'}}), class_of({{' ', '"'}}), {"T\"x", {}}}),
      Alphabet::from_names(std::vector<std::string>{"(1 2)", "a b", "a,b", "\"", "\\", "x\"y", ","}),
      Alphabet::from_names(std::vector<std::string>{"(", ")", "10", "( )", "a b"})};
  for (const Alphabet& alphabet : alphabets)
    for (int round = 0; round < 100; ++round) {
      Word word(random() % 8);
      for (Letter& letter : word) letter = static_cast<Letter>(random() % alphabet.size());
      CAPTURE(alphabet.format_word(word));
      CHECK(alphabet.parse_word(alphabet.format_word(word)) == word);
    }
}

TEST_CASE("a refinement splits exactly where either alphabet splits") {
  const Alphabet a = Alphabet::from_symbols({class_of({{'a', 'f'}}), {"SYN", {}}, {"x", {{'x', 'x'}}}});
  const Alphabet b = Alphabet::from_symbols({{"ACK", {}}, class_of({{'d', 'z'}}), {"SYN", {}}});
  const AlphabetRefinement refined = refine(a, b);
  CHECK(names_of(refined.merged) == Names{"[d-f]", "[a-c]", "SYN", "x", "ACK", "[g-wyz]"});
  CHECK(refined.in_a == std::vector<std::optional<Letter>>{0, 0, 1, 2, std::nullopt, std::nullopt});
  CHECK(refined.in_b == std::vector<std::optional<Letter>>{1, std::nullopt, 2, 1, 0, 1});
  const AlphabetRefinement same = refine(a, a);
  CHECK(same.merged == a);
  CHECK(same.in_a == std::vector<std::optional<Letter>>{0, 1, 2});
  CHECK_THROWS_AS(
      refine(Alphabet::from_names(std::vector<std::string>{"[ab]"}), Alphabet::from_symbols({class_of({{'a', 'b'}})})),
      InputError);
}

TEST_CASE("refinement agrees with membership, character by character") {
  std::mt19937 random(23);
  const auto random_alphabet = [&] {
    std::vector<CharacterSet> classes(1 + random() % 4);
    for (char32_t c = 0xD7F0; c < 0xE010; ++c)
      if (const std::size_t i = random() % 6; i < classes.size()) classes[i].push_back({c, c});
    std::vector<Symbol> symbols;
    for (auto& characters : classes)
      if (const CharacterSet set = normalised(characters); !set.empty()) symbols.push_back(class_of(set));
    return Alphabet::from_symbols(symbols);
  };
  for (int round = 0; round < 100; ++round) {
    const Alphabet a = random_alphabet(), b = random_alphabet();
    const AlphabetRefinement refined = refine(a, b);
    std::size_t letters = 0;
    std::vector<std::pair<std::optional<Letter>, std::optional<Letter>>> seen;
    for (char32_t c = 0xD700; c < 0xE020; ++c) {
      const auto letter = refined.merged.find(c);
      CHECK(letter.has_value() == (a.find(c).has_value() || b.find(c).has_value()));
      if (!letter) continue;
      CHECK(refined.in_a[*letter] == a.find(c));
      CHECK(refined.in_b[*letter] == b.find(c));
      const std::pair parents{a.find(c), b.find(c)};
      if (std::find(seen.begin(), seen.end(), parents) == seen.end()) {
        seen.push_back(parents);
        ++letters;
      }
    }
    CHECK(refined.merged.size() == letters);
  }
}

TEST_CASE("letters that are classes of valuations are found by valuation") {
  struct Fact {
    Names names;
    std::string_view valuation;
    std::optional<Letter> letter;
  };
  const Names classes{"!a|!b", "a&b"}, all{"{}", "{a}", "{b}", "{a,b}"}, odd{"\"b c\"&\"true\"", "!\"b c\"|!\"true\""};
  for (const Fact& fact : std::vector<Fact>{{classes, "{}", 0},
                                            {classes, "{b}", 0},
                                            {classes, "{b,a}", 1},
                                            {classes, "{c}", {}},
                                            {classes, "{a", {}},
                                            {classes, "{a,a}", {}},
                                            {classes, "{a}b", {}},
                                            {all, "{b,a}", 3},
                                            {odd, "{\"true\",\"b c\"}", 0},
                                            {odd, "{\"true\"}", 1},
                                            {{"true"}, "{}", 0},
                                            {{"!x", "x"}, "{x}", 1},
                                            {{"a", "b"}, "{a}", {}},              // no valuation is both, some are none
                                            {{"!a", "!b"}, "{a}", {}},            // some are both
                                            {{"!a", "a&b"}, "{a}", {}},           // some are none
                                            {{"{}", "{a}", "{b}"}, "{a,b}", {}},  // one is none
                                            {{"!a", "{a}"}, "{}", {}},            // of two kinds
                                            {{"!a", "a", "SYN ACK"}, "{a}", {}}}) {
    CAPTURE(fact.names);
    CAPTURE(fact.valuation);
    CHECK(Alphabet::from_names(fact.names).find(fact.valuation) == fact.letter);
  }
}

TEST_CASE("classes of valuations are split by those of other propositions") {
  struct Fact {
    Names a, b, merged;
  };
  for (const Fact& fact :
       std::vector<Fact>{{{"!a", "a"}, {"true"}, {"{}", "{a}"}},
                         {{"{}", "{a}"}, {"!b", "b"}, {"{}", "{b}", "{a}", "{a,b}"}},
                         {{"!a|!b", "a&b"}, {"!c", "c"}, {"!a&!c|!b&!c", "!a&c|!b&c", "a&b&!c", "a&b&c"}},
                         {{"!a|!b", "a&b"}, {"!b", "b"}, {"!b", "!a&b", "a&b"}},
                         {{"!a", "a"}, {"{a}"}, {"{}", "{a}"}},       // a few valuations alone
                         {{"!a", "a"}, {"{c}"}, {"!a", "a", "{c}"}},  // not of its propositions
                         {{"!a", "a"}, {"x"}, {"!a", "a", "x"}}}) {
    CAPTURE(fact.a);
    CAPTURE(fact.b);
    const Alphabet a = Alphabet::from_names(fact.a), b = Alphabet::from_names(fact.b);
    const AlphabetRefinement common = refine(a, b);
    CHECK(names_of(common.merged) == fact.merged);
    CHECK(common.in_a.size() == fact.merged.size());
    CHECK(common.in_b.size() == fact.merged.size());
  }
  CHECK(refine(Alphabet::from_names(Names{"!a", "a"}), Alphabet::from_names(Names{"{a}"})).in_b[0] == std::nullopt);
}

TEST_CASE("random classes of valuations are named so that the names mean them") {
  std::mt19937 random(9);
  const Names propositions{"d", "b c", "b", "a"};  // from the last
  const auto written = [&](unsigned valuation) {
    std::string text;
    for (unsigned i = 4; i-- > 0;)
      if ((valuation >> i & 1) != 0) text += (text.empty() ? "" : ",") + (i == 1 ? "\"b c\"" : propositions[i]);
    return "{" + text + "}";
  };
  int unnamed = 0;
  for (int round = 0; round < 500; ++round) {
    const auto most = static_cast<std::uint32_t>(1 + random() % 6);
    std::vector<std::uint32_t> class_of(16), numbers;
    for (std::uint32_t& number : class_of) number = static_cast<std::uint32_t>(random() % most);
    for (std::uint32_t& number : class_of) {  // by first appearance: all are there
      const auto known = std::ranges::find(numbers, number);
      if (known == numbers.end()) numbers.push_back(number);
      number = static_cast<std::uint32_t>(std::ranges::find(numbers, number) - numbers.begin());
    }
    const auto diagrams = std::make_shared<DecisionDiagrams>(1000, "too large");
    std::vector<DecisionDiagrams::Ref> level;
    for (const std::uint32_t number : class_of) level.push_back(DecisionDiagrams::leaf(number));
    for (std::uint32_t variable = 4; variable-- > 0;) {  // bit 3 - variable tells the two halves of a pair apart
      std::vector<DecisionDiagrams::Ref> above;
      for (std::size_t i = 0; i < level.size(); i += 2)
        above.push_back(diagrams->make(variable, level[i], level[i + 1]));
      level = std::move(above);
    }
    const ValuationClasses classes{diagrams, level.front(), propositions};
    const Alphabet alphabet = Alphabet::from_names(classes.names(numbers.size()));
    CAPTURE(to_string(alphabet));
    for (unsigned place = 0; place < 16; ++place) {
      unsigned valuation = 0;  // variable v is bit v here
      for (unsigned variable = 0; variable < 4; ++variable) valuation |= (place >> (3 - variable) & 1) << variable;
      const auto found = alphabet.find(written(valuation));
      if (found) CHECK(found == class_of[place]);
      unnamed += found ? 0 : 1;
    }
  }
  CHECK(unnamed < 2000);  // where a proposition makes no difference, names do not have it
}
