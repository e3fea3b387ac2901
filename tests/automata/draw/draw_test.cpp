#include <regex>
#include <thread>

#include "krohn/automata/draw/draw.h"
#include "krohn/automata/draw/draw_views.h"
#include "krohn/automata/families/families.h"
#include "krohn/automata/language.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/automata/bestiary.h"
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
  CHECK(test::contains(dot, "\" b, c \""));
  const std::string full = to_drawn_dot(
      dfa, DrawOptions{.colour_components = false, .left_to_right = false, .show_sink = true, .title = "say \"a\\b\""});
  CHECK(count(full, "\n  [0-9]+ \\[label=") == 4);
  CHECK(test::contains(full, "label=\"say \\\"a\\\\b\\\"\""));
  CHECK(test::contains(full, "rankdir=TB"));
  CHECK(!test::contains(full, "#BBCCEE"));
  CHECK(test::contains(dot, "#BBCCEE"));
}

TEST_CASE("an initial sink and automata without letters are still drawn") {
  CHECK(count(to_drawn_dot(parse_regex("[]&a")), "\n  0 \\[label=") == 1);
  CHECK(count(to_drawn_dot(parse_regex("()")), "\n  0 \\[label=") == 1);
}

TEST_CASE("Moore outputs stand in the nodes") {
  const std::string dot = to_drawn_dot(cycle(3, 2, true));
  CHECK(test::contains(dot, "label=\"1\\nsum <1>\""));
  CHECK(!test::contains(dot, "peripheries"));
}

TEST_CASE("dense machines become a table, large ones their components") {
  DrawnView view = DrawnView::kStates;
  const std::string table = to_drawn_dot(cycle(12, 12, true), {}, &view);
  CHECK(view == DrawnView::kTable);
  CHECK(count(table, "<TR>") == 13);
  CHECK(count(table, "<TD") == 13 * 13);
  CHECK(test::contains(table, "sum &lt;11&gt;"));
  CHECK_NOTHROW(render_dot(table, "svg", "dot"));
  for (const State states : {7U, 8U}) {  // every letter a reset, so that no group has them
    std::vector<State> table;
    for (State i = 0; i < states * states; ++i) table.push_back(i % states);
    to_drawn_dot(Dfa::acceptor(cycle(states, states, false).alphabet(), table, 0, std::vector<bool>(states)), {},
                 &view);
    CHECK(view == (states == 8 ? DrawnView::kTable : DrawnView::kStates));
  }

  const DrawOptions components{.view = DrawnView::kComponents};
  const std::string ring = to_drawn_dot(cycle(500, 2, false), components, &view);
  CHECK(view == DrawnView::kComponents);
  to_drawn_dot(cycle(1001, 2, false), {}, &view);  // past what a matrix shows
  CHECK(view == DrawnView::kComponents);
  CHECK(test::contains(ring, "500 states\\nconnected by 0, 1"));

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
  CHECK(test::contains(few, "3 more components\\nwith 6 states\\nare not drawn"));
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
  CHECK(test::contains(dot, "ltail=cluster_layers"));
  CHECK_NOTHROW(render_dot(dot, "svg", "dot"));
  CHECK_NOTHROW(render_dot(to_drawn_dot(Cascade{}), "svg", "dot"));
}

