// Questions and operations from the command line: equal, included, disjoint, empty, combine, words, elements, convert.

#include "tests/tools/shell.h"

using namespace krohn::test;

TEST_CASE("questions answer by status and by a shortest word") {
  const Workplace place("questions");
  struct Fact {
    const char* line;
    int status;
    const char* says;
  };
  for (const Fact& fact : {
           Fact{"equal 'regex:(a|b)*abb' 'regex:(a*b*)*abb'", 0, "equal: the same words"},
           Fact{"equal 'regex:(a|b)*abb' 'regex:(a|b)*ab'", 1,
                "not equal: \"ab\" (2 letters) is in regex:(a|b)*ab and not in regex:(a|b)*abb"},
           Fact{"equal 'regex:a*' 'regex:(a|c)*'", 1, "regex:a* has no letter c, and rejects words with one"},
           Fact{"equal name:modarith5 name:modarith5", 0, "equal"},
           Fact{"included 'regex:(a|b)*abb' 'regex:(a|b)*b'", 0, "included: every word"},
           Fact{"included 'regex:(a|b)*b' 'regex:(a|b)*abb'", 1,
                "not included: \"b\" (1 letter) is in regex:(a|b)*b and not in"},
           Fact{"disjoint 'regex:(ab)*' 'regex:(ba)+'", 0, "disjoint: no word is in both"},
           Fact{"disjoint 'regex:(ab)*' 'regex:(ba)*'", 1, "the empty word is in both"},
           Fact{"empty 'regex:[]'", 0, "empty: no word at all"},
           Fact{"empty 'search:a=b'", 1, "not empty: \"a=b\" (3 letters) is in search:a=b"},
           Fact{"equal 'expr:~regex:a & regex:a|b' regex:b", 0, "equal"},
           Fact{"equal 'regex:(a|b)*a(a|b){60}' 'regex:(b*a*)*a(a|b){60}'", 0, "equal"},
       }) {
    CAPTURE(fact.line);
    const Outcome outcome = place.shell(std::string("krohn ") + fact.line);
    CAPTURE(outcome.err);
    CHECK(outcome.status == fact.status);
    CHECK(contains(outcome.out, fact.says));
  }
  place.expect(1, "krohn included regex:a+b --json 'regex:a*'",
               {"\"word\": \"ab\"", "\"in_first\": true", "\"answer\": false"});
}

TEST_CASE("a question past its limits is undecided, and says how far it is decided") {
  const Workplace place("question-limits");
  const char* const hard = "'regex:(a|b)*a(a|b){20}' 'regex:(a|b)*a(a|b){21}'";
  for (const char* verb : {"equal", "included", "disjoint"}) {
    CAPTURE(verb);
    const Outcome outcome = place.expect(3, std::string("krohn ") + verb + " " + hard + " --max-pairs 4");
    CHECK(outcome.out == "");
    CHECK(contains(outcome.err, "--max-pairs"));
    CHECK(contains(outcome.err, "No word of fewer than"));
  }
}

TEST_CASE("nondeterministic files are compared as they are") {
  const Workplace place("nondeterministic");
  // Letter 30 from the end is an a: the deterministic automaton has 2^30 states.
  std::string arcs = "0 0 a\n0 0 b\n0 1 a\n";
  for (int i = 1; i < 30; ++i)
    for (const char* letter : {"a", "b"}) arcs += std::to_string(i) + " " + std::to_string(i + 1) + " " + letter + "\n";
  place.write("n.att", arcs + "30\n");
  place.write("m.att", arcs + "30 31 a\n30\n");
  place.expect(0, "krohn equal n.att 'regex:(a|b)*a(a|b){29}'");
  place.expect(0, "krohn equal n.att m.att");
  place.expect(0, "krohn included n.att 'expr:n.att | regex:b'");
  place.expect(1, "krohn empty n.att");
}

TEST_CASE("combine writes what an expression means, in any format") {
  const Workplace place("combine");
  place.write("a.regex", "(a|b)*abb\n");
  place.write("with blank.regex", "a*\n");
  place.make("krohn convert a.regex a.att");
  place.make("krohn convert name:parity -o b.dot");
  place.make("krohn combine 'a.att & ~(b.dot | regex:b*)' -o c.jff");
  place.expect(0, "krohn equal c.jff a.regex");
  CHECK(place.shell("krohn combine \"reverse(a.att) | 'with blank.regex'\" -o - --to regex").out == "a*|bba[ab]*\n");
  CHECK(contains(place.shell("krohn combine 'a.att - a.att'").out, "empty"));
  CHECK(contains(place.shell("krohn combine 'regex:(a|b)*' --json").out, "\"universal\": true"));
  place.expect(3, "krohn combine '~regex:(a|b)*a(a|b){20}' --max-states 1000 -o x.dot");
  CHECK_FALSE(std::filesystem::exists(place / "x.dot"));
}

