#include "krohn/automata/formats/formats.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Dfa read(const std::string& text) { return to_dfa(read_jff(text, "f.jff"), "f.jff"); }

std::string error_of(const std::string& text) {
  return test::error_of([&] { read(text); });
}

std::string structure(const std::string& body) {
  return "<?xml version=\"1.0\"?>\n<!--Created with JFLAP 6.4.--><structure>\n<type>fa</type>\n<automaton>\n" + body +
         "</automaton></structure>\n";
}
const std::string two_states =
    "<state id=\"0\" name=\"q0\"><x>82.0</x><y>91.0</y><initial/></state>\n"
    "<state id=\"7\" name=\"q1\"><x>1</x><y>2</y><label>x</label><final/></state>\n";

std::string arc(const std::string& from, const std::string& to, const std::string& read) {
  return "<transition><from>" + from + "</from><to> " + to + "\n</to>" + read + "</transition>\n";
}

}  // namespace

TEST_CASE("JFLAP files give automata back exactly, or refuse to be written") {
  int refused = 0;
  for (const auto& alphabets : {samples::plain_alphabets(), samples::odd_alphabets()})
    for (const Dfa& dfa : samples::machines(41, alphabets, samples::accepting())) {
      std::string text;
      try {
        text = write_jff(dfa);
      } catch (const InputError& error) {
        CHECK(std::string(error.what()).starts_with("XML cannot hold the character U+0001"));
        ++refused;
        continue;
      }
      CAPTURE(text.substr(0, 500));
      CHECK(read(text) == dfa);
    }
  CHECK(refused == 5);
  CHECK_THROWS_AS(write_jff(samples::machines(1, samples::plain_alphabets(), samples::odd_outputs()).front()),
                  InputError);
  const Dfa named =
      Dfa::acceptor(Alphabet::of_characters("a"), {1, 0}, 1, {true, false}).with_state_names({"<&\">\r\n", ""});
  CHECK(read(write_jff(named)) == named);
  CHECK(read(write_jff(named)).state_name(0) == "<&\">\r\n");
}

TEST_CASE("JFLAP's own files: λ, strings, ranges, the flat structure of JFLAP 4") {
  const Dfa dfa = read(structure(two_states + arc("0", "7", "<read>a</read>") + arc("7", "0", "<read/>")));
  CHECK(accepts(dfa, {0, 0, 0}));
  CHECK_FALSE(accepts(dfa, {}));
  const Dfa strings = read(structure(two_states + arc("0", "7", "<read>ab</read>")));
  CHECK(strings.alphabet() == Alphabet::of_characters("ab"));
  CHECK(accepts(strings, {0, 1}));
  CHECK_FALSE(accepts(strings, {0}));
  const Dfa range =
      read(structure(two_states + arc("0", "7", "<read>[b-d]</read>") + arc("7", "7", "<read>&amp;</read>")));
  CHECK(range.alphabet() == Alphabet::of_characters("bcd&"));
  CHECK(accepts(range, {1, 3}));
  CHECK(read("<structure><type>fa</type>" + two_states + arc("0", "7", "<read>é</read>") + "</structure>").letters() ==
        1);
}

TEST_CASE("what is wrong is said with line and column") {
  struct Fact {
    std::string text, message;
  };
  std::string deep, entities = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">";
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  for (const Fact& fact : {
           Fact{"", "f.jff: the file is empty"},
           {"digraph {}", "f.jff:1:1: not well-formed XML: syntax error"},
           {"<structure>\n<type>fa</typo>", "f.jff:2:11: not well-formed XML: mismatched tag"},
           {"<structure><type>fa</type>", "not well-formed XML: no element found"},
           {"<html/>", "f.jff:1:1: the element <html> is not JFLAP's <structure>"},
           {"<structure><type>pda</type></structure>", "f.jff: the type of the structure is \"pda\""},
           {"<structure/>", "f.jff: the type of the structure is \"\""},
           {structure(""), "f.jff: the automaton has no states"},
           {structure("<state/>"), "f.jff:5:1: a state without an id"},
           {structure(two_states + arc("0", "7", "<read>a</read><push>x</push>")),
            ": the element <push> is none of a finite automaton's"},
           {structure("<start>0</start>" + two_states), "f.jff:5:1: the element <start>"},
           {structure("<state id=\"x\"/>"), "f.jff:5:1: the id \"x\" of a state is not a number"},
           {structure("<state id=\"0\"/><state id=\"0\"/>"), "f.jff:5:16: state 0 is given twice"},
           {structure("<state id=\"0\"/>"), "f.jff: no state is marked <initial/>"},
           {structure("<state id=\"0\"><initial/></state>\n<state id=\"1\"><initial/></state>"),
            "f.jff:6:1: a second initial state, 1"},
           {structure(two_states + arc("0", "4000000000", "<read>a</read>")),
            "f.jff:7:1: a transition names the state \"4000000000\""},
           {structure(two_states + arc("0", "", "<read>a</read>")), "f.jff:7:1: a transition names the state \"\""},
           {structure(two_states + arc("0", "7", "<read>[z-a]</read>")), "the range \"[z-a]\" is reversed"},
           {structure("<alphabet>[\"a\"]</alphabet>" + two_states + arc("0", "7", "<read>b</read>")),
            "the symbol \"b\" is not in the file's alphabet"},
           {structure("<alphabet>{</alphabet>" + two_states), "not valid JSON"},
           {entities + "]>" + structure(two_states), "a document type declaration"},
           {"<structure>" + deep, "elements nested deeper than 32 levels"},
           {"<structure>\xFF</structure>", "f.jff:1:12: byte 0xFF is not valid UTF-8"},
       }) {
    CAPTURE(fact.text.substr(0, 300));
    const std::string error = error_of(fact.text);
    CHECK_MESSAGE(test::contains(error, fact.message), error);
  }
}
