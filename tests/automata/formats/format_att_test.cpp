#include "krohn/automata/formats/formats.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::error_of;

namespace {

Dfa read(const std::string& text) { return to_dfa(read_att(text, "f.att"), "f.att"); }
Dfa read(const std::string& text, const std::string& symbols) {
  const AttSymbols table = read_symbol_table(symbols, "f.syms");
  return to_dfa(read_att(text, "f.att", &table), "f.att");
}

}  // namespace

TEST_CASE("AT&T text gives canonical automata back, alone and with its symbol table") {
  for (const Dfa& dfa : samples::machines(12, samples::plain_alphabets(), samples::accepting())) {
    CAPTURE(write_att(dfa));
    CHECK(read(write_att(dfa)) == dfa);
    CHECK(read(write_att(dfa), write_symbol_table(dfa.alphabet())) == dfa);
  }
}

TEST_CASE("digits as letters need the symbol table: alone, 0 may be OpenFst's ε") {
  for (const Dfa& dfa :
       samples::machines(13, {Alphabet::of_characters("01"), Alphabet::of_characters("120")}, samples::accepting()))
    CHECK(read(write_att(dfa), write_symbol_table(dfa.alphabet())) == dfa);
  CHECK(error_of([] { read("0 1 0\n1 0 1\n1\n"); }).find("f.att:1:5: 0 is the empty word where labels") == 0);
  const Dfa letters = read("0 1 0\n1 0 x\n1\n");
  CHECK(letters.alphabet() == Alphabet::of_characters("0x"));
}

TEST_CASE("odd names survive or are refused") {
  int refused = 0;
  for (const Dfa& dfa : samples::machines(14, samples::odd_alphabets(), samples::accepting())) {
    std::string text;
    try {
      text = write_att(dfa);
    } catch (const InputError&) {
      ++refused;
      CHECK_THROWS_AS(write_symbol_table(dfa.alphabet()), InputError);
      continue;
    }
    CAPTURE(text.substr(0, 300));
    const Dfa back = read(text, write_symbol_table(dfa.alphabet()));
    CHECK(std::equal(back.table().begin(), back.table().end(), dfa.table().begin(), dfa.table().end()));
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      CHECK(back.alphabet().name(letter) == dfa.alphabet().name(letter));
    if (names_suffice(dfa.alphabet())) CHECK(back == dfa);
  }
  CHECK(refused > 0);
  CHECK_THROWS_AS(write_att(samples::machines(1, samples::plain_alphabets(), samples::odd_outputs()).front()),
                  InputError);
}

TEST_CASE("the rows mean what OpenFst means by them") {
  SUBCASE("the first row's source is initial, also when it is final") {
    CHECK(accepts(read("5\n5 7 a\n"), {}));
    CHECK(read("7 5 a\n5\n").states() == 3);  // and a sink
    CHECK(accepts(read("7 5 a\n5\n"), {0}));
    CHECK_FALSE(accepts(read("7 5 a\n5\n"), {}));
  }
  SUBCASE("zero weights are no weights, with and without outputs") {
    for (const char* text :
         {"0 1 a\n1\n", "0 1 a a\n1\n", "0 1 a 0\n1 0.0\n", "0 1 a a 0\n1 0\n", "0\t1  a\r\n\r\n1\r\n"}) {
      CAPTURE(text);
      const Dfa dfa = read(text);
      CHECK(accepts(dfa, {0}));
      CHECK_FALSE(accepts(dfa, {}));
    }
  }
  SUBCASE("ε by name") {
    for (const char* epsilon : {"<eps>", "<EPS>", "<epsilon>"})
      CHECK(accepts(read(std::string("0 1 ") + epsilon + "\n1 1 a\n1\n"), {}));
    CHECK(accepts(read("0 1 nothing\n1\n", "a 1\nnothing 0\n"), {}));
  }
  SUBCASE("the alphabet is the whole table, in the order of its numbers") {
    const Dfa dfa = read("0 0 b\n0\n", "<eps> 0\nc 30\nb 20\na 10\n");
    CHECK(dfa.alphabet() == Alphabet::of_characters("abc"));
    CHECK(accepts(dfa, {1, 1}));
    CHECK_FALSE(accepts(dfa, {0}));
  }
  SUBCASE("absurd state numbers cost nothing") {
    const Dfa dfa = read("4000000000 18446744073709551615 a\n18446744073709551615\n");
    CHECK(dfa.states() == 3);
    CHECK(dfa.state_name(0) == "4000000000");
  }
  SUBCASE("the same arc twice is one arc; two targets make it nondeterministic") {
    CHECK(read("0 0 a\n0 0 a\n0\n").states() == 1);
    const Dfa dfa = read("0 0 a\n0 1 a\n0 0 b\n1 2 a\n1 2 b\n2\n");  // the last but one letter is a
    CHECK(accepts(dfa, {1, 0, 1}));
    CHECK_FALSE(accepts(dfa, {0, 1, 1}));
  }
}

TEST_CASE("what is wrong is said with line and column") {
  struct Fact {
    const char *text, *message;
  };
  for (const Fact& fact : {
           Fact{"", "f.att: the file is empty"},
           {"digraph {\n}\n", "f.att:1:1: \"digraph\" is not the number of a state"},
           {"0 1 a\n0 x a\n", "f.att:2:3: \"x\" is not the number of a state"},
           {"0 -1 a\n", "f.att:1:3: \"-1\""},
           {"0 99999999999999999999 a\n", "f.att:1:3: \"99999999999999999999\""},
           {"0 1 a b\n1\n", "f.att:1:7: a transducer: input \"a\", output \"b\""},
           {"0 1 é\n0 1 a a 2.5\n", "f.att:2:9: weight \"2.5\""},
           {"0 1 a 3\n1\n", "f.att:1:7: weight \"3\""},
           {"0 1 a\n1 0.5\n", "f.att:2:3: weight \"0.5\""},
           {"0 1 a a 0 0\n", "f.att:1:11: a sixth field"},
           {"0 1 \xC3\n", "f.att:1:5: byte 0xC3 is not valid UTF-8"},
       }) {
    CAPTURE(fact.text);
    const std::string error = error_of([&] { read(fact.text); });
    CHECK_MESSAGE(test::contains(error, fact.message), error);
  }
  CHECK(error_of([] { read("0 1 z\n", "a 1\n"); }) == "f.att:1:5: the symbol \"z\" is not in the symbol table");
  CHECK(error_of([] { read("0 1 a\n", "a 1\na 2\n"); }) == "f.syms:2:1: \"a\" is given twice");
  CHECK(error_of([] { read("0 1 a\n", "a 1\nb 1\n"); }) == "f.syms:2:1: number 1 is given twice");
  CHECK(error_of([] { read("0 1 a\n", "a\n"); }) == "f.syms:1:1: a line of a symbol table is: name number");
  CHECK(error_of([] { read("0 1 a\n", "a -1\n"); }) == "f.syms:1:3: \"-1\" is not the number of a symbol");
}