TEST_CASE("every format and engine that people ask for renders") {
  const std::string dot = to_drawn_dot(parse_regex("(a|b)*abb"));
  CHECK(test::contains(render_dot(dot, "svg", "dot"), "<svg"));
  CHECK(render_dot(dot, "svg", "dot") == render_dot(dot, "svg", "dot"));
  CHECK(render_dot(dot, "png", "dot").substr(1, 3) == "PNG");
  CHECK(render_dot(dot, "pdf", "dot").substr(0, 4) == "%PDF");
  CHECK(render_dot(dot, "dot", "dot") == dot);
  for (const char* engine : {"neato", "circo", "fdp", "sfdp"}) {
    CAPTURE(std::string(engine));
    CHECK(test::contains(render_dot(dot, "svg", engine), "</svg>"));
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

// Cayley graphs and transition matrices: where states stand, and that every arrow is there.

namespace {

Dfa group(const std::string& name, const std::string& generators = "") {
  LanguageOptions options;
  if (!generators.empty()) options.generators = generators;
  return load_language("name:" + name, options);
}

Dfa random_automaton(State states, Letter letters, bool permutes, std::mt19937& random) {
  const auto below = [&](State most) { return static_cast<State>(random() % most); };
  std::vector<std::vector<State>> columns;
  for (Letter letter = 0; letter < letters; ++letter) {
    std::vector<State> column(states);
    for (State state = 0; state < states; ++state) column[state] = permutes ? state : below(states);
    if (permutes) std::shuffle(column.begin(), column.end(), random);
    columns.push_back(std::move(column));
  }
  std::vector<State> table;
  for (State state = 0; state < states; ++state)
    for (Letter letter = 0; letter < letters; ++letter) table.push_back(columns[letter][state]);
  std::vector<bool> accepting(states);
  accepting[0] = true;
  return Dfa::acceptor(Alphabet::of_characters(std::string("abcdef").substr(0, letters)), table, 0, accepting);
}

}  // namespace

TEST_CASE("translations are those of groups, and no others") {
  for (const char* name : {"Z5", "S3/adjacent", "D4/standard", "Q8", "A4/standard"}) {
    CAPTURE(name);
    const Dfa dfa = group(name);
    const auto all = translations(dfa);
    REQUIRE(all);
    for (State start = 0; start < dfa.states(); ++start) {
      CHECK((*all)[start][dfa.initial()] == start);
      for (State state = 0; state < dfa.states(); ++state)
        for (Letter letter = 0; letter < dfa.letters(); ++letter)
          CHECK((*all)[start][dfa.next(state, letter)] == dfa.next((*all)[start][state], letter));
    }
  }
  CHECK_FALSE(translations(group("S3/points")));
  CHECK_FALSE(translations(load_language("regex:(a|b)*abb", {})));
}

TEST_CASE("a cyclic group stands on a circle, neighbours beside each other") {
  const Dfa dfa = group("Z12", "(1 2 3 4 5 6 7 8 9 10 11 12)");
  const auto layout = cayley_layout(dfa);
  REQUIRE(layout);
  CHECK_FALSE(layout->is_solid);
  const double side = 2 * std::sin(std::numbers::pi / 12);
  CHECK(layout->least_distance == doctest::Approx(side));
  for (State state = 0; state < 12; ++state) {
    const auto &at = layout->points[state], &next = layout->points[dfa.next(state, 0)];
    CHECK(std::hypot(at.x, at.y) == doctest::Approx(1));
    CHECK(std::hypot(at.x - next.x, at.y - next.y) == doctest::Approx(side));
  }
  CHECK(layout->points[dfa.initial()].y == doctest::Approx(1));  // on top, and its neighbour to the right
  CHECK(layout->points[dfa.next(dfa.initial(), 0)].x > 0);
}

TEST_CASE("adjacent swaps of four points are a solid; of five they stand apart in the plane") {
  const auto four = cayley_layout(group("S4/adjacent"));
  REQUIRE(four);
  CHECK(four->is_solid);
  CHECK(four->least_distance > 0.05);
  const auto five = cayley_layout(group("S5/adjacent"));
  REQUIRE(five);
  CHECK(five->points.size() == 120);
  CHECK(five->least_distance > 0.01);
}

TEST_CASE("points are distinct and in the disc, whatever acts; what does not act has no layout") {
  std::mt19937 random(1);
  int laid_out = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const auto states = static_cast<State>(1 + random() % 14);
    const Dfa dfa = random_automaton(states, static_cast<Letter>(1 + random() % 3), round % 3 != 0, random);
    const auto layout = cayley_layout(dfa);
    if (states < 3 || !is_transitive_permutation_automaton(dfa)) {
      CHECK_FALSE(layout);
      continue;
    }
    REQUIRE(layout);
    ++laid_out;
    for (const GraphLayout::Point& point : layout->points) CHECK(std::hypot(point.x, point.y) < 1 + 1e-9);
  }
  CHECK(laid_out > 50);
}

TEST_CASE("letters that act alike, or undo each other, share a line") {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const auto states = static_cast<State>(1 + random() % 3);
    const Dfa dfa = random_automaton(states, 4, true, random);
    const auto lines = generator_lines(dfa);
    std::map<Letter, int> seen;
    const auto acts_as = [&](Letter a, Letter b) {
      for (State state = 0; state < states; ++state)
        if (dfa.next(state, a) != dfa.next(state, b)) return false;
      return true;
    };
    const auto undoes = [&](Letter a, Letter b) {
      for (State state = 0; state < states; ++state)
        if (dfa.next(dfa.next(state, a), b) != state) return false;
      return true;
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Letter first = lines[i].forward.front();
      for (const Letter letter : lines[i].forward) {
        ++seen[letter];
        CHECK(acts_as(letter, first));
      }
      for (const Letter letter : lines[i].backward) {
        ++seen[letter];
        CHECK(undoes(letter, first));
      }
      CHECK(lines[i].is_involution == undoes(first, first));
      for (std::size_t j = 0; j < i; ++j) {
        CHECK_FALSE(acts_as(first, lines[j].forward.front()));
        CHECK_FALSE(undoes(first, lines[j].forward.front()));
      }
    }
    for (Letter letter = 0; letter < 4; ++letter) CHECK(seen[letter] == 1);
  }
}

