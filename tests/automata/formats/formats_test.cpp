#include "krohn/automata/formats/formats.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/groups/base/atomic_file.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

// Names of the empty word, in every format in which arcs bear names: read as that, or asked about; and letters that are
// called so, through every writer.

using krohn::test::error_of;
using krohn::test::Scratch;

namespace {

/// An automaton of the words "a NAME a" in one format, where NAME is a label.
struct Reader {
  const char* what;
  FileFormat format;
  std::string before, after;
};

const std::vector<Reader>& readers() {
  static const std::string dot = "digraph { __start0 [shape=none]; __start0 -> p; r [shape=doublecircle]; ";
  static const std::string jff =
      "<structure><type>fa</type><automaton>"
      "<state id=\"0\"><initial/></state><state id=\"1\"/><state id=\"2\"/>"
      "<state id=\"3\"><final/></state>"
      "<transition><from>0</from><to>1</to><read>a</read></transition>"
      "<transition><from>2</from><to>3</to><read>a</read></transition>"
      "<transition><from>1</from><to>2</to><read>";
  static const std::vector<Reader> all{
      {"AT&T, blanks", FileFormat::kAtt, "0 1 a\n2 3 a\n3\n1 2 ", "\n"},
      {"AT&T, tabs", FileFormat::kAtt, "0\t1\ta\n2\t3\ta\n3\n1\t2\t", "\n"},
      {"AT&T, CRLF", FileFormat::kAtt, "0\t1\ta\r\n2\t3\ta\r\n3\r\n1\t2\t", "\r\n"},
      {"DOT", FileFormat::kDot, dot + "p -> q [label=a]; s -> r [label=a]; q -> s [label=\"", "\"]; }"},
      {"DOT of OpenFst", FileFormat::kDot,
       "digraph FST { node [style=solid]; p [style=bold]; r [shape=doublecircle]; p -> q [label=\"a:a\"];"
       "s -> r [label=\"a:a\"]; q -> s [label=\"",
       "\"]; }"},
      {"JFLAP", FileFormat::kJff, jff, "</read></transition></automaton></structure>"},
      {"mata", FileFormat::kMata, "@NFA-explicit\n%Alphabet-auto\n%Initial p\n%Final r\np a q\ns a r\nq ", " s\n"},
      {"mata, quoted", FileFormat::kMata, "@NFA-explicit\n%Initial p\n%Final r\np a q\ns a r\nq \"", "\" s\n"},
  };
  return all;
}

std::string in_format(const Reader& reader, std::string name) {
  if (reader.format == FileFormat::kJff)
    for (const auto& [character, entity] : {std::pair('&', "&amp;"), std::pair('<', "&lt;"), std::pair('>', "&gt;")})
      for (std::size_t at = 0; (at = name.find(character, at)) != std::string::npos; ++at) name.replace(at, 1, entity);
  if ((reader.format == FileFormat::kDot || reader.before.ends_with('"')) && name.starts_with('\\')) name = "\\" + name;
  return reader.before + name + reader.after;
}

Dfa read(const Reader& reader, const std::string& name, const LanguageOptions& options = {}) {
  return read_automaton(in_format(reader, name), "file", reader.format, options);
}

const std::vector<std::string> kEmptyWords = {"<eps>", "<EPS>",      "<epsilon>", "@0@", "@_EPSILON_SYMBOL_@",
                                              "ε",     "4294967295", "λ",         "ϵ",   "<EPSILON>"};
const std::vector<std::string> kAsked = {"eps",    "epsilon",  "EPS",       "Epsilon",
                                         "lambda", "<lambda>", "&epsilon;", "\\epsilon"};
const std::vector<std::string> kRefused = {"@_IDENTITY_SYMBOL_@",
                                           "@_UNKNOWN_SYMBOL_@",
                                           "@_DEFAULT_SYMBOL_@",
                                           "4294967294",
                                           "@P.CASE.NOM@",
                                           "@D.X@",
                                           "@U.F.v@"};

}  // namespace

TEST_CASE("every reader knows the same names of the empty word") {
  for (const Reader& reader : readers())
    for (const std::string& name : kEmptyWords) {
      CAPTURE(reader.what);
      CAPTURE(name);
      const Dfa dfa = read(reader, name);
      CHECK(dfa.alphabet() == Alphabet::of_characters("a"));
      CHECK(accepts(dfa, {0, 0}));
      CHECK_FALSE(accepts(dfa, {0}));
    }
}

