#include <boost/graph/graph_concepts.hpp>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/dfa/dfa_graph.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

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
  CHECK(test::contains(class_name(many), "…"));
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
  CHECK_THROWS_WITH_AS(cycles.parse_word("(1 2)()"), doctest::Contains("; blanks stand between letters of such names"),
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

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Dfa, State, boost::vertex_index_t>));

namespace {

/// reach[p][q]: some word leads from p to q. Floyd and Warshall's algorithm, sharing nothing with what it checks.
std::vector<std::vector<bool>> reachability(const Dfa& dfa) {
  const State n = dfa.states();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  for (State p = 0; p < n; ++p) {
    reach[p][p] = true;
    for (const State q : dfa.row(p)) reach[p][q] = true;
  }
  for (State via = 0; via < n; ++via)
    for (State p = 0; p < n; ++p)
      for (State q = 0; q < n; ++q)
        if (reach[p][via] && reach[via][q]) reach[p][q] = true;
  return reach;
}

Dfa line(State states) {
  std::vector<State> table;
  for (State state = 0; state < states; ++state) table.push_back(std::min(state + 1, states - 1));
  return Dfa::acceptor(first_letters(1), std::move(table), 0, std::vector<bool>(states, true));
}

}  // namespace

TEST_CASE("the graph has a vertex per state and an edge per transition") {
  Dice dice(1);
  const Dfa dfa = random_acceptor(dice, 20, 3);
  CHECK(num_vertices(dfa) == 20);
  State expected = 0;
  for (auto [vertex, end] = vertices(dfa); vertex != end; ++vertex, ++expected) {
    REQUIRE(*vertex == expected);
    REQUIRE(out_degree(*vertex, dfa) == 3);
    Letter letter = 0;
    for (auto [edge, last] = out_edges(*vertex, dfa); edge != last; ++edge, ++letter) {
      CHECK(source(*edge, dfa) == *vertex);
      CHECK(target(*edge, dfa) == dfa.next(*vertex, letter));
      CHECK((*edge).letter == letter);
      CHECK(adjacent_vertices(*vertex, dfa).first[letter] == target(*edge, dfa));
    }
    CHECK(letter == 3);
    CHECK(out_edges(*vertex, dfa).second - out_edges(*vertex, dfa).first == 3);
  }
  CHECK(expected == 20);
}

TEST_CASE("reachability, components and their order agree with Floyd and Warshall") {
  Dice dice(2);
  for (int round = 0; round < 200; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(25), dice.below(3), 1 + dice.below(3));
    const auto reach = reachability(dfa);
    const std::vector<bool> reachable = reachable_states(dfa);
    const Components components = strongly_connected_components(dfa);
    const auto arcs = condensation(dfa, components);
    const ComponentReachability closure(arcs);
    CAPTURE(round);
    REQUIRE(components.count == components.members().size());
    for (State p = 0; p < dfa.states(); ++p) {
      REQUIRE(reachable[p] == reach[dfa.initial()][p]);
      for (State q = 0; q < dfa.states(); ++q) {
        REQUIRE((components.of[p] == components.of[q]) == (reach[p][q] && reach[q][p]));
        REQUIRE(closure.reaches(components.of[p], components.of[q]) == reach[p][q]);
      }
    }
    for (Component from = 0; from < components.count; ++from)
      for (const Component to : arcs[from]) REQUIRE(from < to);
  }
}

TEST_CASE("shortest words are least among the words that lead there") {
  Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(7), 2);
    std::vector<std::optional<Word>> least(dfa.states());
    for (const Word& word : short_words(2, 7))
      if (!least[dfa.run(word)]) least[dfa.run(word)] = word;
    const ShortestWords words(dfa);
    CAPTURE(round);
    std::size_t reachable = 0;
    for (State state = 0; state < dfa.states(); ++state) {
      REQUIRE(words.to(state) == least[state]);
      reachable += least[state].has_value();
    }
    REQUIRE(words.states().size() == reachable);
    REQUIRE(words.states()[0] == dfa.initial());
  }
}

TEST_CASE("a line of a million states overflows no stack") {
  const State states = 1'000'000;
  const Dfa dfa = line(states);
  const Components components = strongly_connected_components(dfa);
  CHECK(components.count == states);
  CHECK(components.of[0] == 0);
  CHECK(components.of[states - 1] == states - 1);
  CHECK(ShortestWords(dfa).to(states - 1)->size() == states - 1);
  CHECK(reachable_states(dfa)[states - 1]);
}

TEST_CASE("a closure that is too large is refused") {
  const Dfa dfa = line(1000);
  const auto arcs = condensation(dfa, strongly_connected_components(dfa));
  CHECK_THROWS_AS(ComponentReachability(arcs, 1000), LimitError);
  CHECK_FALSE(ComponentReachability(arcs).reaches(1, 0));
}