TEST_CASE("a group is drawn as its Cayley graph: an involution is one line, other generators are arrows") {
  DrawnView view = DrawnView::kStates;
  const std::string involutions = to_drawn_dot(group("S4/adjacent"), {}, &view);
  CHECK(view == DrawnView::kCayley);
  CHECK(count(involutions, " -> ") == 3 * 24 / 2);
  CHECK(count(involutions, "dir=none") == 3 * 24 / 2);
  const std::string arrows = to_drawn_dot(group("A4/standard"), {}, &view);
  CHECK(view == DrawnView::kCayley);
  CHECK(count(arrows, "arrowsize=0.6") == 2 * 12);
  for (const char* name : {"(3 4)", "(2 3)", "(1 2)"}) CHECK(test::contains(involutions, name));
  CHECK(engine_for(view, "dot") == "nop");
  // Small ones are circles of states; other engines and other views stay as they are asked for.
  for (const char* name : {"Z3", "Z4", "Z5", "Z5/standard"}) {
    CAPTURE(name);
    const Dfa cyclic = group(name);
    const std::string circle = to_drawn_dot(cyclic, {}, &view);
    CHECK(view == DrawnView::kCayley);
    CHECK(count(circle, "shape=circle") == cyclic.states());
    const auto layout = cayley_layout(cyclic);
    REQUIRE(layout);
    for (const GraphLayout::Point& point : layout->points) CHECK(std::hypot(point.x, point.y) == doctest::Approx(1));
    CHECK(layout->least_distance == doctest::Approx(2 * std::sin(std::numbers::pi / cyclic.states())));
  }
  CHECK(count(to_drawn_dot(group("Z2"), {}, &view), "node \\[shape=circle") == 1);
  CHECK(view == DrawnView::kStates);
  DrawOptions options{.engine = "circo"};
  to_drawn_dot(group("D4/standard"), options, &view);
  CHECK(view == DrawnView::kStates);
  options.view = DrawnView::kCayley;
  to_drawn_dot(group("D4/standard"), options, &view);
  CHECK(view == DrawnView::kCayley);
  CHECK_THROWS_AS(to_drawn_dot(load_language("regex:(a|b)*abb", {}), options), InputError);
}

