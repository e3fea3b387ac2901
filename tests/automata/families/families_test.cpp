#include <regex>

#include "krohn/automata/families/families.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "tests/automata/calculator.h"
#include "tests/automata/reference_minimise.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::Calculator;
using krohn::test::left_to_right;
using krohn::test::Tokens;

namespace {

Word random_word(const Dfa& dfa, std::size_t length, Random& random) {
  Word word(length);
  for (Letter& letter : word) letter = static_cast<Letter>(random.below(dfa.letters()));
  return word;
}

std::string output_name(const Dfa& dfa, const Word& word) { return dfa.output_names()[dfa.output(dfa.run(word))]; }

std::string read_text(const Dfa& dfa, const std::string& text) {
  return output_name(dfa, dfa.alphabet().parse_word(text));
}

/// All words over {0, 1} up to a length, as texts.
std::vector<std::string> binary_words(std::size_t longest) {
  std::vector<std::string> words{""};
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i].size() < longest)
      for (const char bit : {'0', '1'}) words.push_back(words[i] + bit);
  return words;
}

}  // namespace

TEST_CASE("sizes as given, minimal sizes, letters") {
  struct Fact {
    const char* name;
    State states, minimal;
    Letter letters;
    bool acceptor;
  };
  for (const Fact& fact : {Fact{"parity", 2, 2, 2, true},
                           Fact{"sum5", 5, 5, 5, false},
                           Fact{"sum1", 1, 1, 1, false},
                           Fact{"modadd10", 10, 10, 10, false},
                           Fact{"counter3", 3, 3, 1, true},
                           Fact{"counter1", 1, 1, 1, true},
                           Fact{"(11)*", 2, 2, 1, true},
                           Fact{"saturating12", 12, 12, 2, false},
                           Fact{"saturating1", 1, 1, 2, false},
                           Fact{"evenpair5", 11, 11, 5, true},
                           Fact{"evenpair2", 5, 5, 2, true},
                           Fact{"tomita1", 2, 2, 2, true},
                           Fact{"tomita2", 3, 3, 2, true},
                           Fact{"tomita3", 5, 5, 2, true},
                           Fact{"tomita4", 4, 4, 2, true},
                           Fact{"tomita5", 4, 4, 2, true},
                           Fact{"tomita6", 3, 3, 2, true},
                           Fact{"tomita7", 5, 5, 2, true},
                           Fact{"dyck:types=2,depth=3", 16, 16, 4, true},
                           Fact{"dyck:types=1,depth=0", 2, 2, 2, true},
                           Fact{"dyck:types=5,depth=2", 32, 32, 10, true},
                           Fact{"modarith5", 25, 25, 8, false},
                           Fact{"modarith5-strict", 51, 51, 8, false},
                           Fact{"modarith2", 4, 4, 5, false},
                           Fact{"modarith12", 144, 144, 15, false},
                           Fact{"modarith1", 1, 1, 4, false},
                           Fact{"modarith4-strict", 33, 33, 7, false},
                           Fact{"ltrarith5", 15, 15, 8, false},
                           Fact{"ltrarith2", 6, 4, 5, false},
                           Fact{"ltrarith5-strict", 21, 19, 8, false},
                           Fact{"brackets:m=5,depth=0", 51, 51, 10, false},
                           Fact{"brackets:m=3,depth=1", 181, 133, 8, false},
                           Fact{"rsm:m=10,seed=1", 11, 11, 10, false},
                           Fact{"rsm:m=10,seed=1,initial=3", 10, 10, 10, false},
                           Fact{"T4", 4, 4, 3, false},
                           Fact{"T2", 2, 2, 2, false},
                           Fact{"T1", 1, 1, 1, false},
                           Fact{"S5", 120, 120, 120, false},
                           Fact{"Z60", 60, 60, 60, false},
                           Fact{"A6", 360, 360, 2, false},
                           Fact{"D4", 8, 8, 8, false},
                           Fact{"Q8", 8, 8, 8, false},
                           Fact{"Z2xZ4", 8, 8, 8, false},
                           Fact{"S1", 1, 1, 1, false},
                           Fact{"S1/points", 1, 1, 1, false},
                           Fact{"S5/points", 5, 5, 2, false},
                           Fact{"S5/points/all", 5, 5, 120, false},
                           Fact{"S5/swaps", 120, 120, 11, false},
                           Fact{"S5/swaps and 3-cycles", 120, 120, 31, false},
                           Fact{"S5/transpositions", 120, 120, 10, false},
                           Fact{"S5/(1 2),(1 2 3 4 5)", 120, 120, 2, false},
                           Fact{"Z60/1", 60, 60, 1, false},
                           Fact{"S3/identity", 6, 6, 6, true},
                           Fact{"Z60/tokens=2", 3720, 3660, 61, false},
                           Fact{"Z4/tokens=1", 4, 4, 5, false},
                           Fact{"M24/points", 24, 24, 3, false},
                           Fact{"PSL(2,7)/standard", 168, 168, 3, false}}) {
    CAPTURE(fact.name);
    const Dfa dfa = named_language(fact.name);
    CHECK(dfa.states() == fact.states);
    CHECK(dfa.letters() == fact.letters);
    CHECK(dfa.is_acceptor() == fact.acceptor);
    CHECK(minimise(dfa).states() == fact.minimal);
    CHECK(reference_minimise(dfa).states() == fact.minimal);
  }
}