TEST_CASE("words: shortest, of a length, counted, random") {
  const Workplace place("words");
  CHECK(place.shell("krohn words 'regex:(a|b)*abb' --shortest 3").out == "abb\naabb\nbabb\n");
  CHECK(place.shell("krohn words 'regex:(a|b)*abb' --length 5").out == "aaabb\nababb\nbaabb\nbbabb\n");
  CHECK(place.shell("krohn words 'regex:a?b?' --length 0").out == "\n");
  CHECK(place.shell("krohn words 'regex:ab|c'").out == "c\nab\n");
  CHECK(place.shell("krohn words 'regex:[]'").out == "");
  CHECK(place.shell("krohn words 'regex:(a|b)*abb' --length 8 --count").out == "32\n");
  CHECK(place.shell("krohn words 'regex:(a|b)*abb' --length 70 --count").out == "147573952589676412928\n");
  CHECK(place.shell("krohn words 'regex:(a|b){3}|a' --count").out == "9\n");
  CHECK(place.shell("krohn words 'regex:a*' --count").out == "infinitely many\n");
  const Outcome random = place.expect(0, "krohn words 'regex:(a|b)*abb' --random 5 --length 100 --seed 3");
  CHECK(random.out.size() == 5 * 101);
  CHECK(random.out == place.shell("krohn words 'regex:(a|b)*abb' --random 5 --length 100 --seed 3").out);
  CHECK(contains(place.shell("krohn words 'regex:\"SYN\"\"ACK\"' --json").out, "\"SYN ACK\""));
  CHECK(place.shell("krohn words 'regex:[a-z]{3}' --count").out == "17576\n");
  CHECK(contains(place.shell("krohn info 'regex:[a-z]{3}' --json").out, "17576"));
  CHECK(place.shell("krohn words 'regex:[a-c]x' --shortest 9").out == "ax\nbx\ncx\n");
  CHECK(place.shell("krohn words 'regex:(?i)ab'").out == "AB\nAb\naB\nab\n");
  CHECK(place.shell("krohn words 'regex:[a-z]{3}' --length 3 --random 50 | sort -u | wc -l").out > "40");
}

TEST_CASE("every form of a language is one wherever a language is taken") {
  const Workplace place("forms");
  for (const std::string language :
       {"ltlf:F a & G(a -> X b)", "pltl:O a & b", "search:ab", "expr:regex:(a|b)*a & ltlf:F(b)"}) {
    CAPTURE(language);
    for (const char* verb : {"info", "tasks --length 5 --count 2 -o data.jsonl", "train --model dense --steps 1 -o run",
                             "compile --target torch-rnn -o rnn"}) {
      CAPTURE(verb);
      const std::string name = verb, rest = contains(name, " ") ? name.substr(name.find(" ")) : "";
      const Outcome outcome =
          place.shell("krohn " + name.substr(0, name.find(" ")) + " '" + language + "' --alphabet ab" + rest);
      CHECK_MESSAGE(outcome.status == 0, outcome.err);
      std::filesystem::remove_all(place / "run");
      std::filesystem::remove_all(place / "rnn");
    }
  }
  CHECK(contains(place.shell("krohn compile 'ltlf:F a' -o m.safetensors").out,
                 "{a}, the propositions that the formula names"));
  // Unquoted, a formula ends where a regex does; sets of propositions are for formulas alone.
  place.expect(0, "krohn equal 'expr:ltlf:G(a -> F b) & regex:(a|b)*b' 'regex:(a|b)*b'");
  place.expect(0, "krohn info 'expr:ltlf:G(p->F(q)) | ltlf:p' --alphabet valuations");
  place.expect(0, "krohn equal 'ltlf:F a' 'ltlf:F (a | (b & !b))' --alphabet valuations");
  place.expect(0, "krohn included 'ltlf:F a' 'ltlf:F a & (c | !c)' --alphabet valuations");
  place.expect(0, "krohn disjoint 'ltlf:G a' 'ltlf:b & F !a' --alphabet valuations");
  place.expect(0, "krohn run 'ltlf:G(a -> F b)' 'word:{a} {b,a} {}' --alphabet valuations");
  std::string debts = "F a";  // of twenty-one propositions
  for (int i = 0; i < 10; ++i) debts += " & G(p" + std::to_string(i) + " -> N q" + std::to_string(i) + ")";
  const auto facts = place.shell("krohn info 'ltlf:" + debts + "' --alphabet valuations --json");
  CHECK(facts.status == 0);
  CHECK(contains(facts.out, "\"states\": 2049"));
  CHECK(contains(facts.out, "\"propositions\": 21"));
  place.expect(3, "krohn run 'ltlf:" + debts + "' 'word:{a}' --alphabet valuations");
  place.expect(0, "krohn info 'expr:regex:ab | regex:c' --alphabet valuations");
}

