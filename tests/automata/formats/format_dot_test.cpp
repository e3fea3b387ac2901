#include <thread>

#include "krohn/automata/formats/formats.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/random.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Dfa read(const std::string& text) { return to_dfa(std::get<Draft>(read_dot(text, "f.dot")), "f.dot"); }

std::string error_of(const std::string& text) {
  return test::error_of([&] {
    const auto machine = read_dot(text, "f.dot");
    if (const auto* draft = std::get_if<Draft>(&machine)) to_dfa(*draft, "f.dot");
  });
}

}  // namespace

TEST_CASE("DOT gives back every automaton exactly") {
  for (const auto& alphabets : {samples::plain_alphabets(), samples::odd_alphabets()})
    for (const auto& outputs : {samples::accepting(), samples::odd_outputs(), {"accept", "reject"}, {"only"}})
      for (const Dfa& dfa : samples::machines(21, alphabets, outputs)) {
        const std::string text = write_dot(dfa);
        CAPTURE(text.substr(0, 800));
        CHECK(read(text) == dfa);
      }
}

TEST_CASE("DOT keeps numbering, unreachable states and names") {
  const Dfa dfa = Dfa::acceptor(Alphabet::of_characters("ab"), {0, 1, 2, 0, 1, 1}, 2, {false, true, false})
                      .with_state_names({"\\N", "\"", "é\nx"});
  const Dfa back = read(write_dot(dfa));
  CHECK(back == dfa);
  for (State state = 0; state < 3; ++state) CHECK(back.state_name(state) == dfa.state_name(state));
}

TEST_CASE("the usual ways to draw an automaton are understood") {
  SUBCASE("start marks of every shape") {
    for (const char* mark : {"__start0 [label=\"\", shape=none]; __start0 -> s [label=\"\"]", "i [shape=point]; i -> s",
                             "\"\" [shape=none]; \"\" -> s", "__start -> s", "i [shape=plaintext]; i -> s"}) {
      CAPTURE(mark);
      const Dfa dfa = read(std::string("digraph { ") + mark + "; t; s [shape=doublecircle]; s -> t [label=a] }");
      CHECK(dfa.states() == 3);  // s, t and the sink
      CHECK(accepts(dfa, {}));
      CHECK_FALSE(accepts(dfa, {0}));
    }
  }
  SUBCASE("accepting by two peripheries") {
    CHECK(accepts(read("digraph { i [shape=point]; i -> s; s [peripheries=2]; s -> s [label=a] }"), {0}));
  }
  SUBCASE("defaults, subgraphs, chains, concatenation, comments, ports and keywords in any case") {
    const Dfa dfa = read(
        "/* c */ DiGraph \"x\" {\n# line 1\nnode [shape=doublecircle] // {\nedge [label=a]\n"
        "Subgraph cluster0 { s -> t:n -> s } \n i [shape=point]; i -> s [label=\"\"]; s -> s [label=\"b\" + \"c\"] "
        "}\n");
    CHECK(dfa.alphabet() == Alphabet::from_names(std::vector<std::string>{"a", "bc"}));
    CHECK(accepts(dfa, {0, 0, 1, 0}));
    CHECK_FALSE(accepts(dfa, {0, 1}));
  }
  SUBCASE("several symbols in one label, ε, nondeterminism") {
    const Dfa dfa = read(
        "digraph { i [shape=point]; i -> s; s -> s [label=\"a, b,(1,2)\\nSYN\"]; s -> t [label=a]; t -> u [label=ε];"
        "u [shape=doublecircle] }");
    CHECK(dfa.alphabet() == Alphabet::from_names(std::vector<std::string>{"a", "b", "(1,2)", "SYN"}));
    CHECK(accepts(dfa, {3, 2, 1, 0}));
    CHECK_FALSE(accepts(dfa, {0, 1}));
  }
  SUBCASE("a label that is one character is that character") {
    CHECK(read("digraph { i [shape=point]; i -> s; s -> s [label=\",\"]; s -> s [label=\" \"]; s -> s [label=\"(\"] }")
              .letters() == 3);
  }
  SUBCASE("Moore machines by output attributes and by records") {
    for (const char* states : {"s [output=even]; t [output=odd];",
                               "s [shape=record, label=\"x|even\"]; t [shape=record, label=\"{y|odd}\"];"}) {
      const Dfa dfa =
          read(std::string("digraph { i [shape=point]; i -> s; ") + states + " s -> t [label=1]; t -> s [label=1] }");
      CHECK(dfa.output_names()[dfa.output(dfa.run(Word{0}))] == "odd");
      CHECK(dfa.output_names()[dfa.output(dfa.run(Word{0, 0}))] == "even");
    }
  }
}

