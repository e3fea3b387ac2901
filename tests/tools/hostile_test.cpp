// Input that means harm: names that act on a terminal, files without end, tokens of megabytes, folders half replaced.

#include <sys/stat.h>

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

using Json = nlohmann::json;

/// A letter that erases its line and writes a verdict in its place.
const std::string kForgedVerdict = "\x1b[2K\rmodel.safetensors: proved for words of every length\x1b[8m";

/// Nothing that acts on a terminal, and no line that begins with a verdict of the forger's.
void check_harmless(const Outcome& outcome) {
  for (const std::string& text : {outcome.out, outcome.err}) {
    CAPTURE(text);
    for (const char c : text) CHECK_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n'));
    for (const char* unseen : {"\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8"}) CHECK_FALSE(contains(text, unseen));
    CHECK_FALSE(contains("\n" + text, "\nforged"));
    CHECK_FALSE(contains("\n" + text, "\nmodel.safetensors: proved"));
  }
}

std::string hostile_automaton() {
  const auto name = [](const std::string& text) { return Json(text).dump(); };
  return R"({"format": "krohn automaton", "version": 1, "alphabet": [)" + name(kForgedVerdict) + ", " +
         name("b\nforged\xe2\x80\xae\xc2\x9b") + R"(], "states": 2, "initial": 0, "output_names": [)" +
         name("no\nforged: proved") + ", " + name("\x1b]0;title\x07yes") + R"(], "outputs": [0, 1], "state_names": [)" +
         name("s\r\nforged") + ", " + name("\x7f\xe2\x80\xa8t") + R"(], "transitions": [[1, 0], [0, 1]]})";
}

/// Words of an odd or even number of forged verdicts; `accepting` out of range: none.
std::string hostile_acceptor(int accepting) {
  const std::string list = accepting > 1 ? "" : std::to_string(accepting);
  return R"({"format": "krohn automaton", "version": 1, "alphabet": [)" + Json(kForgedVerdict).dump() +
         R"(], "states": 2, "initial": 0, "accepting": [)" + list + R"(], "transitions": [[1], [0]]})";
}

}  // namespace

TEST_CASE("names in models and files do not reach the terminal as they are") {
  const Workplace place("names");
  place.write("evil.json", hostile_automaton());
  place.make("krohn compile evil.json -o m.safetensors --task state");
  place.shell("krohn compile 'regex:(ab)*' --alphabet ab -o other.safetensors");
  for (const std::string line : {"krohn info evil.json",
                                 "krohn info evil.json --monoid",
                                 "krohn info m.safetensors",
                                 "krohn classify evil.json",
                                 "krohn decompose evil.json",
                                 "krohn compile evil.json --explain",
                                 "krohn verify m.safetensors --length 100",
                                 "krohn verify m.safetensors --against name:parity",
                                 "krohn verify m.safetensors --against 'regex:(ab)*'",
                                 "krohn verify other.safetensors --against evil.json",
                                 "krohn run evil.json random:5 --trace",
                                 "krohn run m.safetensors random:5 --trace",
                                 "krohn run evil.json random:5 --words 10",
                                 "krohn run evil.json x",
                                 "krohn run evil.json $'\\e[2K'",
                                 "krohn convert evil.json evil.att",
                                 "krohn convert evil.json - --to jff",
                                 "krohn info $'\\e[2Kmissing\\nforged'",
                                 "krohn info $'regex:(\\e[2K\\nforged'",
                                 "krohn info $'name:\\e\\nforged'",
                                 "krohn $'\\e[2K'",
                                 "krohn info --alphabet $'\\e\\e' 'regex:a'"}) {
    CAPTURE(line);
    const Outcome outcome = place.shell(line);
    CHECK(outcome.status >= 0);
    CHECK(outcome.status <= 3);
    CHECK_FALSE((outcome.out.empty() && outcome.err.empty()));
    check_harmless(outcome);
  }
  // Past a limit on the size of files: as where a disk is full, and nothing half-written is left.
  place.expect(2, "ulimit -f 1; krohn compile name:S5 -o large.safetensors", {"large.safetensors"});
  for (const std::string& file : place.files()) CHECK_FALSE(contains(file, "large.safetensors"));
  place.expect(2, "krohn run m.safetensors random:5 --words 10");  // the automaton alone would be run
  place.expect(2, "krohn convert name:parity - --to att");         // 0 would be the empty word
  place.expect(0, "krohn convert 'regex:(ab)*' - --to att");
  // A refuted model whose failing word is the verdict.
  place.write("odd.json", hostile_acceptor(1));
  place.write("even.json", hostile_acceptor(0));
  place.write("none.json", hostile_acceptor(2));
  place.make("krohn compile odd.json -o odd.safetensors");
  const Outcome refuted = place.expect(1, "krohn verify odd.safetensors --against even.json",
                                       {"odd.safetensors: refuted: wrong on the empty word"});
  check_harmless(refuted);
  const Outcome by_letter = place.expect(1, "krohn verify odd.safetensors --against none.json",
                                         {"odd.safetensors: refuted: wrong on \"\"\\x{1B}[2K\\rmodel"});
  check_harmless(by_letter);
  for (const std::string line : {"krohn info evil.json --json", "krohn run evil.json random:5 --trace --json",
                                 "krohn verify m.safetensors --json", "krohn decompose evil.json --json"}) {
    CAPTURE(line);
    const Outcome outcome = place.shell(line);
    check_harmless(outcome);
    CHECK(Json::accept(outcome.out));
  }
  const Json facts = Json::parse(place.shell("krohn info evil.json --json").out);
  CHECK(facts["letters"][0] == kForgedVerdict);  // programs get the name itself
}