TEST_CASE("automata as regular expressions, refused past a length") {
  const Workplace place("to-regex");
  CHECK(place.shell("krohn convert 'regex:(a|b)*abb' - --to regex").out == "[ab]*abb\n");
  place.expect(0, "krohn convert name:parity p.regex");
  place.expect(0, "krohn equal p.regex name:parity");
  place.expect(3, "krohn convert 'regex:(a|b)*abb' -o x.regex --longest 5", {"2> --longest"});
  CHECK_FALSE(std::filesystem::exists(place / "x.regex"));
}

TEST_CASE("counts of words are whole, and a language of no words is not thought a mistake in DOT") {
  const Workplace place("counts");
  const std::string rows = place.shell("krohn info 'regex:[A-Za-z_]\\w*' && krohn info 'regex:a'").out;
  CHECK(contains(rows, "0 53 3339 210357 13252491 834906933 52599136779 3313745617077 …\n"));
  CHECK(contains(rows, "0 1 0 0 0 0 0 0 0 0 0 0 0 …\n"));
  place.write("none.regex", "[]");
  CHECK(place.expect(0, "krohn info none.regex").err.empty());
  place.write("none.dot", "digraph { s [shape=none]; s -> a; a -> a [label=x] }");
  place.expect(0, "krohn info none.dot", {"2> in DOT accepting states have shape=doublecircle"});
}

TEST_CASE("elements, idempotents, relations of what the letters do") {
  const Workplace place("elements");
  place.write("s.g", "S := Semigroup([Transformation([2,3,1,4]), Transformation([1,1,3,4])]);\n");
  place.expect(0, "krohn elements s.g --json",
               {"\"states\": 4", "\"monoid_size\": 24",
                "\"identity_in_semigroup\": true"});  // the fourth point is fixed, and kept
  CHECK(contains(place.shell("krohn elements 'regex:(ab)*' --idempotents").out, "idempotent"));
  CHECK(place.shell("krohn elements 'regex:a{3}' --relations --alphabet a").out == "aaaaa = aaaa\n");
  // The empty word is no letter, and 1 is one here.
  CHECK(place.shell("krohn elements name:parity --relations").out == "0 = ε\n11 = ε\n");
  CHECK(contains(place.shell("krohn elements name:parity").out, "  ε  [0,1]  idempotent\n  1  [1,0]\n"));
  CHECK(contains(place.shell("krohn elements name:parity --word ''").out, "word      ε\n  shortest  ε\n"));
  CHECK(contains(place.shell("krohn info name:tomita4 --monoid").out, "1 column, holds ε; above D1"));
  const Outcome word = place.shell("krohn elements s.g --word aaaa");
  CHECK(contains(word.out, "shortest  a\n"));
  CHECK(contains(word.out, "period 3"));
  place.expect(3, "krohn elements s.g --max-elements 5", {"[0,1,2,3]", "2> --max-elements"});
}

// The classes of languages on the command line: one language, many, and what an interrupted run left.

using nlohmann::json;