namespace {

/// The word that a text of powers stands for, read by its own grammar: parts with blanks between them, each a base
/// with an exponent or without; a base is in quotes, in brackets, or letters; within it, quotes hold one name, or
/// characters where the alphabet has nothing else.
class PowersReader {
 public:
  PowersReader(const Alphabet& alphabet, std::string text) : alphabet_(alphabet), text_(std::move(text)) {}

  Word read() {
    Word word;
    while (at_ < text_.size()) {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      const Word base = read_base();
      std::size_t times = 1;
      if (at_ < text_.size() && text_[at_] == '^') {
        std::size_t digits = 0;
        times = std::stoul(text_.substr(at_ + 1), &digits);
        at_ += 1 + digits;
      }
      for (std::size_t i = 0; i < times; ++i) word.insert(word.end(), base.begin(), base.end());
    }
    return word;
  }

 private:
  Word read_base() {
    if (text_[at_] != '(') return read_letters();
    ++at_;
    Word word;
    for (; text_[at_] != ')'; at_ += text_[at_] == ' ' ? 1 : 0) {
      const Word letters = read_letters();
      word.insert(word.end(), letters.begin(), letters.end());
    }
    ++at_;
    return word;
  }

  Word read_letters() {
    std::string name;
    if (text_[at_] == '"') {
      for (++at_; text_[at_] != '"'; ++at_) name += text_[at_] == '\\' ? text_[++at_] : text_[at_];
      ++at_;
    } else {
      while (at_ < text_.size() && text_.find_first_of(" ^)", at_) != at_) name += text_[at_++];
    }
    return alphabet_.is_characterwise() ? alphabet_.parse_word(name) : Word{alphabet_.find(name).value()};
  }