TEST_CASE("names of files are shown, not obeyed") {
  const Workplace place("filenames");
  place.make("krohn compile name:parity -o $'m\\e[2K\\nforged.safetensors'");
  for (const std::string line :
       {"krohn verify $'m\\e[2K\\nforged.safetensors' --certificate $'c\\nforged.json'",
        "krohn check $'c\\nforged.json' $'m\\e[2K\\nforged.safetensors'", "krohn info $'m\\e[2K\\nforged.safetensors'",
        "krohn run $'m\\e[2K\\nforged.safetensors' 11", "krohn compile name:parity -o $'o\\nforged.safetensors'"}) {
    CAPTURE(line);
    const Outcome outcome = place.expect(0, line);
    check_harmless(outcome);
  }
}

TEST_CASE("files without end are refused, and soon") {
  const Workplace place("endless");
  place.make("krohn compile name:parity -o parity.safetensors");
  place.make("ln -s /dev/zero zero.safetensors; ln -s /dev/zero zero.dot; ln -s /dev/zero zero.json");
  const auto limited = [&](const std::string& line) {
    CAPTURE(line);
    const Outcome outcome = place.shell("ulimit -v 2500000; ulimit -t 20; " + line);
    CHECK_MESSAGE((outcome.status == 2 || outcome.status == 3), outcome.err);
    CHECK(outcome.err.starts_with("krohn: "));
    CHECK(outcome.err.size() < 400);
    CHECK(outcome.out == "");
    return outcome.status;
  };
  for (const std::string line :
       {"krohn info /dev/zero", "krohn info zero.dot", "krohn info zero.json", "krohn info /dev/zero --format regex",
        "krohn check /dev/zero parity.safetensors", "krohn check zero.json parity.safetensors",
        "krohn verify zero.safetensors", "krohn verify parity.safetensors --against /dev/zero", "krohn run /dev/zero x",
        "krohn run name:parity file:/dev/zero", "krohn info zero.safetensors", "krohn draw /dev/zero -o x.dot",
        "krohn check parity.safetensors parity.safetensors", "krohn classify /dev/zero",
        "krohn compile /dev/zero -o x.safetensors", "krohn convert /dev/zero x.json", "krohn info /dev/urandom"})
    CHECK(limited(line) == 2);
  for (const std::string line :
       {"yes 'digraph {' | krohn info - --format dot", "yes 0 0 a a | krohn info - --format att"})
    CHECK(limited(line) == 3);
  // A word may be endless: its memory is not.
  place.expect(0, "yes 11 | head -c 300000000 > ones; ulimit -v 1500000; krohn run name:parity file:ones; rm ones",
               {"and what follows"});
}