TEST_CASE("Mealy machines are told by their labels") {
  const std::string text =
      "digraph { i [shape=point]; i -> s; s -> t [label=\"a/0\\nb / 1, c\"]; s -> s [label=\"c/x y\"]; t -> t "
      "[label=\"a/0,b/0,c/(/)\"] }";
  const std::string fixed =
      "digraph { i [shape=point]; i -> s; s -> t [label=\"a/0\\nb / 1\"]; s -> s [label=\"c/x y\"]; t -> t "
      "[label=\"a/0,b/0,c/(/)\"] }";
  CHECK(std::holds_alternative<Draft>(read_dot(text, "f.dot")));  // "c" has no slash
  const Mealy mealy = std::get<Mealy>(read_dot(fixed, "f.dot"));
  CHECK(mealy.inputs() == Alphabet::of_characters("abc"));
  CHECK(mealy.output_names() == std::vector<std::string>{"0", "1", "x y", "(/)"});
  CHECK(mealy.next(0, 1) == 1);
  CHECK(mealy.output_names()[mealy.output(0, 1)] == "1");
  CHECK(mealy.output_names()[mealy.output(1, 2)] == "(/)");
  const auto again = std::get<Mealy>(read_dot(write_dot(mealy), "f.dot"));
  CHECK(write_dot(again) == write_dot(mealy));
  CHECK(to_moore(again) == to_moore(mealy));

  const Dfa traces =
      to_dfa(std::get<Draft>(read_dot(fixed, "f.dot", LanguageOptions{.mealy_as_labels = true})), "f.dot");
  CHECK(traces.states() == 3);  // the machine's, and a sink
  CHECK(traces.accepts(traces.run(Word{*traces.alphabet().find("c/x y"), *traces.alphabet().find("b/1")})));
  CHECK_FALSE(traces.accepts(traces.run(Word{*traces.alphabet().find("b/0")})));
}

TEST_CASE("HTML-like labels: inputs and an output of StateLearner; on the arc to the start they say nothing") {
  const std::string start = "digraph { __start0 [shape=none, label=\"\"]; __start0 -> s [label=<b<br />x>]; ";
  const Mealy mealy =
      std::get<Mealy>(read_dot(start + "s -> t [label=<a | b &amp; c<br />x / y>]; s -> s [label=<d<br/>z>];"
                                       "t -> t [label=<a | b &amp; c | d<br>&lt;z&gt;>] }",
                               "f.dot"));
  CHECK(mealy.inputs() == Alphabet::from_names(std::vector<std::string>{"a", "b & c", "d"}));
  CHECK(mealy.output_names() == std::vector<std::string>{"x / y", "z", "<z>"});
  CHECK(mealy.next(0, 1) == 1);
  for (const char* label : {"a", "<b>a</b>", "a<br/>", "<br/>x", "a | <br/>x", "a/b<br/>x", "a<br/>x<br/>y", "a<hr/>x"})
    CHECK(test::contains(error_of(start + "s -> s [label=<" + label + ">] }"), "has an HTML-like label"));
  // Not named so, the node is a state that reads something.
  CHECK(error_of("digraph { i [shape=none]; i -> s [label=<a<br/>x>]; s -> s [label=<a<br/>x>] }")
            .find("no start state") != std::string::npos);
}