TEST_CASE(
    "a name that may be the empty word is asked about, one of any letter is refused, each with a word on what to do") {
  for (const Reader& reader : readers()) {
    CAPTURE(reader.what);
    for (const std::string& name : kAsked) {
      CAPTURE(name);
      if (reader.format == FileFormat::kMata && name.find('&') != std::string::npos) continue;  // an operator
      CHECK(test::contains(error_of([&] { read(reader, name); }), "say --epsilon"));
    }
    for (const std::string& name : kRefused) {
      CAPTURE(name);
      const std::string error = error_of([&] { read(reader, name); });
      CHECK(test::contains(error, "--no-epsilon"));
      CHECK((test::contains(error, "any letter") || test::contains(error, "flag diacritic")));
    }
    for (const char* letter : {"e", "ep", "<a>", "@a@", "42949672", "α", "@.@", "4294967293"}) {
      CAPTURE(letter);
      if (reader.format == FileFormat::kJff && !single_code_point(letter)) continue;  // a path of characters
      CHECK(read(reader, letter).letters() == 2);
    }
  }
}

TEST_CASE("the options decide: one name, or none") {
  LanguageOptions one, none;
  none.no_epsilon = true;
  for (const Reader& reader : readers()) {
    CAPTURE(reader.what);
    for (const std::vector<std::string>* names : {&kEmptyWords, &kAsked, &kRefused})
      for (const std::string& name : *names) {
        CAPTURE(name);
        if (reader.format == FileFormat::kMata && name.find('&') != std::string::npos) continue;
        one.epsilon = name;
        CHECK(accepts(read(reader, name, one), {0, 0}));
        if (reader.format == FileFormat::kJff && !single_code_point(name)) continue;
        const Dfa dfa = read(reader, name, none);
        REQUIRE(dfa.letters() == 2);
        CHECK(dfa.alphabet().find(name).has_value());
        CHECK_FALSE(accepts(dfa, {0, 0}));
      }
    one.epsilon = "nothing";
    CHECK(accepts(read(reader, "nothing", one), {0, 0}));
    CHECK(read(reader, "λ", one).letters() == 2);  // that name alone
    CHECK(test::contains(error_of([&] { read(reader, "@_IDENTITY_SYMBOL_@", one); }), "any letter"));
    LanguageOptions both = one;
    both.no_epsilon = true;
    CHECK(test::contains(error_of([&] { read(reader, "a", both); }), "not with --no-epsilon"));
  }
}

TEST_CASE("a Greek letter beside others is asked about") {
  const auto error = [](FileFormat format, const std::string& text) {
    return error_of([&] { read_automaton(text, "file", format); });
  };
  const char* const says = "\"λ\" may be the empty word or a letter, as \"α\" is one";
  CHECK(test::contains(error(FileFormat::kAtt, "0 1 α\n1 2 λ\n2\n"), says));
  CHECK(test::contains(error(FileFormat::kMata, "@NFA-explicit\n%Initial p\n%Final p\np α p\np λ p\n"), says));
  CHECK(test::contains(error(FileFormat::kDot, "digraph { __start0 -> p; p -> p [label=\"α, λ\"]; }"), says));
  CHECK(error(FileFormat::kJff,
              "<structure><type>fa</type><state id=\"0\"><initial/></state><transition><from>0</from><to>0</to>"
              "<read>αλ</read></transition></structure>")
            .find(says) != std::string::npos);
}