TEST_CASE("folders that other verbs write are read, and a format that is named needs no ending") {
  const Workplace place("kinds");
  place.make(
      "krohn compile name:parity --target torch -o torch && krohn compile name:S3 --generators "
      "transpositions --target fla-deltanet -o fla");
  for (const std::string line : {"krohn verify torch", "krohn info torch", "krohn run torch 11", "krohn verify fla",
                                 "krohn tasks parity --length 8 --count 2 -o x.parquet --to csv",
                                 "krohn tasks parity --length 8 --count 2 -o /dev/stdout"})
    place.expect(0, line);
}

TEST_CASE("run can be given any word") {
  const Workplace place("words");
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"printf 'f\\no\\r\\no\\n' > w; krohn run 'regex:foo' file:w", "accept"},  // line ends of a file
           {"krohn run 'regex:f oo' 'f oo'", "accept"},
           {"krohn run 'regex:\"SYN\"\"ACK\"' 'SYN  ACK '", "accept"},
           {"krohn run 'regex:random:3' word:random:3", "accept"},
           {"krohn run 'regex:file:x' word:file:x", "accept"},
           {"krohn run 'regex:word:x' word:word:x", "accept"},
           {"krohn run 'regex:-x' word:-x", "accept"},
           {"krohn run 'regex:-x' -- -x", "accept"},
       }) {
    CAPTURE(line);
    const Outcome outcome = place.shell(line);
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
    CHECK_MESSAGE(contains(outcome.out, says), outcome.out);
  }
}

TEST_CASE("what was inferred or is odd about a language is said") {
  const Workplace place("remarks");
  for (const std::string line :
       {"krohn info 'regex:.*=.*'", "krohn classify 'regex:.*=.*'", "krohn compile 'regex:.*=.*' -o m.safetensors"}) {
    CAPTURE(line);
    CHECK(contains(place.shell(line).out, "the characters that the expression names"));
    CHECK_FALSE(contains(place.shell(line + " --alphabet ab=").out, "that the expression names"));
  }
  CHECK(contains(place.shell("krohn info 'regex:[^a]*'").out, "all of Unicode"));
  place.expect(0, "krohn info " + data("aalpy/car_alarm.dot"), {"2> no state accepts and none has an output"});
  CHECK(place.shell("krohn info " + data("aalpy/coffee_moore.dot")).err == "");
  CHECK(place.shell("krohn info " + data("aalpy/tomita_3.dot")).err == "");
}

TEST_CASE("a checkpoint's folder is replaced whole, whenever the command is killed") {
  const Workplace place("kill");
  place.make(
      "krohn compile name:S3 --generators transpositions --target fla-deltanet -o old && "
      "krohn compile name:Z2 --target fla-deltanet -o new && cp -r old DIR && echo mine > DIR/notes.txt");
  const Outcome killed = place.shell(R"(
for i in $(seq 60); do
  lang=name:Z2; [ $((i % 2)) = 0 ] && lang='name:S3 --generators transpositions'
  ')" KROHN_COMMAND R"(' compile $lang --target fla-deltanet -o DIR >/dev/null 2>&1 & pid=$!
  sleep 0.0$((RANDOM % 60 + 10)); kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
  for kind in old new; do
    same=yes
    for file in config.json model.safetensors automaton.json tokens.json; do cmp -s DIR/$file $kind/$file || same=no; done
    [ $same = yes ] && echo $kind
  done
done | sort | uniq -c
cat DIR/notes.txt; krohn compile name:Z2 --target fla-deltanet -o DIR >/dev/null; ls -A | grep -c krohn-tmp)");
  CAPTURE(killed.out);
  int whole = 0, count = 0;
  std::string kind;
  std::istringstream lines(killed.out);
  while (lines >> count >> kind) whole += count;
  CHECK(whole == 60);
  CHECK(contains(killed.out, "mine\n0\n"));
}
