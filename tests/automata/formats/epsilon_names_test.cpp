// Names of the empty word, in every format in which arcs bear names: read as that, or asked about; and letters that are
// called so, through every writer.

#include <doctest/doctest.h>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/groups/atomic_file.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/error_of.h"
#include "tests/scratch.h"

using namespace krohn;
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

bool accepts(const Dfa& dfa, const Word& word) { return dfa.accepts(dfa.run(word)); }

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
      CHECK(error_of([&] { read(reader, name); }).find("say --epsilon") != std::string::npos);
    }
    for (const std::string& name : kRefused) {
      CAPTURE(name);
      const std::string error = error_of([&] { read(reader, name); });
      CHECK(error.find("--no-epsilon") != std::string::npos);
      CHECK((error.find("any letter") != std::string::npos || error.find("flag diacritic") != std::string::npos));
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
    CHECK(error_of([&] { read(reader, "@_IDENTITY_SYMBOL_@", one); }).find("any letter") != std::string::npos);
    LanguageOptions both = one;
    both.no_epsilon = true;
    CHECK(error_of([&] { read(reader, "a", both); }).find("not with --no-epsilon") != std::string::npos);
  }
}

TEST_CASE("a Greek letter beside others is asked about") {
  const auto error = [](FileFormat format, const std::string& text) {
    return error_of([&] { read_automaton(text, "file", format); });
  };
  const char* const says = "\"λ\" may be the empty word or a letter, as \"α\" is one";
  CHECK(error(FileFormat::kAtt, "0 1 α\n1 2 λ\n2\n").find(says) != std::string::npos);
  CHECK(error(FileFormat::kMata, "@NFA-explicit\n%Initial p\n%Final p\np α p\np λ p\n").find(says) !=
        std::string::npos);
  CHECK(error(FileFormat::kDot, "digraph { __start0 -> p; p -> p [label=\"α, λ\"]; }").find(says) != std::string::npos);
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
  CHECK(error_of([&] { read_att_file(numbers); }).find("f.att:2:5: 0 is the empty word where") != std::string::npos);
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
  CHECK(error_of([&] { read_att_file("0\t1\ta\t\n1\n"); }).find("a transducer: input \"a\", output \"\"") !=
        std::string::npos);
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
  CHECK(error_of([&] { in_files("0\t0\t@_IDENTITY_SYMBOL_@\n0\n", hfst); }).find("any letter") != std::string::npos);
  CHECK(error_of([&] { in_files("0 0 a\n0\n", "<eps> 0\na 1\n@0@ 2\n"); }).find("whose number is 0") !=
        std::string::npos);
}

TEST_CASE("a Mealy machine reads a letter at every step") {
  const std::string text = "digraph { __start0 -> p; p -> p [label=\"ε/x\"]; }";
  LanguageOptions labels, none;
  labels.mealy_as_labels = true;
  none.no_epsilon = true;
  CHECK(error_of([&] { read_automaton(text, "f.dot", FileFormat::kDot); }).find("the input \"ε\"") !=
        std::string::npos);
  CHECK(error_of([&] { read_automaton(text, "f.dot", FileFormat::kDot, labels); }).find("the input \"ε\"") !=
        std::string::npos);
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