TEST_CASE("the catalogue: every example is built, and every state of it is reached") {
  std::set<std::string> patterns;
  for (const FamilyInfo& info : families()) {
    CAPTURE(info.example);
    CHECK(!info.summary.empty());
    CHECK(!info.source.empty());
    CHECK(patterns.insert(info.pattern).second);
    // The large groups act on their points here; their elements are too many.
    const bool large = is_group_name(info.example) && order(named_group(info.example)) > 10'000;
    const Dfa dfa = named_language(large ? info.example + "/points" : info.example);
    CHECK(dfa.states() >= 1);
    const bool may_miss_states = info.example.rfind("random", 0) == 0 || info.example.rfind("permutations", 0) == 0 ||
                                 info.example == "Rubik";  // corners and edges are two orbits
    if (!may_miss_states) CHECK(canonical(dfa).states() == dfa.states());
  }
  CHECK(families().size() >= 30);
}

TEST_CASE("names are read whatever their case, spaces and brackets") {
  for (const char* name : {"Sum5", "sum(5)", "sum_5", "SUM 5", "sum:5", "sum:m=5"}) {
    CAPTURE(name);
    CHECK(named_language(name) == named_language("sum5"));
  }
  CHECK(named_language("ModArith5-strict") == named_language("modarith-strict:m=5"));
  CHECK(named_language("random:10,letters=4,seed=1") == named_language("random:seed=1,letters=4,m=10"));
  CHECK(named_language("S5", LanguageOptions{.generators = "transpositions"}) == named_language("s5/Transpositions"));
}

TEST_CASE("wrong names are refused with what was meant") {
  struct Fact {
    const char *name, *hint;
  };
  for (const Fact& fact : {Fact{"prity", "parity"},
                           Fact{"sun5", "\"sum\""},
                           Fact{"tomito3", "tomita"},
                           Fact{"modarit5", "modarith"},
                           Fact{"W5", "no group has this name"},
                           Fact{"", "krohn tasks --list"},
                           Fact{"sum", "parameter m is missing"},
                           Fact{"sum0", "at least 1"},
                           Fact{"sum:k=5", "unknown parameter \"k\""},
                           Fact{"sum5:m=5", "given twice"},
                           Fact{"parity5", "takes no number"},
                           Fact{"tomita8", "tomita1"},
                           Fact{"tomita0", "at least 1"},
                           Fact{"evenpair1", "at least 2"},
                           Fact{"dyck:types=2", "depth is missing"},
                           Fact{"sum:m=", "krohn tasks"},
                           Fact{"rsm:m=4,initial=4", "not a state"},
                           Fact{"S5/points/identity", "exclude"},
                           Fact{"S5/swaps/all", "given twice"},
                           Fact{"S5/swpas", "swaps"},
                           Fact{"S5/tokens=0", "at least one"},
                           Fact{"S0/points", "no points"},
                           Fact{"S1/standard", "no generators"},
                           Fact{"Q10", "multiple of 4"}}) {
    CAPTURE(fact.name);
    CHECK_THROWS_WITH_AS(named_language(fact.name), doctest::Contains(fact.hint), InputError);
  }
  const LanguageOptions options{.generators = "all"};
  CHECK_THROWS_AS(named_language("sum5", options), InputError);
  CHECK_THROWS_AS(named_language("S5/swaps", options), InputError);
}