TEST_CASE("a transition matrix has a square for every arrow, none over another, components in blocks") {
  std::mt19937 random(3);
  for (const State states : {61U, 100U, 300U}) {
    const Dfa dfa = random_automaton(states, 2, false, random);
    const DrawOptions options{.show_sink = true};
    DrawnView view = DrawnView::kStates;
    const std::string dot = to_drawn_dot(dfa, options, &view);
    CHECK(view == DrawnView::kMatrix);
    std::set<std::pair<State, State>> arrows;
    for (State state = 0; state < states; ++state)
      for (const State target : dfa.row(state)) arrows.emplace(state, target);
    const std::regex cell(R"( c(\d+)_(\d+) \[class=cell, pos="([^"]*)\")");
    std::set<std::pair<State, State>> drawn;
    std::set<std::string> places;
    for (std::sregex_iterator at(dot.begin(), dot.end(), cell), end; at != end; ++at) {
      drawn.emplace(std::stoul((*at)[1]), std::stoul((*at)[2]));
      places.insert((*at)[3]);
    }
    CHECK(drawn == arrows);
    CHECK(places.size() == arrows.size());
  }
}

TEST_CASE("an SVG has a title, a description and colours for dark pages, and stays one SVG") {
  const DrawOptions options{.title = "a < b & c"};
  DrawnView view = DrawnView::kStates;
  const std::string dot = to_drawn_dot(group("S4/adjacent"), options, &view);
  const std::string svg = render_dot(dot, "svg", engine_for(view, options.engine));
  CHECK(test::contains(svg, "<title>a &lt; b &amp; c</title>"));
  CHECK(test::contains(svg, "<desc>Cayley graph: 24 states, 3 letters; it begins in ().</desc>"));
  CHECK(test::contains(svg, "prefers-color-scheme: dark"));
  CHECK(count(svg, "<svg ") == 1);
  CHECK(count(svg, "</svg>") == 1);
  CHECK(count(svg, "class=\"edge\"") == 36);
}

TEST_CASE("the terminal shows every cell, and a star for every group") {
  const Dfa dfa = named_language("T4");
  const Algebra algebra = analyse(dfa);
  const std::string text = egg_box_text(dfa, algebra);
  std::size_t cells = 0;
  for (const DClass& box : algebra.green.value().d_classes()) cells += box.r_classes * box.l_classes;
  // Dots stand in cells only; stars too.
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '*')) == algebra.idempotents);
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '.') +
                                 std::count(text.begin(), text.end(), '*')) == cells);
  CHECK(text.find("D0: 24 elements, rank 4, 1 row × 1 column, group S_4") == 0);
}

TEST_CASE("large boxes are given by their numbers, and classes past the limit are counted") {
  const Dfa dfa = named_language("T5");
  const Algebra algebra = analyse(dfa);
  const EggBoxOptions options{.max_side = 4, .max_classes = 3};
  const std::string text = egg_box_text(dfa, algebra, options);
  CHECK(test::contains(text, "(too large to draw)"));
  CHECK(test::contains(text, "… and 2 more D-classes"));
  CHECK(test::contains(egg_box_dot(dfa, algebra, options), "… and 2 more D-classes"));
}

TEST_CASE("the picture is DOT that Graphviz lays out, the same bytes each time") {
  const Dfa dfa = automaton({{1, 1, 2}, {0, 2, 2}}, 3);
  const Algebra algebra = analyse(dfa);
  const std::string dot = egg_box_dot(dfa, algebra);
  CHECK(dot == egg_box_dot(dfa, algebra));
  CHECK(test::contains(render_dot(dot, "svg", "dot"), "<svg"));
}

TEST_CASE("the picture says which classes are regular and how large their H-classes are, and typesets groups") {
  const Dfa full = named_language("T3");
  const std::string dot = egg_box_dot(full, analyse(full));
  for (const char* text :
       {"regular, |H| = 6", "regular, |H| = 2", "regular, |H| = 1", "S<SUB>3</SUB>", "Z<SUB>2</SUB>"}) {
    CAPTURE(text);
    CHECK(test::contains(dot, text));
  }
  CHECK(!test::contains(dot, "not regular"));
  // The letter goes one state further, and nothing leads back.
  const Dfa nilpotent = automaton({{1, 2, 2}}, 3);
  CHECK(test::contains(egg_box_dot(nilpotent, analyse(nilpotent)), "not regular, |H| = 1"));
  CHECK(test::contains(render_dot(dot, "svg", "dot"), "baseline-shift=\"sub\""));
}