TEST_CASE("AT&T text: numbers, tables, rows at tabs") {
  const auto read_att_file = [](const std::string& text, const LanguageOptions& options = {}) {
    return read_automaton(text, "f.att", FileFormat::kAtt, options);
  };
  // OpenFst's numbers, or the digits of foma: the file does not tell.
  const std::string numbers = "0 1 1\n1 0 0\n0\n";
  CHECK(test::contains(error_of([&] { read_att_file(numbers); }), "f.att:2:5: 0 is the empty word where"));
  LanguageOptions zero, none;
  zero.epsilon = "0";
  none.no_epsilon = true;
  CHECK(accepts(read_att_file(numbers, zero), {0, 0, 0}));
  CHECK(read_att_file(numbers, none).letters() == 2);
  CHECK(read_att_file("0 1 1\n1 0 0\n1 0 @0@\n0\n").letters() == 2);  // names, as ε is one
  // Between tabs a label may be empty, or a blank.
  CHECK(accepts(read_att_file("0\t1\ta\ta\n0\n1\t0\t\t\n"), {0, 0}));
  CHECK(accepts(read_att_file("0\t1\ta\ta\n1\t2\t\t\n2\t0\tb\tb\n2\n"), {0}));
  const Dfa blank = read_att_file("0\t1\t \t \n1\n");
  CHECK(blank.alphabet() == Alphabet::of_characters(" "));
  CHECK(test::contains(error_of([&] { read_att_file("0\t1\ta\t\n1\n"); }), "a transducer: input \"a\", output \"\""));
  CHECK(accepts(read_att_file("0\t1\ta\n1\t\n"), {0}));  // a final state whose weight is not given

  const Scratch scratch("epsilon");
  const auto in_files = [&](const std::string& text, const std::string& table, const char* extension = "syms") {
    for (const char* other : {"x.syms", "x.isyms", "x.osyms"}) std::filesystem::remove(scratch / other);
    write_file(scratch / "x.att", text);
    write_file((scratch / "x.").string() + extension, table);
    return read_automaton_file(scratch / "x.att");
  };
  for (const char* extension : {"syms", "isyms", "osyms"})
    CHECK(in_files("0 0 b\n0\n", "-\t0\na\t1\nb\t2\n", extension).alphabet() == Alphabet::of_characters("ab"));
  CHECK(accepts(in_files("0 1 -\n1\n", "- 0\na 1\n"), {}));
  CHECK(in_files("0\t1\t \n1\n", "@0@\t0\n \t1\n").alphabet() == Alphabet::of_characters(" "));
  // HFST names any letter in every table; what no arc uses is no letter.
  const std::string hfst = "@_EPSILON_SYMBOL_@\t0\n@_UNKNOWN_SYMBOL_@\t1\n@_IDENTITY_SYMBOL_@\t2\na\t3\n";
  CHECK(in_files("0\t0\ta\n0\n", hfst).alphabet() == Alphabet::of_characters("a"));
  CHECK(test::contains(error_of([&] { in_files("0\t0\t@_IDENTITY_SYMBOL_@\n0\n", hfst); }), "any letter"));
  CHECK(test::contains(error_of([&] { in_files("0 0 a\n0\n", "<eps> 0\na 1\n@0@ 2\n"); }), "whose number is 0"));
}

TEST_CASE("a Mealy machine reads a letter at every step") {
  const std::string text = "digraph { __start0 -> p; p -> p [label=\"ε/x\"]; }";
  LanguageOptions labels, none;
  labels.mealy_as_labels = true;
  none.no_epsilon = true;
  CHECK(test::contains(error_of([&] { read_automaton(text, "f.dot", FileFormat::kDot); }), "the input \"ε\""));
  CHECK(test::contains(error_of([&] { read_automaton(text, "f.dot", FileFormat::kDot, labels); }), "the input \"ε\""));
  CHECK(read_automaton(text, "f.dot", FileFormat::kDot, none).letters() == 1);
}

TEST_CASE("letters with such names come back as letters from every format, or are refused when written") {
  std::vector<std::string> names;
  for (const std::vector<std::string>* more : {&kEmptyWords, &kAsked, &kRefused})
    names.insert(names.end(), more->begin(), more->end());
  int refused = 0, back = 0;
  for (const std::string& name : names)
    for (const std::vector<std::string>& letters : {std::vector{name}, std::vector{std::string("a"), name}, names})
      for (const Dfa& dfa : samples::machines(15, {Alphabet::from_names(letters)}, samples::accepting()))
        for (const char* format : {"dot", "att", "jff", "json", "mata", "gap", "moore-dot"}) {
          CAPTURE(name);
          CAPTURE(format);
          std::string text;
          try {
            text = write_automaton(dfa, *format_of_extension(format));
          } catch (const InputError&) {
            ++refused;
            continue;
          }
          ++back;
          CHECK(read_automaton(text, "text", *format_of_extension(format)) == dfa);
        }
  CHECK(refused > 0);
  CHECK(back > 2 * refused);
}