TEST_CASE("what would be too large is refused before it is built") {
  for (const char* name : {"sum99999999999999999999999",
                           "sum9000000000000000000",
                           "sum1000000",
                           "modarith5000000000",
                           "modarith100000",
                           "brackets:m=5,depth=4",
                           "brackets:m=2,depth=1000000000",
                           "brackets:m=1,depth=9000000000000000000",
                           "dyck:types=2,depth=1000000000",
                           "dyck:types=1,depth=9000000000000000000",
                           "dyck:types=100000,depth=2",
                           "S13",
                           "S8/all",
                           "M24",
                           "Z10001",
                           "Z1000001",
                           "Z1000000",
                           "D100000",
                           "random:m=100000000",
                           "random:m=10,letters=10000000000",
                           "rsm:m=1000000",
                           "T1000000000",
                           "S5/tokens=100000",
                           "S5/tokens=9000000000000000000",
                           "counter1000000000",
                           "ltrarith9000000000000000000",
                           "ltrarith9000000000000000000-strict",
                           "modarith4000000000-strict",
                           "saturating9000000000000000000"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(named_language(name), LimitError);
  }
  const LanguageOptions options{.max_states = 100};
  CHECK_THROWS_AS(named_language("S5", options), LimitError);
  CHECK(named_language("S4", options).states() == 24);
}

TEST_CASE("parity, sums, counters and EvenPair compute their definitions") {
  Random random(1);
  const Dfa parity = named_language("parity"), sum = named_language("sum7"), pair = named_language("evenpair5"),
            counter = named_language("counter6"), saturating = named_language("saturating4");
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const std::size_t length = random.below(40);
    const Word bits = random_word(parity, length, random);
    CHECK(parity.accepts(parity.run(bits)) == (std::count(bits.begin(), bits.end(), 1u) % 2 == 1));
    const Word residues = random_word(sum, length, random);
    std::uint64_t total = 0;
    for (const Letter letter : residues) total += letter;
    CHECK(output_name(sum, residues) == std::to_string(total % 7));
    const Word letters = random_word(pair, length, random);
    CHECK(pair.accepts(pair.run(letters)) == (length > 0 && letters.front() == letters.back()));
    CHECK(counter.accepts(counter.run(Word(length, 0))) == (length % 6 == 0));
    const Word steps = random_word(saturating, length, random);
    long count = 0;
    for (const Letter step : steps) count = std::clamp(count + (step == 0 ? 1 : -1), 0L, 3L);
    CHECK(output_name(saturating, steps) == std::to_string(count));
  }
}

TEST_CASE("Tomita's languages agree with their definitions and with AALpy's files") {
  // The third: an odd run of 0s comes somewhere after an odd run of 1s.
  const std::regex second("(10)*"), not_third("((0|1)*0)?1(11)*(0(0|1)*1)?0(00)*(1(0|1)*)?"), seventh("0*1*0*1*");
  std::vector<Dfa> named, files;
  for (const char index : std::string("1234567")) {
    named.push_back(named_language(std::string("tomita") + index));
    files.push_back(load_language(std::string(KROHN_TEST_DATA) + "/aalpy/tomita_" + index + ".dot"));
  }
  for (const std::string& word : binary_words(11)) {
    CAPTURE(word);
    const auto zeros = std::count(word.begin(), word.end(), '0'), ones = std::count(word.begin(), word.end(), '1');
    const bool defined[] = {zeros == 0,
                            std::regex_match(word, second),
                            !std::regex_match(word, not_third),
                            !test::contains(word, "000"),
                            zeros % 2 == 0 && ones % 2 == 0,
                            (zeros - ones) % 3 == 0,
                            std::regex_match(word, seventh)};
    for (std::size_t i = 0; i < named.size(); ++i) {
      CAPTURE(i);
      CHECK(read_text(named[i], word) == (defined[i] ? "accept" : "reject"));
      // AALpy's second language is (10)+ where Tomita's is (10)*.
      if (i != 1 || !word.empty()) CHECK(read_text(files[i], word) == (defined[i] ? "accept" : "reject"));
    }
  }
}

TEST_CASE("bounded Dyck words agree with a stack") {
  const Dfa dfa = named_language("dyck:types=3,depth=4");
  Random random(3);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    Word word;
    std::vector<Letter> open;
    bool good = true;
    for (std::uint64_t i = random.below(14); i > 0; --i) {
      // Mostly legal moves, so that many words are balanced.
      Letter letter = static_cast<Letter>(random.below(6));
      if (!open.empty() && random.below(2)) letter = open.back() + 1;
      word.push_back(letter);
      if (letter % 2 == 0)
        open.push_back(letter);
      else if (open.empty() || open.back() + 1 != letter)
        good = false;
      else
        open.pop_back();
      good = good && open.size() <= 4;
      if (!good) break;
    }
    good = good && open.empty();
    accepted += good;
    CAPTURE(dfa.alphabet().format_word(word));
    CHECK(dfa.accepts(dfa.run(word)) == good);
  }
  CHECK(accepted > 300);
}