namespace {

const json& row(const json& rows, const std::string& name) {
  for (const json& candidate : rows)
    if (candidate.at("class") == name) return candidate;
  FAIL("no class " << name);
  return rows;
}

std::vector<json> lines(const std::string& text) {
  std::vector<json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

TEST_CASE("classify --json: classes with parameters, defining words and witnesses; transformers with sources") {
  const Workplace place("classes");
  const json job = place.report(0, "krohn classify 'regex:~(.*abb.*)' --alphabet ab --json").at("jobs").at(0);
  const json& local = row(job.at("classes"), "SL");
  CHECK(local.at("answer") == "yes");
  CHECK(local.at("k") == 3);
  CHECK(local.at("defined_by").at("what") == "forbidden factors");
  CHECK(local.at("defined_by").at("words") == json::array({"abb"}));
  const json& piecewise = row(job.at("classes"), "SP");
  CHECK(piecewise.at("answer") == "no");
  CHECK(contains(piecewise.at("witness").get<std::string>(), "is accepted and its subsequence"));
  CHECK(row(job.at("classes"), "TSL").at("tier") == json::array({"a", "b"}));
  REQUIRE(job.at("transformers").size() == 5);
  for (const json& family : job.at("transformers")) CHECK(!family.at("source").get<std::string>().empty());
  CHECK(job.at("transformers").at(0).at("answer") == "yes");
  const json alike =
      json::parse(place.shell("krohn classify 'regex:~(.*aa.*)' --alphabet abc --json").out).at("jobs").at(0);
  CHECK(alike.at("letters_alike") == json{{"b", {"b", "c"}}});
  // The outputs of a Moore machine are no language.
  CHECK(!json::parse(place.shell("krohn classify name:Z3 --json").out).at("jobs").at(0).contains("classes"));
}

TEST_CASE("classify: many languages give a line each, faults too, and a summary") {
  const Workplace place("many");
  place.write("list.txt", "# three\nregex:(ab)*\nregex:(aa)*\n\nname:tomita3\nregex:(\n");
  const Outcome outcome =
      place.expect(2, "krohn classify --list list.txt name:parity --threads 2");  // one could not be read
  const auto all = lines(outcome.out);
  REQUIRE(all.size() == 5);
  std::size_t faults = 0;
  for (const json& line : all) {
    const std::string subject = line.at("subject");
    if (line.contains("error")) {
      ++faults;
      CHECK(subject == "regex:(");
      continue;
    }
    const std::string answer = line.at("classes").at("SL").at("answer");
    CHECK(answer == (subject == "regex:(ab)*" ? "yes" : "no"));
    if (subject == "regex:(aa)*" || subject == "name:parity") CHECK(line.at("classes").at("Z_p").at("p") == 2);
  }
  CHECK(faults == 1);
  CHECK(contains(outcome.err, "5 languages, 1 of them not read"));
}

TEST_CASE("classify -o continues after what an earlier run left, whole lines only") {
  const Workplace place("resumed");
  place.make("krohn classify 'regex:(ab)*' 'regex:a*b' 'regex:b*a' -o classes.jsonl --threads 1");
  const std::string whole = contents(place / "classes.jsonl");
  REQUIRE(lines(whole).size() == 3);
  place.write("classes.jsonl", whole.substr(0, whole.size() - 20));  // the last line was being written
  const Outcome again =
      place.expect(0, "krohn classify 'regex:(ab)*' 'regex:a*b' 'regex:b*a' -o classes.jsonl --threads 1");
  CHECK(contents(place / "classes.jsonl") == whole);
  CHECK(contains(again.out, "3 languages"));
  place.write("other.txt", "no line of this command\n");
  for (const char* option : {" --alphabet abc", " --max-elements 2", " --witnesses"})
    CHECK(contains(place.shell(std::string("krohn classify 'regex:(ab)*' 'regex:a*b' -o classes.jsonl") + option).err,
                   "made by other options"));
  place.expect(2, "krohn classify 'regex:(ab)*' 'regex:a*b' -o other.txt", {"other.txt: line 1"});
  CHECK(contents(place / "other.txt") == "no line of this command\n");
}

TEST_CASE("classify --corpus takes every language file of a folder, and --witnesses says why") {
  const Workplace place("corpus");
  const std::string folder = "corpus/";
  place.make("mkdir corpus && krohn convert 'regex:(ab)*' corpus/ab.att && krohn convert name:parity corpus/p.json");
  const Outcome outcome = place.expect(0, "krohn classify --corpus corpus --witnesses --threads 1");
  const auto all = lines(outcome.out);
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("subject") == "corpus/ab.att");
  CHECK(row(all[0].at("classes"), "SL").at("defined_by").at("count") == 4);
  CHECK(row(all[1].at("classes"), "SF").contains("witness"));
}
