#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/groups/base/atomic_file.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/automata/random_automata.h"
#include "tests/automata/reference_minimise.h"
#include "tests/testing.h"

using namespace krohn;

using krohn::test::Scratch;
namespace fs = std::filesystem;

namespace {

const std::string data = KROHN_TEST_DATA;

std::string error_of(const std::string& path, const LanguageOptions& options = {}) {
  return test::error_of<Error>([&] { read_automaton_file(path, options); });
}

bool accepts(const Dfa& dfa, const std::string& word) { return dfa.accepts(dfa.run(dfa.alphabet().parse_word(word))); }

}  // namespace

TEST_CASE("every file of the corpus loads, and three minimisers agree on its size") {
  // Sizes that are known by construction.
  const std::map<std::string, State> known = {
      {"tomita_1.dot", 2}, {"tomita_2.dot", 4},       {"tomita_3.dot", 5},
      {"tomita_4.dot", 4}, {"tomita_5.dot", 4},       {"tomita_6.dot", 3},
      {"tomita_7.dot", 5}, {"04.04.Zp.2.1.0.att", 2}, {"04.04.Zp.3.1.2.att", 3}};
  int loaded = 0;
  for (const char* folder : {"aalpy", "mata", "mlregtest"})
    for (const auto& entry : fs::directory_iterator(fs::path(data) / folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "alph4.txt") continue;
      CAPTURE(name);
      LanguageOptions options{.max_states = 100'000};
      if (entry.path().extension() == ".att") options.symbols = data + "/mlregtest/alph4.txt";
      const Dfa dfa = read_automaton_file(entry.path().string(), options);
      const Dfa minimal = minimise(dfa);
      CHECK(minimal == reference_minimise(dfa));
      if (known.contains(name)) CHECK(minimal.states() == known.at(name));
      ++loaded;
    }
  CHECK(loaded == 28);
}

TEST_CASE("MLRegTest's alphabet is its symbol table's, and a missing arc rejects") {
  const LanguageOptions options{.symbols = data + "/mlregtest/alph4.txt"};
  const Dfa dfa = read_automaton_file(data + "/mlregtest/04.04.SL.4.1.3.att", options);
  CHECK(dfa.alphabet() == Alphabet::of_characters("abcd"));
  CHECK(accepts(dfa, "bbb"));
  CHECK_FALSE(accepts(dfa, "bbbb"));
  CHECK(accepts(dfa, "aaab"));
  CHECK_FALSE(accepts(dfa, "aaaa"));
  const Dfa mod3 = read_automaton_file(data + "/mlregtest/04.04.Zp.3.1.2.att", options);
  CHECK(accepts(mod3, "acacdc"));
  CHECK_FALSE(accepts(mod3, "acacd"));
}

TEST_CASE("the protocols are Mealy machines: their last output, or their traces") {
  const std::string tls = data + "/aalpy/OpenSSL_1.0.2_server_regular.dot";
  const Dfa dfa = read_automaton_file(tls);
  CHECK(dfa.alphabet().size() == 7);
  CHECK(dfa.output_names()[dfa.output(dfa.initial())] == "-");
  const Word hello = dfa.alphabet().parse_word("ClientHelloRSA ClientKeyExchange ChangeCipherSpec Finished");
  CHECK(dfa.output_names()[dfa.output(dfa.run(hello))] == "ChangeCipherSpec & Finished");
  const Dfa traces = read_automaton_file(tls, LanguageOptions{.mealy_as_labels = true});
  CHECK(traces.is_acceptor());
  CHECK(traces.states() == 8);
  const auto fatal = traces.alphabet().find("Finished/Alert Fatal (Unexpected message) & ConnectionClosed");
  REQUIRE(fatal.has_value());
  CHECK_FALSE(traces.accepts(traces.run(Word{*fatal})));  // at first the server says nothing but "ConnectionClosed"

  const Dfa tcp = read_automaton_file(data + "/aalpy/tcp_server_bsd_trans.dot");
  CHECK(tcp.alphabet().size() == 13);
  CHECK(tcp.alphabet().find("ACK+PSH(V,V,1)").has_value());
}

TEST_CASE("bit formulas of the corpus: the subset automaton agrees with the nondeterministic one") {
  for (const auto& entry : fs::directory_iterator(fs::path(data) / "mata")) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    const Draft draft = read_mata(read_file(path), path);
    const Nfa nfa = to_nfa(draft, path);
    const Dfa dfa = to_dfa(draft, path);
    std::mt19937 random(61);
    for (int i = 0; i < 100; ++i) {
      Word word(random() % 12);
      for (Letter& letter : word) letter = static_cast<Letter>(random() % dfa.letters());
      CHECK(dfa.accepts(dfa.run(word)) == nfa.accepts_word(word));
    }
  }
}

