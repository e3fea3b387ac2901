// The main road, as a person walks it: every command line of the README, and what each verb promises.

#include <doctest/doctest.h>

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("the three lines of the README") {
  const Workplace place("three-lines");
  const std::string compile = "krohn compile 'regex:(a|b)*abb' -o abb.safetensors";
  const std::string verify = "krohn verify abb.safetensors --length 1e8";
  const std::string draw = "krohn draw 'regex:(a|b)*abb' -o abb.svg";
  const std::string readme = contents(KROHN_ROOT "/README.md");
  for (const std::string& line : {compile, verify, draw}) CHECK_MESSAGE(contains(readme, line), line);

  const Outcome compiled = place.shell(compile);
  CHECK(compiled.status == 0);
  CHECK(compiled.err == "");
  CHECK(contains(readme, compiled.out));
  const Outcome verified = place.shell(verify);
  CHECK(verified.status == 0);
  CHECK(contains(verified.out, "proved for words of every length"));
  CHECK(contains(verified.out, "100,000,000 letters of random words"));
  CHECK(contains(readme, verified.out));
  CHECK(place.shell(draw).status == 0);
  CHECK(contains(contents(place / "abb.svg"), "</svg>"));
  CHECK(place.files() == std::vector<std::string>{"abb.safetensors", "abb.svg"});
}

TEST_CASE("the README shows what the command prints") {
  const Workplace place("readme");
  const std::string readme = contents(KROHN_ROOT "/README.md");
  REQUIRE(place.shell("krohn compile name:Z5 --construction rotation -o z5.safetensors").status == 0);
  const std::string verify = "krohn verify z5.safetensors --precision bf16";
  CHECK(contains(readme, verify));
  CHECK(contains(readme, place.shell(verify).out));
}

TEST_CASE("every verb has a page that begins with examples") {
  const Workplace place("help");
  const Outcome all = place.shell("krohn --help");
  CHECK(all.status == 0);
  for (const char* verb : {"info", "classify", "decompose", "compile", "run", "verify", "check", "draw", "convert",
                           "tasks", "train", "eval", "extract", "compare", "snap", "table", "completion"}) {
    CAPTURE(verb);
    CHECK(contains(all.out, std::string("\n  ") + verb + " "));
    const Outcome page = place.shell(std::string("krohn ") + verb + " --help");
    CHECK(page.status == 0);
    CHECK(page.err == "");
    CHECK(page.out.starts_with(std::string("krohn ") + verb));
    CHECK(contains(page.out, std::string("\n  krohn ") + verb));
  }
  const std::string reference = contents(KROHN_ROOT "/docs/command.md");
  for (const char* verb : {"info", "classify", "decompose", "compile", "run", "verify", "check", "draw", "convert",
                           "tasks", "train", "eval", "extract", "compare", "snap", "table", "completion"})
    CHECK_MESSAGE(contains(reference, place.shell(std::string("krohn ") + verb + " --help").out),
                  "tools/reference > docs/command.md is due for " << std::string(verb));
  CHECK(place.shell("krohn --version").out.starts_with("krohn 0."));
}

TEST_CASE("every example of every page works") {
  const Workplace place("examples");
  place.write("tcp.dot", contents(KROHN_TEST_DATA "/aalpy/tcp_server_bsd_trans.dot"));
  REQUIRE(place.shell("krohn compile 'regex:(a|b)*abb' -o abb.safetensors").status == 0);
  place.write("zp.att", contents(KROHN_TEST_DATA "/mlregtest/04.04.Zp.2.1.0.att"));
  place.write("zp.syms", contents(KROHN_TEST_DATA "/mlregtest/alph4.txt"));
  REQUIRE(place.shell("krohn compile name:S5 -o s5.safetensors").status == 0);
  REQUIRE(place.shell("krohn compile name:Z5 -o z5.safetensors").status == 0);
  int examples = 0;
  for (const char* verb : {"info", "classify", "decompose", "compile", "run", "verify", "check", "draw", "convert",
                           "tasks", "train", "eval", "extract", "compare", "snap", "table", "completion"}) {
    std::istringstream page(place.shell(std::string("krohn ") + verb + " --help").out);
    for (std::string line; std::getline(page, line);) {
      if (!line.starts_with("  krohn ")) continue;
      CAPTURE(line);
      const Outcome outcome = place.shell(line);
      CHECK_MESSAGE(outcome.status == 0, outcome.err);
      ++examples;
    }
  }
  CHECK(examples >= 20);
}