  const Alphabet& alphabet_;
  std::string text_;
  std::size_t at_ = 0;
};

Word joined(Word first, const Word& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

Word repeated(const Word& base, std::size_t times) {
  Word word;
  for (std::size_t i = 0; i < times; ++i) word.insert(word.end(), base.begin(), base.end());
  return word;
}

}  // namespace

TEST_CASE("parts that repeat are powers") {
  struct Fact {
    const char *word, *shown;
  };
  const Alphabet letters = Alphabet::of_characters("ab01 (");
  for (const auto& [word, shown] : {Fact{"", ""},
                                    {"aaaaaaaa", "aaaaaaaa"},
                                    {"aaaaaaaaa", "a^9"},
                                    {"100000000000", "1 0^11"},
                                    {"bbbbbbbbbbbabbabbbbabbabbabbabbabb", "b^11 abba b^4 (abb)^5"},
                                    {"abababababa", "(ab)^5 a"},
                                    {"abaababbabba", "abaababbabba"},
                                    {"((((((((((a", "\"(\"^10 a"},
                                    {"a a a a a a", "\"a \"^5 a"},
                                    {"a b(a b(a b(a b(b", "\"a b(\"^4 b"},
                                    {"abaababbbabba", "abaababbbabba"}}) {
    CAPTURE(word);
    CHECK(in_powers(letters, letters.parse_word(word)) == shown);
  }
  const std::vector<std::string> names{"SYN", "ACK", "(1 2)", "()", "a^2", "a,b", "\"", "\\"};
  const Alphabet tokens = Alphabet::from_names(names);
  CHECK(in_powers(tokens, repeated({0}, 20)) == "SYN^20");
  CHECK(in_powers(tokens, repeated({0, 1}, 20)) == "(SYN ACK)^20");
  CHECK(in_powers(tokens, repeated({2, 0}, 9)) == "(\"(1 2)\" SYN)^9");
  CHECK(in_powers(tokens, Word{2, 3, 3, 2}) == tokens.format_word(Word{2, 3, 3, 2}));
}

TEST_CASE("no two words are shown alike, and the whole word is there") {
  std::mt19937 random(5);
  const std::vector<std::string> names{"SYN", "ACK", "(1 2)", "()",  "a^2", "a,b", "\"",
                                       "\\",  "1",   "2",     "x y", "(",   "^"};
  for (const Alphabet& alphabet :
       {Alphabet::of_characters("ab"), Alphabet::of_characters("a^2( )\"\\1"), Alphabet::from_names(names)})
    for (int i = 0; i < 400; ++i) {
      Word word;
      while (word.size() <= 8) {
        Word base;
        for (auto length = 1 + random() % 4; length > 0; --length)
          base.push_back(static_cast<Letter>(random() % alphabet.size()));
        for (auto times = 1 + random() % 6; times > 0; --times) word.insert(word.end(), base.begin(), base.end());
      }
      const std::string shown = in_powers(alphabet, word);
      CAPTURE(shown);
      if (shown != alphabet.format_word(word)) CHECK(PowersReader(alphabet, shown).read() == word);
    }
}

TEST_CASE("in a sentence a word has its length, and is cut where it says so") {
  const Alphabet letters = Alphabet::of_characters("ab");
  CHECK(quoted_word(letters, {}) == "the empty word");
  CHECK(quoted_word(letters, Word{0}) == "\"a\" (1 letter)");
  CHECK(quoted_word(letters, repeated({0, 1}, 1000)) == "(ab)^1000 (2,000 letters)");
  std::mt19937 random(6);
  Word word;
  while (word.size() < 3000) word.push_back(random() % 2);
  const std::string shown = quoted_word(letters, word);
  CHECK(shown.size() < 280);
  CHECK(shown.ends_with("…\" (3,000 letters)"));
  const std::string early = quoted_word(letters, joined(repeated({0}, 500), word));
  CHECK(early.starts_with("a^50"));
  CHECK(early.ends_with(" … (3,500 letters)"));
  CHECK(!test::contains(in_powers(letters, word), "…"));
}

TEST_CASE("the empty word is no factor") {
  const Alphabet letters = Alphabet::of_characters("ab");
  const Word none, a{0}, ab{0, 1}, many = repeated({0}, 9);
  CHECK(quoted_letters(letters, none) == "ε");
  CHECK(quoted_letters(letters, ab) == "\"ab\"");
  CHECK(product_of_words(letters, {{none}, {ab, true}, {none}}) == "\"ab\"ⁿ");
  CHECK(product_of_words(letters, {{a}, {ab, true}, {ab}}) == "\"a\" \"ab\"ⁿ \"ab\"");
  CHECK(product_of_words(letters, {{many, true}, {a}}) == "(a^9)ⁿ \"a\"");
  CHECK(product_of_words(letters, {{none}, {none, true}}) == "ε");
}

TEST_CASE("what acts on a terminal is written out, what is seen stays") {
  struct Fact {
    const char *text, *shown;
  };
  for (const auto& [text, shown] : {
           Fact{"", ""},
           {"plain \"text\" \\ é ∀ 漢 🙂", "plain \"text\" \\ é ∀ 漢 🙂"},
           {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
           {"\x1b[2K\rproved\x1b[8m", "\\x{1B}[2K\\rproved\\x{1B}[8m"},
           {"\x7f", "\\x{7F}"},
           {"\xc2\x9b"
            "2K",
            "\\x{9B}2K"},                                         // CSI in one character
           {"\xe2\x80\xaegpj", "\\x{202E}gpj"},                   // right-to-left override
           {"\xe2\x81\xa6x\xe2\x81\xa9", "\\x{2066}x\\x{2069}"},  // isolates
           {"\xe2\x80\xa8\xe2\x80\xa9", "\\x{2028}\\x{2029}"},    // line and paragraph separators
           {"\xef\xbb\xbfx\xe2\x80\x8d", "\\x{FEFF}x\\x{200D}"},
           {"\xff\xfe", "\\xFF\\xFE"},
           {"\xc3", "\\xC3"},                    // cut in the middle
           {"\xe2\x82x", "\\xE2\\x82x"},         // cut, and then a character
           {"\xc0\xaf", "\\xC0\\xAF"},           // overlong
           {"\xed\xa0\x80", "\\xED\\xA0\\x80"},  // a surrogate
       }) {
    CAPTURE(shown);
    CHECK(visible(text) == shown);
    CHECK(visible(shown) == shown);
  }
  CHECK(visible(std::string("a\0b", 3)) == "a\\x{00}b");
  CHECK(visible_lines("a\n\x1b\rb\n") == "a\n\\x{1B}\\rb\n");
}

TEST_CASE("whatever the bytes, nothing unseen is left") {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string shown = visible(text);
      for (const char32_t c : decode_utf8(shown)) REQUIRE_FALSE(is_unseen(c));  // and it is UTF-8
      REQUIRE(shown.ends_with("x"));
    }
}

TEST_CASE("names in messages are short, and cut between characters") {
  CHECK(in_quotes("a\nb") == "\"a\\nb\"");
  CHECK(in_quotes(std::string(60, 'x')) == '"' + std::string(60, 'x') + '"');
  CHECK(in_quotes(std::string(61, 'x')) == '"' + std::string(60, 'x') + "…\"");
  CHECK(in_quotes(std::string(6'400'000, 'x')).size() < 80);
  for (std::size_t most = 0; most < 9; ++most) {
    CAPTURE(most);
    const std::string cut = cut_short("é∀🙂z", most);  // 2, 3, 4 and 1 bytes
    const std::size_t whole = most < 2 ? 0 : most < 5 ? 2 : most < 9 ? 5 : 9;
    CHECK(cut == std::string("é∀🙂z").substr(0, whole) + "…");
  }
  CHECK(cut_short("é", 2) == "é");
  CHECK(cut_short(std::string(9, '\x80'), 6).size() <= 6 + 3);  // not UTF-8: cut somewhere
}