TEST_CASE("a nondeterministic file whose deterministic automaton would need 2^1000 states meets the limit") {
  // Anything, an a, then 1,000 letters, and all that again at will: as mata's benchmark b-hand-made-easy-aut1.
  std::string text = "@NFA-bits\n%Initial q0\n%Final q1003 | q2004\n";
  const auto arc = [&](int source, const char* label, int target) {
    text += fmt::format("q{} {} q{}\n", source, label, target);
  };
  for (const auto& [source, waiting, chain] :
       {std::tuple{0, 1, 3}, {1, 1, 3}, {1003, 2, 1004}, {2004, 2, 1004}, {2, 2, 1004}}) {
    arc(source, "(a1 & !a0)", chain);
    arc(source, "\\true", waiting);
  }
  for (int state = 3; state < 2004; ++state)
    if (state != 1003) arc(state, "\\true", state + 1);
  const Nfa nfa = to_nfa(read_mata(text, "text"), "text");
  CHECK(nfa.states() == 2005);
  CHECK(nfa.size() == 2005 * 2 + 5);  // 2,005 transitions on both classes, 5 on one
  CHECK_THROWS_AS(read_automaton(text, "text", FileFormat::kMata, LanguageOptions{.max_states = 100'000}), LimitError);
}

TEST_CASE("files come back exactly through every format that is written") {
  const Scratch scratch("format_file");
  for (const Dfa& dfa :
       samples::machines(62, {Alphabet::of_characters("01"), Alphabet::of_characters("abc")}, samples::accepting()))
    for (const char* name : {"x.dot", "x.gv", "x.att", "x.jff", "x.json", "x.JSON"}) {
      CAPTURE(name);
      write_automaton_file(dfa, scratch / name);
      CHECK(read_automaton_file(scratch / name) == dfa);
      fs::copy_file(scratch / name, scratch / "content", fs::copy_options::overwrite_existing);
      if (std::string(name) != "x.att") CHECK(read_automaton_file(scratch / "content") == dfa);
    }
  CHECK(fs::exists(scratch / "x.syms"));
}

TEST_CASE("what cannot be read or written is said in one message") {
  const Scratch scratch("format_file");
  write_file(scratch / "parity.dot", "digraph {}");
  write_file(scratch / "strange", "hello");
  write_file(scratch / "empty", "");
  write_file(scratch / "net.safetensors", "x");
  CHECK(test::contains(error_of(scratch / "parity"), "did you mean " + (scratch / "parity.dot").string() + "?"));
  CHECK(test::contains(error_of(scratch / "parity.dto"),
                       "no such file; did you mean " + (scratch / "parity.dot").string() + "?"));
  CHECK(error_of("/nonexistent/x.dot")
            .find("no such file\nA language is a file, or begins with regex:, search:, name:") != std::string::npos);
  CHECK(test::contains(error_of(scratch / "strange"), "neither the name nor the content tells the format"));
  CHECK(test::contains(error_of(scratch / "empty"), "neither the name nor the content"));
  CHECK(test::contains(error_of(scratch / "net.safetensors"), "a network, not an automaton"));
  CHECK(test::contains(error_of(data), "cannot read: Is a directory"));
  LanguageOptions options{.format = "pdf"};
  CHECK(test::contains(error_of(scratch / "parity.dot", options), "the format \"pdf\" is not known"));
  options.format = "att";
  options.symbols = "/nonexistent/table";
  CHECK(error_of(scratch / "parity.dot", options) == "/nonexistent/table: cannot read: No such file or directory");
  CHECK_THROWS_AS(read_automaton_file(data + "/mata/b-armc-incl-hard-aut1.mata", LanguageOptions{.max_states = 3}),
                  LimitError);
  const Dfa dfa = samples::machines(1, samples::plain_alphabets(), samples::accepting()).front();
  CHECK_THROWS_AS(write_automaton_file(dfa, scratch / "x.unknown"), InputError);
}

TEST_CASE("a sparse file whose table would be huge is refused, not attempted") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i) + " " + std::to_string(i + 1) + " s" + std::to_string(i) + "\n";
  CHECK_THROWS_AS(read_automaton(text, "f.att", FileFormat::kAtt), LimitError);
}

// GAP text is evaluated as statements: what generates what, and that all else is refused where it stands.

using krohn::test::error_of;

namespace {

Dfa read(const std::string& text, const LanguageOptions& options = {}) {
  return read_automaton(text, "s.g", FileFormat::kGap, options);
}

using Points = std::vector<State>;

/// The action of each letter on the points, from 1.
std::vector<Points> maps(const Dfa& dfa) {
  std::vector<Points> all(dfa.letters());
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    for (State state = 0; state < dfa.states(); ++state) all[letter].push_back(dfa.next(state, letter) + 1);
  return all;
}

/// The number of products of the letters, by closure.
std::size_t elements(const Dfa& dfa) {
  const std::vector<Points> letters = maps(dfa);
  std::set<Points> known(letters.begin(), letters.end());
  std::vector<Points> open(letters.begin(), letters.end());
  while (!open.empty()) {
    const Points map = open.back();
    open.pop_back();
    for (const Points& letter : letters) {
      Points product;
      for (const State point : map) product.push_back(letter[point - 1]);
      if (known.insert(product).second) open.push_back(product);
    }
  }
  return known.size();
}

std::vector<std::string> names(const Dfa& dfa) {
  std::vector<std::string> all;
  for (const Symbol& symbol : dfa.alphabet().symbols()) all.push_back(symbol.name);
  return all;
}

}  // namespace

TEST_CASE("GAP: transformation lists are read as they stand, no state dropped") {
  const Dfa dfa = read_automaton(
      "# SgpDec\ns := Semigroup([Transformation([2,3,1]),Transformation( [ 1 , 1 ] ), Transformation([1..3])]);\n",
      "s.g", FileFormat::kGap);
  CHECK(dfa.states() == 3);
  CHECK(dfa.letters() == 3);
  CHECK(std::vector<State>(dfa.table().begin(), dfa.table().end()) == std::vector<State>{1, 0, 0, 2, 0, 1, 0, 2, 2});
  CHECK(dfa.output_names().size() == 3);
  for (const char* text : {"Transformation([0])", "Transformation([2", "Transformation 1", "Group()",
                           "Transformation([x])", "letters := [\"a\"]; Transformation([1]); Transformation([1])",
                           "Transformation([1]); initial := 2", "Transformation([1]); accepting := [2]",
                           "Transformation([1]); outputs := [\"x\", \"y\"]", "Transformation([99999999])"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_automaton(text, "s.g", FileFormat::kGap), InputError);
  }
  CHECK(test::contains(write_gap(parse_regex("a*")), "Group("));
  CHECK(test::contains(write_gap(parse_regex("ab")), "Semigroup("));
}

TEST_CASE("ranges of GAP are whole lists, with steps up and down") {
  const auto map_of = [](const char* list) {
    return read_automaton(std::string("Transformation(") + list + ");", "g", FileFormat::kGap).letter_map(0);
  };
  const auto images = [&](const char* list) {
    const auto map = map_of(list);
    std::vector<State> all;
    for (State point = 0; point < map.degree(); ++point) all.push_back(map[point] + 1);
    return all;
  };
  using Points = std::vector<State>;
  CHECK(images("[1..3]") == Points{1, 2, 3});
  CHECK(images("[3,2..1]") == Points{3, 2, 1});
  CHECK(images("[1,3..5]") == Points{1, 3, 5, 4, 5});
  CHECK(images("[2,1]") == Points{2, 1});
  for (const char* list : {"[1,2,4..6]", "[1,3..4]", "[1,1..1]", "[3,2..1,1]", "[1..3,1]"}) {
    CAPTURE(list);
    CHECK_THROWS_AS(map_of(list), InputError);
  }
  CHECK_THROWS_AS(write_automaton(Dfa::acceptor(Alphabet(), {}, 0, {true}), FileFormat::kGap), InputError);
}

TEST_CASE("GAP: what generates what, against sizes found by closure elsewhere") {
  struct Fact {
    const char* text;
    std::size_t elements;
  };
  for (const Fact& fact : {
           Fact{"S := Monoid( [ Transformation( [ 2, 3, 3, 4 ] ), (1,2,3,4), IdentityTransformation ] );", 128},
           {"a := Transformation( [ 2, 3, 1, 4 ] );\nb := a * Transformation( [ 1, 1, 3, 4 ] );\n"
            "c := Transformation( [ 2, 3, 4, 1 ] ) ^ 2;\nS := Semigroup( a, b, c );",
            244},
           {"S := Semigroup([ AsTransformation((1,2,3,4)), Transformation([1,1,3,4]), TransformationNC([2,1,3,4]) ]);",
            256},
           {"G := Group( [ (1,2,3,4,5), (1,2) ] );", 120},
           {"LoadPackage(\"semigroups\");\nS := Semigroup( [ Transformation( [ 3, 1, 2, 2, 5, 6 ] ),\n"
            "  Transformation( [ 1, 1, 4, 4, 6, 5 ] ),  # and one that fixes the last\n"
            "  Transformation( [ 2, 1, 3, 3 ] ) ] );\nNrIdempotents(S); Number(HClasses(S), IsGroupHClass);",
            62},
           {"Semigroup(Transformation([1,1,4,3]))", 2},
           {"Semigroup(Transformation([2,3], [3,1]));", 2},  // 2 to 3, 3 to 1, 1 stays
           {"gens := [ (1,2,3), (1,2) ]; G := Group(List(gens, AsTransformation));", 6},
           {"l := [Transformation([2,1]), Transformation([1,1])];; S := Semigroup(l[1], l[2]); Size(S);", 4},
           {"p := (1,2,3)(4,5); S := Semigroup(p^-1, p^2*p, PermList([2,1]));", 12},
           {"f := Transformation([2,2,3]); g := (1,2,3); S := Semigroup(f^g);", 1},
           {"S := Semigroup(Transformation([2,1,3])); S := Semigroup(Transformation([2,3,1]));", 3},  // the last S
           {"a := (1,2); S := Semigroup(a); T := S; Display(T);", 2},
           {"G := Group(());", 1},
       }) {
    CAPTURE(fact.text);
    const Dfa dfa = read(fact.text);
    CHECK(elements(dfa) == fact.elements);
    CHECK_FALSE(dfa.has_start());
  }
}

TEST_CASE("GAP: letters are called as the variables that generate, in their order") {
  CHECK(names(read("x := (1,2); y := (1,2,3); G := Group(y, x);")) == std::vector<std::string>{"y", "x"});
  CHECK(maps(read("x := (1,2); y := (1,2,3); G := Group(y, x);"))[0] == Points{2, 3, 1});
  CHECK(names(read("x := (1,2); l := [x, (1,2,3)]; G := Group(l);")) == std::vector<std::string>{"a", "b"});
  CHECK(names(read("x := (1,2); letters := [\"X\", \"Y\"]; G := Group(x, (1,2,3));")) ==
        std::vector<std::string>{"X", "Y"});
  CHECK(names(read("up := Transformation([2,2]); down := Transformation([1,1]);")) ==
        std::vector<std::string>{"up", "down"});
  CHECK(maps(read("S := Semigroup(Transformation([2,1]) * (2,3));"))[0] == Points{3, 1, 2});  // first the left
}

TEST_CASE("GAP: two semigroups ask which") {
  const std::string text =
      "S := Semigroup( Transformation( [ 2, 1, 3 ] ) );\nT := Semigroup( Transformation( [ 2, 3, 1 ] ) );\n";
  CHECK(error_of([&] { read(text); }) ==
        "s.g: 2 semigroups: S (s.g:1:6), T (s.g:2:6). Say which with --semigroup NAME");
  LanguageOptions options{.semigroup = "S"};
  CHECK(elements(read(text, options)) == 2);
  options.semigroup = "T";
  CHECK(elements(read(text, options)) == 3);
  options.semigroup = "U";
  CHECK(test::contains(error_of([&] { read(text, options); }), "no semigroup is called \"U\"; there are: S"));
}

TEST_CASE("GAP: everything else is refused where it stands") {
  struct Fact {
    const char *text, *message;
  };
  for (const Fact& fact : {
           Fact{"S := FullTransformationMonoid( 4 );", "s.g:1:6: FullTransformationMonoid(…) is not read"},
           {"S := InverseSemigroup( PartialPerm( [ 1, 2 ], [ 2, 3 ] ) );", "s.g:1:6: InverseSemigroup(…) is not read"},
           {"S := Semigroup( PartialPerm( [ 1, 2 ], [ 2, 3 ] ) );", "s.g:1:17: partial permutations are not read"},
           {"gens := [(1,2)];\nAdd(gens, (1,2,3));\nG := Group(gens);", "s.g:2:1: this may change the list \"gens\""},
           {"gens := [(1,2)]; gens[1] := (1,2,3); G := Group(gens);", "only a whole variable is assigned"},
           {"for i in [1..3] do Print(i); od; G := Group((1,2));", "s.g:1:1: \"for\" is not read"},
           {"f := function(x) return x; end;", "s.g:1:6: \"function\" is not read"},
           {"Read(\"other.g\"); G := Group((1,2));", "s.g:1:1: \"Read\" may change"},
           {"Perform([1], function(x) S := x; end); G := Group((1,2));", "\"function\" may change"},
           {"G := Group((1,2), x);", "s.g:1:19: \"x\" is not known here"},
           {"n := Size(S); G := Group((1,2));", "s.g:1:6: Size(…) is not read"},
           {"G := Group((1,2)(2,3));", "the cycles of a permutation are disjoint"},
           {"G := Group((1,2,1));", "no point is in one twice"},
           {"G := Group((1,2));\nH := G*2;", "s.g:2:7: a transformation or a permutation is expected here"},
           {"G := Group(Transformation([1,1])^-1);", "only a permutation has an inverse"},
           {"G := Group(AsPermutation(Transformation([1,1])));", "this is no permutation"},
           {"a := (1,2); b := a*(2,3);", "no Semigroup, Monoid or Group says which"},
           {"G := Group((1,2)) H := 1;", "s.g:1:19: a ; is expected here"},
           {"G := Group((1,2)", "a , is expected here"},
           {"x := 5;", "no Semigroup, Monoid or Group in it"},
           {"S := Semigroup(S);", "s.g:1:16: \"S\" is not known here"},
           {"gap> G := Group((1,2));", "s.g:1:1: \"gap\" is not known here"},
           {"S := Semigroup(Transformation([1], [2], [3]));", "Transformation of 3 things"},
           {"S := Semigroup(((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "brackets nested deeper"},
       }) {
    CAPTURE(fact.text);
    const std::string error = error_of([&] { read(fact.text); });
    CHECK_MESSAGE(test::contains(error, fact.message), error);
  }
}

TEST_CASE("GAP: a semigroup has no start, keeps all of its states, and comes back so") {
  const Dfa hidden = read("S := Semigroup( Transformation( [ 1, 1, 4, 3 ] ) );");
  CHECK(hidden.states() == 4);
  CHECK(canonical(hidden) == hidden);
  CHECK(minimise(hidden) == hidden);
  CHECK(read(write_gap(hidden)) == hidden);
  const Dfa begun = read("S := Semigroup( Transformation( [ 1, 1, 4, 3 ] ) ); initial := 3;");
  CHECK(begun.has_start());
  CHECK(canonical(begun).states() == 2);
  CHECK(read(write_gap(begun)) == begun);
  CHECK(read("S := Semigroup( Transformation( [ 1, 1, 4, 3 ] ) ); accepting := [1];").has_start());
}
