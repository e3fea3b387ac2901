#include <regex>
#include <thread>

#include "krohn/automata/draw/draw.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/testing.h"

using namespace krohn;

/// Graphviz and the font libraries under it keep some memory for good; what our code loses still shows.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libgvc\nleak:libcgraph\nleak:libgvplugin\nleak:libfontconfig\nleak:libpango\nleak:libglib\n";
}

namespace {

Dfa cycle(State states, Letter letters, bool as_moore) {
  std::vector<State> table;
  std::vector<Output> outputs;
  std::vector<std::string> names, letter_names;
  for (Letter letter = 0; letter < letters; ++letter) letter_names.push_back(std::to_string(letter));
  for (State state = 0; state < states; ++state) {
    outputs.push_back(as_moore ? state : 0);
    names.push_back("sum <" + std::to_string(state) + ">");
    for (Letter letter = 0; letter < letters; ++letter) table.push_back((state + letter) % states);
  }
  if (!as_moore) names = {"reject", "accept"};
  return Dfa::moore(Alphabet::from_names(letter_names), table, 0, outputs, names);
}

/// A chain of components: state i goes to i + 1 on a, and pairs of states form cycles on b.
Dfa chain_of_pairs(State pairs) {
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < 2 * pairs; ++state) {
    table.push_back(std::min(state / 2 * 2 + 2, 2 * pairs - 1));
    table.push_back(state ^ 1U);
    accepting.push_back(state + 1 == 2 * pairs);
  }
  return Dfa::acceptor(Alphabet::of_characters("ab"), table, 0, accepting);
}

std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), expression), {}));
}

std::string label(std::string_view alphabet, std::string_view word) {
  const Alphabet letters = parse_alphabet(alphabet);
  return letters_label(letters, letters.parse_word(word));
}

}  // namespace

TEST_CASE("labels are short, sorted, and say exactly which letters") {
  struct Fact {
    const char *alphabet, *letters, *label;
  };
  for (const Fact& fact :
       {Fact{"ab", "ba", "a, b"}, Fact{"a-z", "fedcba", "a–f"}, Fact{"a-z0-9", "9876543210abc", "0–9, a–c"},
        Fact{"a-z", "ab", "a, b"}, Fact{"abcd", "abcd", "any"},
        Fact{"a-z", "zxvtrpnljhfdb", "b, d, f, h, j, l, n, p, r, t, v, x, z"},
        Fact{"a-z", "abcdefghijklnopqrstuvwxyz", "a–l, n–z"}, Fact{"a\\x20\\n,", " ,\n", "\\n, ␣, ‘,’"},
        Fact{"0 1 2 10 11 12 x", "12 11 10 2 x", "2, 10–12, x"},
        Fact{"0-9A-Za-z", "123456789ABCDEFGHIJKLNOPQRSTUVWXYZabcdefghijklnopqrstuvwxyz", "not 0, M, m"},
        Fact{"SYN ACK FIN+ACK", "SYN FIN+ACK", "SYN, FIN+ACK"}}) {
    CAPTURE(std::string(fact.label));
    CHECK(label(fact.alphabet, fact.letters) == fact.label);
  }
  const std::string cut = label("bytes", "acegikmoqsuwyACEGIKMOQSUWY");
  CHECK(cut == "A, C, E, G, I, K, M, O, Q, S, U, W, Y, … (+13)");
  const Alphabet unicode = parse_regex("[^a]|a").alphabet();
  CHECK(letters_label(unicode, Word{0, 1}) == "any");
  CHECK(letters_label(unicode, Word{0}) == "not a");
}

TEST_CASE("a small acceptor is drawn state by state") {
  const Dfa dfa = parse_regex("a(b|c)*d");
  DrawnView view = DrawnView::kTable;
  const std::string dot = to_drawn_dot(dfa, {}, &view);
  CHECK(view == DrawnView::kStates);
  CHECK(to_drawn_dot(dfa) == dot);
  CHECK(dfa.states() == 4);
  CHECK(count(dot, "\n  [0-9]+ \\[label=") == 3);  // the sink is left out
  CHECK(count(dot, "peripheries=2") == 1);
  CHECK(count(dot, "start -> 0;") == 1);
  CHECK(count(dot, "[0-9] -> [0-9]") == 3);  // b and c share an arrow
  CHECK(dot.find("\" b, c \"") != std::string::npos);
  const std::string full = to_drawn_dot(
      dfa, DrawOptions{.colour_components = false, .left_to_right = false, .show_sink = true, .title = "say \"a\\b\""});
  CHECK(count(full, "\n  [0-9]+ \\[label=") == 4);
  CHECK(full.find("label=\"say \\\"a\\\\b\\\"\"") != std::string::npos);
  CHECK(full.find("rankdir=TB") != std::string::npos);
  CHECK(full.find("#BBCCEE") == std::string::npos);
  CHECK(dot.find("#BBCCEE") != std::string::npos);
}

TEST_CASE("an initial sink and automata without letters are still drawn") {
  CHECK(count(to_drawn_dot(parse_regex("[]&a")), "\n  0 \\[label=") == 1);
  CHECK(count(to_drawn_dot(parse_regex("()")), "\n  0 \\[label=") == 1);
}