TEST_CASE("usage mistakes are one line and a hint, status 2") {
  const Workplace place("usage");
  for (const char* line :
       {"krohn", "krohn frobnicate", "krohn verify", "krohn verify x.safetensors --precision fp8",
        "krohn run name:parity", "krohn compile name:parity --construction magic -o x.safetensors",
        "krohn compile name:parity", "krohn compile name:parity -o parity.onnx", "krohn verify name:parity",
        "krohn draw name:parity -o parity.gif", "krohn verify x.safetensors --length many",
        "krohn info name:parity --max-states -1", "krohn verify x.safetensors --device cuda"}) {
    CAPTURE(line);
    const Outcome outcome = place.shell(line);
    CHECK(outcome.status == 2);
    CHECK(outcome.out == "");
    CHECK(outcome.err.starts_with("krohn: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 2);
  }
  CHECK(place.files().empty());
}

TEST_CASE("exit statuses: proved 0, refuted 1, undecided 3") {
  const Workplace place("statuses");
  REQUIRE(place.shell("krohn compile name:Z5 --construction rotation -o z5.safetensors").status == 0);
  const Outcome refuted = place.shell("krohn verify z5.safetensors --precision bf16 --json --certificate z5.json");
  CHECK(refuted.status == 1);
  const json found = json::parse(refuted.out);
  CHECK(found["verdict"]["claim"] == "refuted");
  CHECK(found["verdict"]["failing_word_length"] == 249);  // MATH.md §5
  CHECK(found["certificate"]["evidence"]["shortest"] == true);
  CHECK(json::parse(contents(place / "z5.json")) == found["certificate"]);
  CHECK(place.shell("krohn verify z5.safetensors --precision fp32 --max-pairs 1000").status == 3);
  CHECK(place.shell("krohn verify z5.safetensors --precision fp32 --max-pairs 1000 --length 5").status == 0);
}

TEST_CASE("compiling for a precision rounds the weights and says what that made of them") {
  const Workplace place("quantised");
  const std::string compile = "krohn compile name:Z10 --construction rotation --precision bf16 -o z10.safetensors";
  const Outcome refuted = place.shell(compile + " --json");
  CHECK(refuted.status == 1);
  CHECK(json::parse(refuted.out)["verdict"]["failing_word_length"] == 128);  // MATH.md §5
  CHECK(place.shell(compile + " --max-pairs 100").status == 3);
  CHECK(place.shell("krohn verify z10.safetensors --precision bf16").status == 1);
  CHECK(place.shell("krohn verify z10.safetensors --precision exact --max-pairs 100").status == 3);
  CHECK(place.shell("krohn compile name:Z10 --construction rotation -o exact.safetensors").status == 0);
  CHECK(place.shell("krohn verify exact.safetensors --precision exact").status == 0);
  const Outcome proved = place.shell("krohn compile name:S5 --keys doubled --precision bf16 --exact -o s5.safetensors");
  CHECK(proved.status == 0);
  CHECK(contains(proved.out, "weights rounded to bf16: proved for words of every length"));
}

TEST_CASE("a model is held against a language that it was not told of") {
  const Workplace place("against");
  REQUIRE(place.shell("krohn compile 'regex:(a|b)*abb' -o abb.safetensors").status == 0);
  CHECK(place.shell("krohn verify abb.safetensors --against 'regex:(b|a)*a(b)b'").status == 0);
  const Outcome refuted = place.shell("krohn verify abb.safetensors --against 'regex:(a|b)*ab' --json");
  CHECK(refuted.status == 1);
  CHECK(json::parse(refuted.out)["verdict"]["failing_word"] == "ab");
  CHECK(place.shell("krohn verify abb.safetensors --against 'regex:(a|b|c)*abb'").status == 1);
}

TEST_CASE("run compares the network with the automaton") {
  const Workplace place("run");
  REQUIRE(place.shell("krohn compile 'regex:(a|b)*abb' -o abb.safetensors").status == 0);
  const Outcome words = place.shell("krohn run abb.safetensors abb abba '' random:1e5 --json");
  CHECK(words.status == 0);
  const json rows = json::parse(words.out);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["automaton"]["output"] == "accept");
  CHECK(rows[1]["network"]["output"] == "reject");
  CHECK(rows[3]["wrong_positions"] == 0);
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' abb --trace").out, "position"));
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' accepted:50").out, "(50 letters): accept"));
  CHECK(contains(place.shell("krohn verify abb.safetensors --length 1000 --words 5 --accepted").out, "5,000 letters"));
  place.write("word.txt", "aababb\n");
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' file:word.txt").out, "accept"));

  REQUIRE(place.shell("krohn compile name:Z5 --construction rotation -o z5.safetensors").status == 0);
  const Outcome drifted = place.shell("krohn run z5.safetensors random:1e6 --precision bf16 --json");
  CHECK(drifted.status == 1);
  CHECK(json::parse(drifted.out)[0]["wrong_from"] >= 249);

  const json counts = json::parse(place.shell("krohn run name:parity random:1000 --words 500 --device cpu --json").out);
  std::uint64_t sum = 0;
  for (const auto& row : counts["final_states"]) sum += row["words"].get<std::uint64_t>();
  CHECK(sum == 500);
}

TEST_CASE("explain lists every construction") {
  const Workplace place("explain");
  const Outcome table = place.shell("krohn compile name:S5 --explain");
  CHECK(table.status == 0);
  for (const char* name : {"one-hot", "permutation", "rotation", "cascade"}) CHECK(contains(table.out, name));
  const json plans = json::parse(place.shell("krohn compile name:S5 --explain --json").out)["plans"];
  int chosen = 0;
  for (const auto& row : plans) chosen += row["chosen"].get<bool>() ? 1 : 0;
  CHECK(chosen == 1);
}

TEST_CASE("info states facts of the language") {
  const Workplace place("info");
  const json facts = json::parse(place.shell("krohn info 'regex:(a|b)*abb' --json").out);
  CHECK(facts["states"] == 4);
  CHECK(facts["minimal_states"] == 4);
  CHECK(facts["shortest_accepted_word"] == "abb");
  CHECK(facts["finite"] == false);
  CHECK(facts["permutation_automaton"] == false);
  const json group = json::parse(place.shell("krohn info name:S5 --json").out);
  CHECK(group["group"]["order"] == "120");
  for (const char* file : {"aalpy/tomita_3.dot", "mlregtest/04.04.SL.4.1.3.att", "mata/b-param-easiest-aut0.mata"}) {
    CAPTURE(file);
    CHECK(place.shell("krohn info " + data(file) + " --symbols " + data("mlregtest/alph4.txt")).status == 0);
  }
}

TEST_CASE("convert keeps the language, whatever the format") {
  const Workplace place("convert");
  REQUIRE(place.shell("krohn convert 'regex:(a|b)*abb' 0.json").status == 0);
  for (const std::string extension : {"dot", "gv", "att", "jff", "json"}) {
    CAPTURE(extension);
    CHECK(place.shell("krohn convert 0.json 1." + extension).status == 0);
    CHECK(place.shell("krohn convert 1." + extension + " back.json && cmp 0.json back.json").status == 0);
  }
  CHECK(place.shell("krohn convert 0.json - --to dot").out.starts_with("digraph"));
  CHECK(place.shell("krohn convert 0.json 1.mata").status == 2);
}