TEST_CASE("word problems multiply permutations") {
  Random random(7);
  for (const char* name :
       {"S5", "S4/swaps and 3-cycles", "D4", "Q8", "Z12", "Z2xZ4", "A6", "F20", "S5/transpositions"}) {
    CAPTURE(name);
    const Dfa dfa = named_language(name);
    const PermutationGroup group = named_group(std::string(name).substr(0, std::string(name).find('/')));
    // Letters by their names: the permutation that the name spells, or that runs there from the identity.
    std::map<std::string, Permutation> value;
    const StabiliserChain chain(group);
    for (int i = 0; i < 5000; ++i) {
      const Permutation element = chain.random_element(random);
      value.emplace(group.element_name(element), element);
    }
    const Word word = random_word(dfa, 60, random);
    Permutation product = Permutation::identity(group.degree());
    State state = dfa.initial();
    for (const Letter letter : word) {
      product = product * value.at(dfa.alphabet().name(letter));
      state = dfa.next(state, letter);
      CHECK(dfa.output_names()[dfa.output(state)] == group.element_name(product));
    }
  }
  CHECK(named_language("S5").output_names()[0] == "()");
  CHECK(named_language("Z12") == named_language("sum12"));
}

TEST_CASE("groups act on their points from point 1") {
  const Dfa dfa = named_language("S4/points/(1 2),(1 2 3 4)");
  CHECK(read_text(dfa, "(1 2) (1 2) (1 2 3 4)") == "2");
  CHECK(read_text(dfa, "(1 2) (1 2 3 4)") == "3");
  CHECK(named_language("S3/identity").accepts(named_language("S3/identity").initial()));
}

TEST_CASE("k tokens per transition: the output is the product of all but the last k − 1 letters") {
  Random random(8);
  for (const std::uint64_t tokens : {1u, 2u, 4u}) {
    const Dfa plain = named_language("S3"), delayed = named_language("S3/tokens=" + std::to_string(tokens));
    const Letter pause = *delayed.alphabet().find("pause");
    std::vector<State> products{plain.initial()};
    State state = delayed.initial();
    for (std::uint64_t t = 1; t <= 200; ++t) {
      const Letter letter = t % tokens == 0 ? static_cast<Letter>(random.below(7)) : pause;
      products.push_back(letter == pause ? products.back() : plain.next(products.back(), letter));
      state = delayed.next(state, letter);
      const State expected = t < tokens ? 0 : products[t - tokens + 1];
      CAPTURE(tokens);
      CAPTURE(t);
      CHECK(delayed.output(state) == expected);
    }
  }
  // A letter out of its place counts as a pause.
  const Dfa dfa = named_language("Z4/tokens=2");
  CHECK(read_text(dfa, "3 1 3") == "1");
}

TEST_CASE("random state machines: rows are permutations, the first letter is the initial state") {
  const Dfa dfa = named_language("rsm:m=10,seed=5"), without_start = named_language("rsm:m=10,seed=5,initial=0");
  for (Letter letter = 0; letter < 10; ++letter) CHECK(dfa.next(dfa.initial(), letter) == letter);
  CHECK(dfa.output_names()[dfa.output(dfa.initial())] == "start");
  for (State q = 0; q < 10; ++q) {
    std::set<State> row(dfa.row(q).begin(), dfa.row(q).end());
    CHECK(row.size() == 10);
    CHECK(std::equal(dfa.row(q).begin(), dfa.row(q).end(), without_start.row(q).begin()));
  }
  CHECK(dfa != named_language("rsm:m=10,seed=6"));
}

TEST_CASE("random automata never change: the numbers of seed 1") {
  const Dfa random = named_language("random:m=5,letters=2,seed=1"), machine = named_language("rsm:m=4,seed=1");
  CHECK(random == named_language("random:m=5,letters=2"));
  CHECK(std::vector<State>(random.table().begin(), random.table().end()) ==
        std::vector<State>{3, 4, 2, 1, 3, 2, 3, 2, 2, 2});
  CHECK(std::vector<State>(machine.table().begin(), machine.table().end()) ==
        std::vector<State>{0, 1, 3, 2, 0, 2, 3, 1, 2, 0, 1, 3, 0, 2, 1, 3, 0, 1, 2, 3});
  CHECK(named_language("permutations:m=6,letters=3,seed=2").is_permutation_automaton());
}