TEST_CASE("Moore outputs stand in the nodes") {
  const std::string dot = to_drawn_dot(cycle(3, 2, true));
  CHECK(dot.find("label=\"1\\nsum <1>\"") != std::string::npos);
  CHECK(dot.find("peripheries") == std::string::npos);
}

TEST_CASE("dense machines become a table, large ones their components") {
  DrawnView view = DrawnView::kStates;
  const std::string table = to_drawn_dot(cycle(12, 12, true), {}, &view);
  CHECK(view == DrawnView::kTable);
  CHECK(count(table, "<TR>") == 13);
  CHECK(count(table, "<TD") == 13 * 13);
  CHECK(table.find("sum &lt;11&gt;") != std::string::npos);
  CHECK_NOTHROW(render_dot(table, "svg", "dot"));

  const DrawOptions components{.view = DrawnView::kComponents};
  const std::string ring = to_drawn_dot(cycle(500, 2, false), components, &view);
  CHECK(view == DrawnView::kComponents);
  to_drawn_dot(cycle(1001, 2, false), {}, &view);  // past what a matrix shows
  CHECK(view == DrawnView::kComponents);
  CHECK(ring.find("500 states\\nconnected by 0, 1") != std::string::npos);

  DrawOptions options{.max_states = 20};
  const std::string some = to_drawn_dot(chain_of_pairs(5), options, &view);
  CHECK(view == DrawnView::kStates);
  options.max_states = 8;
  to_drawn_dot(chain_of_pairs(5), options, &view);
  CHECK(view == DrawnView::kMatrix);
  options.view = DrawnView::kComponents;
  const std::string few = to_drawn_dot(chain_of_pairs(5), options, &view);
  CHECK(view == DrawnView::kComponents);
  CHECK(count(few, "2 states\\\\nconnected by b") == 2);
  CHECK(few.find("3 more components\\nwith 6 states\\nare not drawn") != std::string::npos);
  CHECK(count(few, "-> rest") == 1);
  options.view.reset();
  options.max_states = 40;
  const std::string more = to_drawn_dot(chain_of_pairs(9), options, &view);
  CHECK(view == DrawnView::kStates);
  const std::string all = to_drawn_dot(chain_of_pairs(10), options, &view);
  CHECK(view == DrawnView::kStates);
  for (const std::string& dot : {ring, some, few, more, all}) CHECK_NOTHROW(render_dot(dot, "svg", "dot"));
}

TEST_CASE("a cascade is drawn as a chain of layers") {
  const Cascade cascade = chain_decomposition(parse_regex("(a|b)*abb"));
  const std::string dot = to_drawn_dot(cascade);
  CHECK(count(dot, "\n  layer[0-9]+ \\[label=") == cascade.layers.size());
  CHECK(count(dot, "layer[0-9]+ -> layer[0-9]+") == cascade.layers.size() - 1);
  CHECK(dot.find("ltail=cluster_layers") != std::string::npos);
  CHECK_NOTHROW(render_dot(dot, "svg", "dot"));
  CHECK_NOTHROW(render_dot(to_drawn_dot(Cascade{}), "svg", "dot"));
}

TEST_CASE("every format and engine that people ask for renders") {
  const std::string dot = to_drawn_dot(parse_regex("(a|b)*abb"));
  CHECK(render_dot(dot, "svg", "dot").find("<svg") != std::string::npos);
  CHECK(render_dot(dot, "svg", "dot") == render_dot(dot, "svg", "dot"));
  CHECK(render_dot(dot, "png", "dot").substr(1, 3) == "PNG");
  CHECK(render_dot(dot, "pdf", "dot").substr(0, 4) == "%PDF");
  CHECK(render_dot(dot, "dot", "dot") == dot);
  for (const char* engine : {"neato", "circo", "fdp", "sfdp"}) {
    CAPTURE(std::string(engine));
    CHECK(render_dot(dot, "svg", engine).find("</svg>") != std::string::npos);
  }
}

TEST_CASE("what cannot be rendered is refused with the reason") {
  CHECK_THROWS_WITH_AS(render_dot("digraph {}", "svgg", "dot"), doctest::Contains("svg, "), InputError);
  CHECK_THROWS_WITH_AS(render_dot("digraph {}", "svg", "dott"), doctest::Contains("circo, dot, "), InputError);
  CHECK_THROWS_WITH_AS(render_dot("digraph {}", "x11", "dot"), doctest::Contains("not a format"), InputError);
  CHECK_THROWS_WITH_AS(render_dot("digraph { a -> }", "svg", "dot"), doctest::Contains("syntax error"), InputError);
  CHECK_THROWS_AS(render_dot("", "svg", "dot"), InputError);
}

TEST_CASE("pictures may be asked for from several threads") {
  const std::string dot = to_drawn_dot(parse_regex("(a|b)*abb")), expected = render_dot(dot, "svg", "dot");
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results) threads.emplace_back([&result, &dot] { result = render_dot(dot, "svg", "dot"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) CHECK(result == expected);
}
