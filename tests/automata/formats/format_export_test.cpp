// Formats that hold less than everything: what is written is read back, by this project's readers where it has one, by
// a few lines of the test otherwise.

#include <doctest/doctest.h>

#include <map>

#include <cstring>
#include <sstream>

#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/format_gap.h"
#include "krohn/automata/formats/format_hoa.h"
#include "krohn/automata/formats/format_openfst.h"
#include "krohn/automata/formats/format_tex.h"
#include "krohn/automata/formats/mealy.h"
#include "krohn/automata/formats/single_characters.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/regex/regex.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

Dfa round_trip(const Dfa& dfa, FileFormat write, FileFormat read) {
  return read_automaton(write_automaton(dfa, write), "text", read);
}

std::vector<Dfa> samples() {
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
  for (const Dfa& dfa : samples()) {
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
  std::vector<Dfa> few = samples();
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
  CHECK(text.find("0 [shape=record, label=\"{ 0 | tick }\"];") != std::string::npos);
  CHECK_THROWS_AS(write_automaton(Dfa::moore(first_letters(1), {0}, 0, {0}, {"a|b", "c"}), FileFormat::kMooreDot),
                  InputError);
}

TEST_CASE("HOA: the finite words, each followed by empty steps") {
  for (const Dfa& dfa : samples()) {
    const std::string text = write_hoa(dfa);
    CHECK(text.starts_with("HOA: v1\n"));
    CHECK(text.ends_with("--END--\n"));
    for (const Word& word : short_words(dfa.letters(), 4))
      CHECK(hoa_accepts(text, word, dfa.letters()) == dfa.accepts(dfa.run(word)));
  }
}

TEST_CASE("OpenFst: the bytes of a vector transducer with its symbols") {
  for (const Dfa& dfa : samples()) check_openfst(dfa);
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
  CHECK(test::error_of([&] { with_single_characters(of_class("1100")); }).find("--alphabet") != std::string::npos);
}
