#include "krohn/automata/language.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/testing.h"

using namespace krohn;

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

TEST_CASE("what is no language is refused by kind") {
  CHECK_THROWS_AS(load_language("regex:(a"), InputError);
  CHECK_THROWS_AS(load_language("name:no such family"), InputError);
  CHECK_THROWS_AS(load_language("no such file"), SystemError);
}
