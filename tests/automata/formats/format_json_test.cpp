#include "krohn/automata/formats/formats.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Dfa read(const std::string& text) { return to_dfa(read_json(text, "f.json"), "f.json"); }

std::string file(const std::string& fields) { return R"({"format": "krohn automaton", "version": 1, )" + fields + "}"; }

std::string error_of(const std::string& text) {
  return test::error_of([&] { read(text); });
}

}  // namespace

TEST_CASE("JSON gives back every automaton exactly") {
  for (const auto& alphabets : {samples::plain_alphabets(), samples::odd_alphabets()})
    for (const auto& outputs : {samples::accepting(), samples::odd_outputs()})
      for (const Dfa& dfa : samples::machines(11, alphabets, outputs)) {
        const std::string text = write_json(dfa);
        CAPTURE(text.substr(0, 500));
        CHECK(read(text) == dfa);
      }
}

TEST_CASE("JSON keeps what canonical numbering would lose: numbering, unreachable states, names") {
  const Dfa dfa = Dfa::acceptor(Alphabet::of_characters("ab"), {0, 1, 2, 0, 1, 1}, 2, {false, true, false})
                      .with_state_names({"", "\"", "é"});
  const Dfa back = read(write_json(dfa));
  CHECK(back == dfa);
  CHECK(back.state_name(0) == "");
  CHECK(back.state_name(1) == "\"");
  CHECK(back.state_name(2) == "é");
  CHECK(read(write_json(dfa).replace(1, 0, "\"comment\": {\"by\": [1]},")) == dfa);
}

TEST_CASE("missing arcs reject and several targets are determinised") {
  const Dfa partial =
      read(file(R"("alphabet": ["a"], "states": 1, "initial": 0, "accepting": [0], "transitions": [[null]])"));
  CHECK(partial.states() == 2);
  CHECK(partial.accepts(0));
  CHECK_FALSE(partial.accepts(partial.next(0, 0)));
  const Dfa several = read(file(
      R"("alphabet": ["a", "b"], "states": 2, "initial": 0, "accepting": [1], "transitions": [[[0, 1], 0], [null, null]])"));
  for (const auto& [word, accepted] :
       {std::pair{Word{}, false}, {Word{0}, true}, {Word{0, 1}, false}, {Word{0, 0}, true}, {Word{1, 1, 0}, true}})
    CHECK(several.accepts(several.run(word)) == accepted);
}

TEST_CASE("what is wrong is said, where it is known with line and column") {
  struct Fact {
    std::string text, message;
  };
  const std::string rest = R"("states": 1, "initial": 0, "accepting": [], "transitions": [[0]])";
  for (
      const Fact& fact : {
          Fact{"", "f.json: the file is empty"},
          {" \n ", "f.json: the file is empty"},
          {"digraph {}", "f.json:1:1: not valid JSON"},
          {"{\n \"format\" 1}", "f.json:2:11: not valid JSON"},
          {"\xFF", "f.json:1:1: byte 0xFF is not valid UTF-8"},
          {"[]", "f.json: the file holds array"},
          {"{}", "f.json: not an automaton of krohn"},
          {R"({"format": "krohn automaton", "version": 2})", "\"version\" must be 1"},
          {file(rest), "the field \"alphabet\" is missing"},
          {file(R"("final": [1], "alphabet": ["a"], )" + rest), "the field \"final\" is not known; the fields are"},
          {file(R"("alphabet": [{"name": "x", "characters": [], "silent": true}], )" + rest), "\"alphabet\"[0]"},
          {file(R"("alphabet": ["a", "a"], )" + rest), "f.json: the alphabet has the letter \"a\" twice"},
          {file(R"("alphabet": [""], )" + rest), "f.json: "},
          {file(R"("alphabet": [1], )" + rest), "\"alphabet\"[0]"},
          {file(R"("alphabet": [{"name": "x", "characters": [[5]]}], )" + rest), "a range is [first, last]"},
          {file(R"("alphabet": [{"name": "x", "characters": [[5, 1114112]]}], )" + rest), "below 1114112"},
          {file(R"("alphabet": ["a", "b"], )" + rest), "row 0 of \"transitions\" must list 2 targets"},
          {file(R"("alphabet": ["a"], "initial": 0, )" + rest), "the key \"initial\" is given twice"},
          {file(R"("alphabet": ["a"], "states": 4000000000, "initial": 0, "accepting": [], "transitions": [[0]])"),
           "\"states\" is 4000000000, but \"transitions\" has 1 row"},
          {file(R"("alphabet": ["a"], "states": 1, "initial": 1, "accepting": [], "transitions": [[0]])"),
           "the initial state is 1; a whole number below 1"},
          {file(R"("alphabet": ["a"], "states": 1, "initial": -1, "accepting": [], "transitions": [[0]])"),
           "\"initial\""},
          {file(R"("alphabet": ["a"], "states": 1, "initial": 0, "accepting": [1], "transitions": [[0]])"),
           "an accepting state is 1"},
          {file(R"("alphabet": ["a"], "states": 1, "initial": 0, "accepting": [], "transitions": [[4000000000]])"),
           "the target of state 0 on \"a\" is 4000000000"},
          {file(R"("alphabet": ["a"], "states": 1, "initial": 0, "accepting": [], "transitions": [[1e400]])"),
           "a number in JSON that is too large for any format"},
          {file(R"("alphabet": [], "states": 0, "initial": 0, "accepting": [], "transitions": [])"),
           "the initial state"},
          {file(R"("alphabet": ["a"], "states": 1, "initial": 0, "transitions": [[0]])"), "either \"accepting\" or"},
          {file(
               R"("alphabet": ["a"], "states": 1, "initial": 0, "outputs": [2], "output_names": ["x"], "transitions": [[0]])"),
           "the output of state 0 is 2"},
          {file(
               R"("alphabet": ["a"], "states": 1, "initial": 0, "outputs": [0], "output_names": ["x", "x"], "transitions": [[0]])"),
           "\"output_names\" has a name twice"},
          {file(
               R"("alphabet": ["a"], "states": 1, "initial": 0, "outputs": [0], "output_names": ["x"], "transitions": [[null]])"),
           "state \"0\" has no arc on letter \"a\""},
          {file(R"("alphabet": ["a"], "state_names": ["x", "y"], )" + rest), "2 state names for 1 state"},
          {std::string(1'000'000, '['), "nested deeper than"},
          {file("\"x\": " + std::string(1'000'000, '{')), "not valid JSON"},
      }) {
    CAPTURE(fact.text.substr(0, 200));
    const std::string error = error_of(fact.text);
    CHECK_MESSAGE(test::contains(error, fact.message), error);
  }
}

TEST_CASE("an acceptor's outputs are in whichever order they are named") {
  const auto with = [](const std::string& names, const std::string& outputs) {
    return read(file(R"("alphabet": ["a"], "states": 2, "initial": 0, "output_names": [)" + names +
                     R"(], "outputs": [)" + outputs + R"(], "transitions": [[1], [0]])"));
  };
  const Dfa one = with(R"("reject", "accept")", "0, 1"), other = with(R"("accept", "reject")", "1, 0");
  REQUIRE(other.is_acceptor());
  CHECK_FALSE(other.accepts(0));
  CHECK(other.accepts(1));
  CHECK(one == other);
}

TEST_CASE("outputs that are not UTF-8 are refused on writing") {
  CHECK_THROWS_AS(write_json(Dfa::moore(Alphabet::of_characters("a"), {0}, 0, {0}, {"\xFF"})), InputError);
}