namespace {

/// A token for each.
Tokens characters(const std::string& text) {
  Tokens tokens;
  for (const char c : text) tokens.emplace_back(1, c);
  return tokens;
}

std::string random_expression(long modulus, std::size_t operands, Random& random) {
  std::string text;
  for (std::size_t i = 0; i < operands; ++i) {
    if (i > 0) text += "+-*"[random.below(3)];
    text += static_cast<char>('0' + random.below(static_cast<std::uint64_t>(modulus)));
  }
  return text;
}

}  // namespace

TEST_CASE("arithmetic agrees with calculators") {
  Random random(4);
  for (const long modulus : {2L, 3L, 5L, 10L}) {
    const std::string m = std::to_string(modulus);
    const Dfa fan = named_language("modarith" + m), strict = named_language("modarith" + m + "-strict");
    const Dfa sequential = named_language("ltrarith" + m),
              strict_sequential = named_language("ltrarith" + m + "-strict");
    for (int round = 0; round < 200; ++round) {
      const std::string text = random_expression(modulus, 1 + random.below(20), random);
      CAPTURE(modulus);
      CAPTURE(text);
      const std::string value = std::to_string(Calculator(characters(text), modulus).evaluate(0));
      CHECK(read_text(fan, text) == value);
      CHECK(read_text(strict, text) == value);
      const std::string in_order = std::to_string(left_to_right(characters(text), modulus));
      CHECK(read_text(sequential, text) == in_order);
      CHECK(read_text(strict_sequential, text) == in_order);
      CHECK(read_text(strict, text + "+") == "incomplete");
      CHECK(read_text(strict_sequential, text + "*1" + "-") == "incomplete");
      CHECK(read_text(strict, text + "11+1") == "error");
      CHECK(read_text(strict_sequential, text + "+-1") == "error");
    }
  }
  CHECK(read_text(named_language("modarith5"), "1+2-3*4") == "1");               // Fan §4.1
  CHECK(read_text(named_language("modarith5"), "2-3-3*2") == "3");               // Grazzi E.1.2
  CHECK(read_text(named_language("ltrarith20"), "3 * 9 - 17 + 6 + 12") == "8");  // Ebrahimi B.1
}

TEST_CASE("bracketed arithmetic agrees with a calculator on grammatical and on arbitrary words") {
  CHECK(read_text(named_language("brackets:m=5,depth=3"), "(((3+3)+-1)+-2)-((3-(-3))+((1)+4))") ==
        "2");  // Grazzi E.1.2
  const Dfa dfa = named_language("brackets:m=3,depth=2");
  const std::string letters = "012+-*()";
  Random random(6);
  int values = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    int open = 0;
    bool after_operand = false;
    for (std::uint64_t i = 1 + random.below(14); i > 0; --i) {
      // Usually a letter that fits, so that many words are expressions.
      char letter = letters[random.below(8)];
      if (random.below(20) > 0)
        letter = after_operand ? "+-*)"[random.below(open > 0 ? 4 : 3)] : "012-("[random.below(5)];
      text += letter;
      open += letter == '(' ? 1 : letter == ')' ? -1 : 0;
      after_operand = (letter >= '0' && letter <= '2') || letter == ')';
    }
    const long value = Calculator(characters(text), 3).evaluate(2);
    CAPTURE(text);
    const std::string output = read_text(dfa, text);
    if (value >= 0) {
      ++values;
      CHECK(output == std::to_string(value));
    } else {
      CHECK((output == "incomplete" || output == "error"));
    }
  }
  CHECK(values > 2000);
}

TEST_CASE("a language is an expression, a name or a file") {
  CHECK(load_language("regex:(a|b)*abb") == parse_regex("(a|b)*abb"));
  CHECK(load_language("name:tomita4") == named_language("tomita4"));
  CHECK(load_language(std::string(KROHN_TEST_DATA) + "/aalpy/tomita_4.dot").states() == 4);
}

TEST_CASE("options reach the language that they are for") {
  LanguageOptions options{.alphabet = "abc"};
  CHECK(load_language("regex:a*", options).alphabet() == Alphabet::of_characters("abc"));
  options = {};
  options.max_states = 50;
  CHECK_THROWS_AS(load_language("regex:(a|b)*a(a|b){16}", options), LimitError);
  options = {};
  options.symbols = std::string(KROHN_TEST_DATA) + "/mlregtest/alph4.txt";
  CHECK(load_language(std::string(KROHN_TEST_DATA) + "/mlregtest/04.04.SP.2.1.0.att", options).letters() == 4);
}