TEST_CASE("fstdraw of OpenFst: the start is bold, and a label shows both tapes or one") {
  const std::string before =
      "digraph FST { rankdir = LR; 0 [label=\"0\", shape=circle, style=bold];\n"
      "1 [label=\"1\", shape=doublecircle, style=solid]; ";
  const Dfa dfa = read(
      before + "0 -> 1 [label=\"a:a\"]; 1 -> 0 [label=b]; 1 -> 1 [label=\"<eps>:<eps>\"]; 0 -> 0 [label=\":::\"] }");
  CHECK(dfa.alphabet() == Alphabet::of_characters("ab:"));
  CHECK(accepts(dfa, {2, 0}));
  CHECK_FALSE(accepts(dfa, {0, 1}));
  for (const char* label : {"a:b", "a:a/0.5", "a/2", "a:<eps>"})
    CHECK(test::contains(error_of(before + "0 -> 1 [label=\"" + label + "\"] }"), "of a transducer or with a weight"));
  CHECK(error_of("digraph { 0 [label=\"0\", style=bold]; 1 [label=\"1/3\", style=solid, shape=doublecircle]; 0 -> 1 "
                 "[label=a] }")
            .find("the state \"1\" has the label \"1/3\"") != std::string::npos);
  for (const char* styles : {"0 [style=bold]; 1 [style=bold];", "0 [style=bold]; 1 [style=dashed];", "0 [style=bold];"})
    CHECK(test::contains(error_of(std::string("digraph { ") + styles + " 0 -> 1 [label=a] }"), "no start state"));
}