// Formats that hold less than everything: what is written is read back, by this project's readers where it has one, by
// a few lines of the test otherwise.

namespace {

Dfa round_trip(const Dfa& dfa, FileFormat write, FileFormat read) {
  return read_automaton(write_automaton(dfa, write), "text", read);
}

std::vector<Dfa> sample_automata() {
  std::vector<Dfa> all{parse_regex("(a|b)*abb"), parse_regex("[]"), parse_regex("a*"),
                       parse_regex("\"SYN\"(\"ACK\"|\"(1 2)\")*")};
  Dice dice(41);
  for (int i = 0; i < 100; ++i) all.push_back(random_acceptor(dice, 1 + dice.below(6), 1 + dice.below(3)));
  return all;
}

/// Accepts the endless word `word` followed by empty steps: a Büchi automaton read from its text, on one-hot steps.
bool hoa_accepts(const std::string& text, const std::vector<Letter>& word, Letter letters) {
  std::istringstream lines(text);
  std::string line;
  std::map<std::pair<std::size_t, std::string>, std::size_t> arcs;
  std::size_t start = 0, state = 0, accepting = SIZE_MAX;
  while (std::getline(lines, line)) {
    if (line.starts_with("Start: ")) start = std::stoul(line.substr(7));
    if (line.starts_with("State: ")) {
      state = std::stoul(line.substr(7));
      if (line.ends_with("{0}")) accepting = state;
    }
    if (line.starts_with('['))
      arcs[{state, line.substr(1, line.find(']') - 1)}] = std::stoul(line.substr(line.find(']') + 2));
  }
  const auto label = [&](Letter letter) {
    std::string text_of;
    for (Letter other = 0; other < letters; ++other)
      text_of += (other > 0 ? "&" : "") + std::string(other == letter ? "" : "!") + std::to_string(other);
    return letters == 0 ? std::string("t") : text_of;
  };
  std::size_t here = start;
  std::vector<Letter> steps(word);
  steps.insert(steps.end(), 3, letters);
  for (const Letter letter : steps) {
    const auto arc = arcs.find({here, label(letter)});
    if (arc == arcs.end()) return false;
    here = arc->second;
  }
  return here == accepting;
}

/// Reads what the library OpenFst would.
class FstBytes {
 public:
  explicit FstBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class Number>
  Number number() {
    Number value{};
    REQUIRE(at_ + sizeof value <= bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string string() {
    const auto size = static_cast<std::size_t>(number<std::int32_t>());
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

void check_openfst(const Dfa& dfa) {
  FstBytes bytes(write_openfst(dfa));
  CHECK(bytes.number<std::int32_t>() == 2125659606);
  CHECK(bytes.string() == "vector");
  CHECK(bytes.string() == "standard");
  CHECK(bytes.number<std::int32_t>() == 2);
  CHECK(bytes.number<std::int32_t>() == 3);
  bytes.number<std::uint64_t>();
  const auto start = bytes.number<std::int64_t>(), states = bytes.number<std::int64_t>(),
             arcs = bytes.number<std::int64_t>();
  for (int side = 0; side < 2; ++side) {
    CHECK(bytes.number<std::int32_t>() == 2125658996);
    bytes.string();
    CHECK(bytes.number<std::int64_t>() == dfa.letters() + 1);
    REQUIRE(bytes.number<std::int64_t>() == dfa.letters() + 1);
    for (Letter symbol = 0; symbol <= dfa.letters(); ++symbol) {
      CHECK(bytes.string() == (symbol == 0 ? "<eps>" : dfa.alphabet().name(symbol - 1)));
      CHECK(bytes.number<std::int64_t>() == symbol);
    }
  }
  Nfa nfa(dfa.alphabet());
  struct Arc {
    State source;
    Letter letter;
    State target;
  };
  std::vector<Arc> read;
  for (State state = 0; state < states; ++state) {
    const auto weight = bytes.number<float>();
    nfa.add_state(weight == 0);
    CHECK((weight == 0 || weight > 1e30F));
    for (auto left = bytes.number<std::int64_t>(); left > 0; --left) {
      const auto in = bytes.number<std::int32_t>(), out = bytes.number<std::int32_t>();
      CHECK(in == out);
      CHECK(bytes.number<float>() == 0);
      read.push_back({state, static_cast<Letter>(in - 1), static_cast<State>(bytes.number<std::int32_t>())});
    }
  }
  CHECK(bytes.at_end());
  CHECK(static_cast<std::int64_t>(read.size()) == arcs);
  for (const Arc& arc : read) nfa.add_arc(arc.source, arc.letter, arc.target);
  if (start >= 0) nfa.add_initial(static_cast<State>(start));
  for (const Word& word : short_words(dfa.letters(), 4)) CHECK(nfa.accepts_word(word) == dfa.accepts(dfa.run(word)));
}

}  // namespace

TEST_CASE("mata, GAP and DOT come back state for state") {
  for (const Dfa& dfa : sample_automata()) {
    CHECK(round_trip(dfa, FileFormat::kMata, FileFormat::kMata) == dfa);
    if (dfa.letters() > 0) CHECK(round_trip(dfa, FileFormat::kGap, FileFormat::kGap) == dfa);
    CHECK(round_trip(dfa, FileFormat::kDot, FileFormat::kDot) == dfa);
  }
  const Dfa odd = Dfa::acceptor(Alphabet::from_names(std::vector<std::string>{"a\"b", "c\\d", "e f", "%g", "!"}),
                                {0, 0, 0, 0, 0}, 0, {true});
  CHECK(round_trip(odd, FileFormat::kMata, FileFormat::kMata) == odd);
  CHECK(round_trip(odd, FileFormat::kGap, FileFormat::kGap) == odd);
}

TEST_CASE("expressions come back as the same language") {
  std::vector<Dfa> few = sample_automata();
  few.erase(few.begin() + 12, few.end());
  for (const Dfa& dfa : few)
    CHECK_FALSE(distinguishing_word(round_trip(dfa, FileFormat::kRegex, FileFormat::kRegex), dfa));
  CHECK(read_automaton("a b\n", "x.regex", FileFormat::kRegex) == parse_regex("a b"));
  CHECK_THROWS_WITH_AS(read_automaton("a)", "x.regex", FileFormat::kRegex), doctest::Contains("x.regex: regex:2:"),
                       InputError);
  CHECK_THROWS_AS(write_automaton(parse_regex("(a|b)*abb"), FileFormat::kRegex, {7}), LimitError);
}

TEST_CASE("Moore and Mealy machines as AALpy writes them") {
  Dice dice(42);
  for (int i = 0; i < 50; ++i) {
    CAPTURE(i);
    const Dfa moore = random_moore(dice, 2 + dice.below(5), 2, 3);
    const Dfa back = round_trip(moore, FileFormat::kMooreDot, FileFormat::kDot);
    CHECK_FALSE(distinguishing_word(back, moore));
    const Dfa last = round_trip(moore, FileFormat::kMealyDot, FileFormat::kDot);
    for (const Word& word : short_words(2, 5)) {
      if (word.empty()) continue;
      CHECK(last.output_names()[last.output(last.run(word))] == moore.output_names()[moore.output(moore.run(word))]);
    }
  }
  const std::string text =
      write_automaton(Dfa::moore(first_letters(1), {1, 0}, 0, {0, 1}, {"tick", "tock"}), FileFormat::kMooreDot);
  CHECK(test::contains(text, "0 [shape=record, label=\"{ 0 | tick }\"];"));
  CHECK_THROWS_AS(write_automaton(Dfa::moore(first_letters(1), {0}, 0, {0}, {"a|b", "c"}), FileFormat::kMooreDot),
                  InputError);
}

TEST_CASE("HOA: the finite words, each followed by empty steps") {
  for (const Dfa& dfa : sample_automata()) {
    const std::string text = write_hoa(dfa);
    CHECK(text.starts_with("HOA: v1\n"));
    CHECK(text.ends_with("--END--\n"));
    for (const Word& word : short_words(dfa.letters(), 4))
      CHECK(hoa_accepts(text, word, dfa.letters()) == dfa.accepts(dfa.run(word)));
  }
}

TEST_CASE("OpenFst: the bytes of a vector transducer with its symbols") {
  for (const Dfa& dfa : sample_automata()) check_openfst(dfa);
}

TEST_CASE("LaTeX: a node for each state, an edge for each pair of neighbours, a row for each state") {
  const Dfa dfa = parse_regex("(a|b)*abb");
  const std::string picture = write_tikz(dfa), table = write_latex_table(dfa);
  const auto count = [](const std::string& text, const std::string& part) {
    int times = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
  };
  CHECK(count(picture, "\\node[state") == 4);
  CHECK(count(picture, "initial]") + count(picture, "initial,") >= 1);
  CHECK(count(picture, "accepting]") == 1);
  CHECK(count(picture, " edge") == 8);
  CHECK(count(table, "\\\\") == 5);
  CHECK(escape_tex("a_b%{}\\") == "a\\_b\\%\\{\\}\\textbackslash{}");
}

TEST_CASE("formats that are only written say so when they are read") {
  for (const char* name : {"hoa", "fst", "tex", "moore-dot"})
    CHECK_THROWS_WITH_AS(read_automaton("x", "file", *format_of_extension(name)),
                         doctest::Contains("is written, not read"), InputError);
}

TEST_CASE("formats without classes have a letter for each character of them") {
  const Dfa classes = parse_regex("[a-c]x|\"SYN\"[y-z]*");
  const Dfa single = with_single_characters(classes);
  CHECK(single.letters() == 7);
  CHECK(single.states() == classes.states());
  for (const FileFormat format : {FileFormat::kAtt, FileFormat::kMata})
    CHECK(equivalent(round_trip(classes, format, format), single));
  CHECK_FALSE(distinguishing_word(single, classes));
  CHECK(with_single_characters(single) == single);
  // The most letters that are written, and one more.
  const auto of_class = [](const char* last) { return parse_regex(std::string("[\\x{100}-\\x{") + last + "}]"); };
  CHECK(with_single_characters(of_class("10FF")).letters() == 4096);
  CHECK(test::contains(test::error_of([&] { with_single_characters(of_class("1100")); }), "--alphabet"));
}

namespace {

Mealy random_machine(std::mt19937& random, State states, Letter inputs, Output outputs) {
  std::vector<std::string> names;
  for (Output output = 0; output < outputs; ++output) names.push_back("o" + std::to_string(output));
  std::vector<State> table(std::size_t{states} * inputs);
  std::vector<Output> written(table.size());
  for (State& target : table) target = static_cast<State>(random() % states);
  for (Output& output : written) output = static_cast<Output>(random() % outputs);
  return Mealy::machine(Alphabet::of_characters(std::string("abcd", inputs)), table,
                        static_cast<State>(random() % states), written, names, states);
}

}  // namespace

TEST_CASE("the Moore machine says the last output") {
  std::mt19937 random(51);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    const Mealy mealy = random_machine(random, static_cast<State>(1 + random() % 8),
                                       static_cast<Letter>(1 + random() % 4), static_cast<Output>(1 + random() % 3));
    const Dfa moore = to_moore(mealy);
    CHECK(moore.output_names()[moore.output(moore.initial())] == "-");
    State state = mealy.initial();
    Word inputs;
    for (int i = 0; i < 30; ++i) {
      const auto input = static_cast<Letter>(random() % mealy.inputs().size());
      const std::string output = mealy.output_names()[mealy.output(state, input)];
      inputs.push_back(input);
      CHECK(moore.output_names()[moore.output(moore.run(inputs))] == output);
      state = mealy.next(state, input);
    }
  }
}

TEST_CASE("the initial output has a name of its own, or shares the machine's") {
  const Mealy mealy = Mealy::machine(Alphabet::of_characters("a"), {0}, 0, {0}, {"-"}, 1);
  CHECK(to_moore(mealy).states() == 1);
  const Dfa other = to_moore(mealy, "start");
  CHECK(other.states() == 2);
  CHECK(other.output_names()[0] == "start");
}

TEST_CASE("a machine that is no machine is refused") {
  const Alphabet a = Alphabet::of_characters("a");
  CHECK_THROWS_AS(Mealy::machine(a, {}, 0, {}, {"x"}, 0), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0, 0}, 0, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {1}, 0, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 1, {0}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 0, {1}, {"x"}, 1), InputError);
  CHECK_THROWS_AS(Mealy::machine(a, {0}, 0, {0}, {"x"}, 1).with_state_names({"p", "q"}), InputError);
}