TEST_CASE("what is wrong is said, with the line where Graphviz gives one") {
  struct Fact {
    std::string text, message;
  };
  const std::string start = "digraph {\n i [shape=point]; i -> s; ";
  for (const Fact& fact : {
           Fact{"", "f.dot: the file is empty"},
           {"0 0 a a\n", "f.dot:1:1: not a DOT graph"},
           {"{\"format\": 1}", "f.dot:1: syntax error"},
           {"digraph {\n a -> ;\n}", "f.dot:2: syntax error near ';'"},
           {"digraph {\n a [label=\"x\n", "f.dot:2:11: a string is not closed"},
           {"digraph { /* ", "f.dot:1:11: a comment is not closed"},
           {"digraph { a [label=<<b>x</b>] }", "f.dot:1:20: an HTML-like label is not closed"},
           {"digraph { a", "f.dot:1:12: the graph ends before its closing brace"},
           {"digraph { a } digraph { b }", "f.dot:1:15: something follows the graph"},
           {"digraph { a@b }", "f.dot:1:12: unexpected '@'"},
           {"digraph { a -> \xFF }", "f.dot:1:16: byte 0xFF is not valid UTF-8"},
           {std::string("digraph { a\0b }", 15), "f.dot:1:12: a NUL byte"},
           {"graph { a -- b }", "f.dot: an undirected graph"},
           {"digraph {}", "f.dot: the graph has no states"},
           {"digraph { a -> a [label=x] }", "f.dot: no start state"},
           {"digraph { i [shape=point]; i -> a; i -> b; a -> b [label=x] }", "two start states, \"a\" and \"b\""},
           {"digraph { i [shape=point]; j [shape=none]; i -> a; j -> b; a -> b [label=x] }", "two start states"},
           {start + "s -> t; t -> t [label=a] }", "the arc \"s\" -> \"t\" has no label"},
           {start + "s -> t [label=\"a,,b\"] }", "an empty symbol in its label \"a,,b\""},
           {start + "s -> t [label=\"a,\"] }", "an empty symbol"},
           {start + "s -> t [label=<a>] }", "HTML-like label"},
           {start + "s -> {t u} [label=a] }", "f.dot:2:32: a set of nodes at the end of an arc"},
           {start + "{s t} -> u [label=a] }", "a set of nodes"},
           {start + "subgraph A {s t} subgraph A -> u [label=a] }", "a set of nodes"},
           {start + "s, t -> u [label=a] }", "a set of nodes"},
           {start + "s [output=x]; s -> t [label=a] }", "state \"t\" has no output, but others do"},
           {start + "alphabet=\"[\\\"a\\\"]\"; s -> s [label=b] }",
            "reads \"b\", which is not in the graph's alphabet"},
           {start + "outputs=\"[\\\"a\\\"]\"; s [output=b] }", "the output \"b\" of state \"s\""},
           {start + "s -> t [label=\"a/0\"]; s -> s [label=\"a/1\"] }", "two arcs on input \"a\""},
           {start + "s -> t [label=\"a/0\"]; t -> s [label=\"b/1\"] }", "state \"s\" has no arc on input \"b\""},
           {"digraph " + std::string(100'000, '{') + std::string(100'000, '}'), "nested deeper than"},
       }) {
    CAPTURE(fact.text.substr(0, 300));
    const std::string error = error_of(fact.text);
    CHECK_MESSAGE(test::contains(error, fact.message), error);
    CHECK(error.find('\n') == std::string::npos);
    CHECK(read("digraph { i [shape=point]; i -> s; s -> s [label=a] }").states() ==
          1);  // nothing leaks into the next file
  }
}

TEST_CASE("long chains, names and labels go through Graphviz") {
  std::string chain = "digraph { i [shape=point]; i -> 0; edge [label=a]; 0";
  for (int i = 1; i < 2000; ++i) chain += " -> " + std::to_string(i);
  CHECK(read(chain + " }").states() == 2001);
  for (int i = 0; i < 1'000'000; ++i) chain += "->a";
  CHECK(test::contains(error_of(chain + " }"), "a chain of more than 2000 arcs"));
  std::string arcs = "digraph { i [shape=point]; i -> a; edge [label=x]";
  for (int i = 0; i < 5000; ++i) arcs += " a:p -> \"a\" + \"\" -> a\n";
  CHECK(read(arcs + " }").states() == 1);
  const std::string name(200'000, 'n');
  CHECK(read("digraph { i [shape=point]; i -> " + name + "; " + name + " -> " + name + " [label=\"" + name + "\"] }")
            .alphabet()
            .name(0) == name);
}

TEST_CASE("a token of megabytes takes no longer than its bytes") {
  const auto start = std::chrono::steady_clock::now();
  const std::string name(6'400'000, 'x');
  CHECK(error_of("digraph { " + name + " }").starts_with("f.dot: no start state"));
  CHECK(error_of("digraph { \"" + name + "\" }").size() < 250);
  CHECK(error_of("digraph { a -> \"" + name + "\" -> -> }").size() < 250);
  CHECK(error_of("digraph { a " + name + " = }").size() < 250);
  CHECK(test::contains(error_of("digraph { a [label=<" + name + ">] }"), "an HTML-like label of 6,400,002 bytes"));
  CHECK(error_of("digraph { i [shape=point]; i -> a; a -> a [label=\"" + name + "\", symbol=b]; a [output=x]; b }")
            .find("state \"b\" has no output") != std::string::npos);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  CHECK(taken.count() < 20);  // quadratic, each took a minute and more
}

TEST_CASE("long names and strings are read whole, around every place where they are broken") {
  for (const std::size_t size : {4094u, 4095u, 4096u, 4097u, 8191u, 8192u, 8193u, 20'000u})
    for (const char* unit : {"n", "\\\\", "\\\"", "é"}) {
      CAPTURE(size);
      CAPTURE(unit);
      std::string quoted, letter;
      while (quoted.size() < size) quoted += unit;
      letter = unescape_dot(quoted);
      CHECK(
          read("digraph { i [shape=point]; i -> s; s -> s [label=x, symbol=\"" + quoted + "\"] }").alphabet().name(0) ==
          letter);
    }
  for (const std::size_t size : {4095u, 4096u, 4097u, 8192u, 8193u}) {
    const std::string name(size, 'n');
    const Dfa dfa = read("digraph { i [shape=point]; i -> " + name + "; " + name + " -> \"" + name + "\" [label=a] }");
    CHECK(dfa.states() == 1);
    CHECK(dfa.state_name(0) == name);
  }
  CHECK(test::contains(error_of("digraph { a [x=" + std::string(5000, '1') + ".5] }"),
                       "a number of more than 4096 digits"));
  // Lines are those of the file, before, between and after.
  const std::string text(30'000, 't');
  CHECK(error_of("digraph {\n a -> ;\n \"" + text + "\" }").starts_with("f.dot:2: syntax error near ';'"));
  CHECK(
      error_of("digraph {\n \"" + text + "\"\n -> ; \"" + text + "\" }").starts_with("f.dot:3: syntax error near ';'"));
  CHECK(error_of("digraph {\n \"" + text + "\"; " + text + "\n;\n -> ; }").starts_with("f.dot:4: syntax error near"));
}

TEST_CASE("attributes and shared labels are bounded") {
  std::string many = "digraph { i [shape=point]; i -> s; s [";
  for (int i = 0; i < 990; ++i) many += "a" + std::to_string(i) + "=1,";
  CHECK(read(many + "shape=circle]; s -> s [label=a] }").states() == 1);
  for (int i = 990; i < 1100; ++i) many += "a" + std::to_string(i) + "=1,";
  CHECK(test::contains(error_of(many + "shape=circle]; s -> s [label=a] }"), "different names of attributes"));
  std::string shared = "digraph { node [label=\"" + std::string(10'000'000, 'x') + "\"];";
  for (int i = 0; i < 60; ++i) shared += std::to_string(i) + ";";
  CHECK_THROWS_AS(read(shared + "}"), LimitError);
}

namespace {

/// A file of AALpy's, read line by line: `A [… label="{ A | out }"]`, `A -> B [label="in"]`, `A -> B [label="in/out"]`.
struct AalpyFile {
  std::map<std::string, std::string> output;
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>>
      move;  ///< (state, in) ↦ (state, out)
  std::set<std::string> letters;
  std::string start;

  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
  }

  explicit AalpyFile(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t bracket = line.find('['), arrow = line.find("->"), label = line.find("label=\"");
      std::string value =
          label == std::string::npos ? "" : line.substr(label + 7, line.find('"', label + 7) - label - 7);
      if (arrow != std::string::npos) {
        const std::string source = trimmed(line.substr(0, arrow));
        const std::string target = trimmed(line.substr(arrow + 2, line.find_first_of("[;") - arrow - 2));
        if (source == "__start0") {
          start = target;
          continue;
        }
        const std::size_t slash = value.find('/');
        const std::string in = value.substr(0, slash);
        letters.insert(in);
        move[{source, in}] = {target, slash == std::string::npos ? "" : value.substr(slash + 1)};
      } else if (const std::size_t bar = value.find('|'); bar != std::string::npos) {
        output[trimmed(line.substr(0, bracket))] = trimmed(value.substr(bar + 1, value.find('}') - bar - 1));
      }
    }
  }
};

}  // namespace

TEST_CASE("AALpy's Moore and Mealy machines say what the lines of their files say") {
  for (const char* name : {"coffee_moore.dot", "mooreModel.dot", "tcp_server_bsd_trans.dot"}) {
    CAPTURE(name);
    const std::string text = read_file(std::string(KROHN_TEST_DATA "/aalpy/") + name);
    const AalpyFile file(text);
    REQUIRE(file.letters.size() > 1);
    const auto machine = read_dot(text, name);
    const auto* mealy = std::get_if<Mealy>(&machine);
    const Dfa dfa = mealy != nullptr ? to_moore(*mealy) : to_dfa(std::get<Draft>(machine), name);
    CHECK(dfa.letters() == file.letters.size());
    if (mealy == nullptr) CHECK(dfa.states() == file.output.size());
    Random random(5);
    const std::vector<std::string> letters(file.letters.begin(), file.letters.end());
    for (int round = 0; round < 200; ++round) {
      std::string state = file.start, said = mealy != nullptr ? "-" : file.output.at(state);
      State read = dfa.initial();
      for (int length = 0; length < 20; ++length) {
        REQUIRE(dfa.output_names()[dfa.output(read)] == said);
        const std::string& letter = letters[random.below(letters.size())];
        const auto& [next, written] = file.move.at({state, letter});
        state = next;
        said = mealy != nullptr ? written : file.output.at(state);
        read = dfa.next(read, dfa.alphabet().find(std::string_view(letter)).value());
      }
    }
  }
  const Dfa coffee = read(read_file(KROHN_TEST_DATA "/aalpy/coffee_moore.dot"));
  CHECK(std::set<std::string>(coffee.output_names().begin(), coffee.output_names().end()) ==
        std::set<std::string>{"init", "beep", "coffee"});
  CHECK(coffee.state_name(0) == "A");
}

TEST_CASE("outputs in records are all there or refused, and win over slashes in labels") {
  const std::string start = "digraph { i [shape=point]; i -> s; ", arcs = "s -> t [label=a]; t -> s [label=a] }";
  CHECK(error_of(start + "s [shape=record, label=\"{s|0}\"]; t [shape=doublecircle];" + arcs)
            .find("state \"t\" has no output") != std::string::npos);
  CHECK(error_of(start + "s [shape=record, label=\"{s|0}\"]; t [shape=record, label=\"{ t | }\"];" + arcs)
            .find("state \"t\" has no output") != std::string::npos);
  // Braces and a bar alone are a name: a set of states, say.
  CHECK(read(start + "s [label=\"{1|2}\"]; t [label=\"{2|3}\", shape=doublecircle];" + arcs).is_acceptor());
  const Dfa both = read(start +
                        "s [shape=record, label=\"{s|0}\"]; t [shape=Mrecord, label=\"t|1\"];"
                        "s -> t [label=\"a/x\"]; t -> s [label=\"a/x\"] }");
  CHECK(both.alphabet().name(0) == "a/x");
  CHECK(both.output_names()[both.output(both.run(Word{0}))] == "1");
}

TEST_CASE("probabilities are refused, unless some label has none") {
  const auto with = [](const std::string& first, const std::string& second) {
    return "digraph { i [shape=point]; i -> s; s -> t [label=\"" + first + "\"]; t -> s [label=\"" + second +
           "\"]; t [shape=doublecircle] }";
  };
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{{"x:0.8", "y:0.2"},
                                                                                      {"x:1", "y:0.5"},
                                                                                      {"x/a:0.25", "y/b:1.0"},
                                                                                      {"0.3", "1.0"},
                                                                                      {"x:1e-3,y:0.999", "x:1.0"}}) {
    CAPTURE(first);
    const std::string error = error_of(with(first, second));
    CHECK(error.starts_with("f.dot: every label ends in a probability"));
    CHECK(error.find('"' + first.substr(0, first.find(','))) != std::string::npos);
  }
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"x:0.8", "y"}, {"x:1", "y:0"}, {"0", "1"}, {"x:1.5", "y:0.5"}, {"x:0.8", "y:-0.1"}, {"x:0.8", "y:0.2s"}}) {
    CAPTURE(second);
    CHECK(error_of(with(first, second)) == "no error");
  }
  // krohn reads the files that it writes.
  const Dfa odd =
      Dfa::acceptor(Alphabet::from_names(std::vector<std::string>{"x:0.8", "y:0.2"}), {0, 1, 1, 0}, 0, {false, true});
  CHECK(read(write_dot(odd)) == odd);
}

TEST_CASE("threads take turns") {
  const std::string good = write_dot(samples::machines(3, samples::plain_alphabets(), samples::accepting()).back());
  const Dfa expected = read(good);
  std::vector<int> right(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if ((i + static_cast<int>(t)) % 2 == 0)
          right[t] += read(good) == expected;
        else
          right[t] += error_of("digraph {\n -> }").starts_with("f.dot:2: syntax error");
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : right) CHECK(count == 20);
}
