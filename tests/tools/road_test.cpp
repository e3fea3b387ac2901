// The main road, as a person walks it: every command line of the README, and what each verb promises.

#include "krohn/constructions/files/safetensors.h"
#include "tests/tools/shell.h"
#include "tools/krohn/report/output.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

/// The verbs as the page of the command lists them: examples of later ones read what those of earlier ones write.
std::vector<std::string> verbs() {
  std::vector<std::string> all;
  std::istringstream page(Workplace("verbs").shell("krohn --help").out);
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("  ") && !line.starts_with("  krohn ")) all.push_back(line.substr(2, line.find(' ', 2) - 2));
  return all;
}

}  // namespace

TEST_CASE("the three lines of the README") {
  const Workplace place("three-lines");
  const std::string compile = "krohn compile 'regex:(a|b)*abb' -o abb.safetensors";
  const std::string verify = "krohn verify abb.safetensors --length 1e8";
  const std::string draw = "krohn draw 'regex:(a|b)*abb' -o abb.svg";
  const std::string readme = contents(KROHN_ROOT "/README.md");
  for (const std::string& line : {compile, verify, draw}) CHECK_MESSAGE(contains(readme, line), line);

  const Outcome compiled = place.expect(0, compile);
  CHECK(compiled.err == "");
  CHECK(contains(readme, compiled.out));
  const Outcome verified =
      place.expect(0, verify, {"proved for words of every length", "100,000,000 letters of random words"});
  CHECK(contains(readme, verified.out));
  place.expect(0, draw);
  CHECK(contains(contents(place / "abb.svg"), "</svg>"));
  CHECK(place.files() == std::vector<std::string>{"abb.safetensors", "abb.svg"});
}

TEST_CASE("the README's story of a trained model is true") {
  const Workplace place("story");
  std::istringstream readme(contents(KROHN_ROOT "/README.md"));
  std::map<std::string, std::string> lines;  // by verb, without the comment
  for (std::string line; std::getline(readme, line);)
    if (line.starts_with("    krohn "))
      lines[line.substr(10, line.find(' ', 10) - 10)] = line.substr(0, line.find('#'));
  REQUIRE(lines.size() == 5);
  place.make(lines["train"]);
  const json lengths = json::parse(place.shell(lines["eval"] + " --json").out)["lengths"];
  REQUIRE(lengths.size() == 1);
  CHECK(lengths[0]["words_right"] == 300);
  const json verdict = place.report(1, lines["verify"] + " --json")["verdict"];
  // Other kinds of processors train to other parameters, and fail at another length.
  if (__builtin_cpu_supports("avx512f")) {
    CHECK(verdict["failing_word_length"] == 380);
    CHECK(verdict["failing_word"] == std::string(380, '1'));
  }
  place.expect(0, lines["extract"]);
  CHECK(contains(place.shell("krohn info learned.dot").out, "2, minimal"));
  place.expect(0, lines["snap"], {"parity-scalar", "proved for words of every length"});
}

TEST_CASE("the README fits two screens and names every verb") {
  const std::string readme = contents(KROHN_ROOT "/README.md");
  CHECK(std::count(readme.begin(), readme.end(), '\n') <= 90);
  for (const std::string& verb : verbs())
    if (verb != "completion") CHECK_MESSAGE(contains(readme, "`krohn " + verb), verb);
}

TEST_CASE("other usual names are understood") {
  const Workplace place("usual");
  for (const char* version : {"version", "--version", "-v", "-V"})
    CHECK(place.shell(std::string("krohn ") + version).out.starts_with("krohn 0."));
  CHECK(place.shell("krohn help").out == place.shell("krohn --help").out);
  CHECK(place.shell("krohn help run").out == place.shell("krohn run --help").out);
  place.make("krohn compile name:S3 --precision BFloat16 -o s3.safetensors");
  for (const char* name : {"float32", "half", "bfloat16", "double", "FP32"})
    place.expect(0, std::string("krohn run s3.safetensors random:9 --precision ") + name);
  place.expect(0, "krohn compile name:S3 --target PyTorch -o torch");
  CHECK(place.files() == std::vector<std::string>{"s3.safetensors", "torch"});
  const Outcome models = place.expect(0, "krohn train --model list");
  for (const char* family : {"bilinear:", "deltaproduct:", "mamba:"}) CHECK(contains(models.out, family));
}

TEST_CASE("any language is a task") {
  const Workplace place("language-tasks");
  place.make("krohn convert 'regex:(ab)*' ab.json");
  place.expect(0, "krohn tasks 'regex:(a|b)*abb' --length 3 --count 2 -o abb.jsonl");
  CHECK(contains(contents(place / "abb.jsonl"), R"("tokens":["a","b","b"],"targets":["reject","reject","accept"])"));
  CHECK(contains(place.shell("krohn tasks ab.json --length 4 --count 1 --to csv").out, "sample,length"));
  const std::string train = "krohn train ab.json --model bilinear:hidden=4,inputs=4 --steps 3 --length 2..5 -o run";
  place.make(train);
  place.expect(0, "krohn eval run --lengths 5 --words 10");
}

TEST_CASE("JSON has a schema, and counts are numbers while every reader holds them") {
  const Workplace place("schema");
  for (const char* line : {"krohn info name:S5 --json", "krohn run name:S3 random:5 --json",
                           "krohn tasks --list --json", "krohn classify name:parity --json"}) {
    CAPTURE(line);
    const json report = json::parse(place.shell(line).out);
    REQUIRE(report.is_object());
    CHECK(report["schema"] == krohn::kJsonSchema);
  }
  CHECK(krohn::exact_count("9007199254740992") == std::uint64_t{1} << 53);
  CHECK(krohn::exact_count("9007199254740993") == "9007199254740993");
  CHECK(krohn::exact_count("0") == 0);
  CHECK(krohn::exact_count("99999999999999999999999") == "99999999999999999999999");
}

TEST_CASE("a group that is too large to list still says what is known") {
  const Workplace place("large-groups");
  struct Fact {
    const char *name, *order;
  };
  for (const auto& [name, order] : {Fact{"M24", "244823040"}, Fact{"Rubik", "43252003274489856000"}}) {
    place.expect(3, std::string("krohn info name:") + name,
                 {std::string("order ") + order, "2> " + std::string("name:") + name + "/points"});
  }
  CHECK(contains(place.shell("krohn info name:Rubik/points").out,
                 "the group of that name has order 43252003274489856000"));
}

TEST_CASE("every verb has a page that begins with examples") {
  const Workplace place("help");
  const std::vector<std::string> listed = verbs();
  std::set<std::string> pages;
  for (const auto& page : std::filesystem::directory_iterator(KROHN_ROOT "/tools/krohn/help"))
    pages.insert(page.path().stem());
  CHECK(std::set<std::string>(listed.begin(), listed.end()) == pages);
  for (const std::string& verb : listed) {
    const Outcome page = place.expect(0, "krohn " + verb + " --help", {"\n  krohn " + verb});
    CHECK(page.err == "");
    CHECK(page.out.starts_with("krohn " + verb));
  }
  CHECK(place.shell("krohn --version").out.starts_with("krohn 0."));
}

TEST_CASE("every verb that writes says in the same words what to add where it is not told where") {
  const Workplace place("nowhere");
  std::size_t writing = 0;
  for (const std::string& verb : verbs()) {
    std::istringstream page(place.shell("krohn " + verb + " --help").out);
    std::string synopsis;
    std::getline(page, synopsis);
    int depth = 0;  // of square brackets: what may be left out
    std::string needed;
    for (const char c : synopsis) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (depth == 0) needed += c;
    }
    if (!contains(needed, " -o ") && !contains(needed, " OUT")) continue;
    ++writing;
    CAPTURE(synopsis);
    const bool has_model = contains(needed, "--model"), has_kind = contains(needed, "--as");
    const Outcome outcome =
        place.expect(2, "krohn " + verb + (contains(needed, verb + " -o") ? "" : " x") +
                            (has_model ? " --model bilinear" : "") + (has_kind ? " --as gru --against x" : ""));
    CHECK_MESSAGE(outcome.err.starts_with("krohn: nowhere to write the "), outcome.err);
    CHECK(contains(outcome.err, ": add `-o "));
  }
  CHECK(writing == 9);
  CHECK(place.files().empty());
}

TEST_CASE("every example of every page works") {
  const Workplace place("examples");
  place.write("tcp.dot", contents(KROHN_TEST_DATA "/aalpy/tcp_server_bsd_trans.dot"));
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  place.make("krohn verify abb.safetensors --certificate abb.cert");
  place.write("zp.att", contents(KROHN_TEST_DATA "/mlregtest/04.04.Zp.2.1.0.att"));
  place.write("zp.syms", contents(KROHN_TEST_DATA "/mlregtest/alph4.txt"));
  place.make("krohn compile name:S5 -o s5.safetensors");
  place.make("krohn compile name:Z5 -o z5.safetensors");
  place.make(
      "krohn compile name:parity --target torch-gru -o gru && mv gru/parameters.safetensors "
      "gru.safetensors");
  place.make(
      "krohn compile name:tomita1 --target transformers-mamba2 -o m && mv m/parameters.safetensors "
      "mamba2.safetensors && krohn compile name:parity --target fla-gated-deltanet -o d && mv "
      "d/model.safetensors delta.safetensors && krohn import gru.safetensors --as gru --against "
      "name:parity -o gru-run");
  place.write("words.jsonl",
              "{\"word\": \"1101\", \"answer\": \"accept\"}\n{\"word\": \"11\", \"answer\": \"reject\"}\n");
  place.make(
      "krohn compile name:S3/adjacent --target olmo-hybrid -o Olmo-Hybrid-7B && cp -r Olmo-Hybrid-7B "
      "trained && cp -r trained converted");
  place.make("krohn compile name:tomita1 --target qwen3-next -o Qwen3-Next-80B-A3B-Instruct");
  krohn::TensorFile sequential = krohn::read_safetensors(KROHN_TEST_DATA "/cells/gru-sequential.safetensors");
  for (const char* extra : {"words", "logits32", "logits64"}) sequential.tensors.erase(extra);
  place.write("sequential.safetensors", krohn::format_safetensors(sequential));
  int examples = 0;
  for (const std::string& verb : verbs()) {
    if (verb == "import")
      place.make(
          "krohn compile 'regex:(a|b)*abb' --target torch-lstm -o lstm && mv "
          "lstm/parameters.safetensors abb.safetensors");
    std::istringstream page(place.shell("krohn " + verb + " --help").out);
    for (std::string line; std::getline(page, line);) {
      if (!line.starts_with("  krohn ")) continue;
      CAPTURE(line);
      const Outcome outcome = place.shell(line);
      // A model of a few steps is refuted, which the page then shows.
      const bool may_be_refuted =
          line.starts_with("  krohn report run/") || line.starts_with("  krohn extract parity-run/");
      CHECK_MESSAGE((outcome.status == 0 || (may_be_refuted && outcome.status == 1)), outcome.err);
      ++examples;
    }
  }
  CHECK(examples >= 20);
}

TEST_CASE("exit statuses: proved 0, refuted 1, undecided 3") {
  const Workplace place("statuses");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  const Outcome refuted = place.expect(1, "krohn verify z5.safetensors --precision bf16 --json --certificate z5.json");
  const json found = json::parse(refuted.out);
  CHECK(found["verdict"]["claim"] == "refuted");
  CHECK(found["verdict"]["failing_word_length"] == 249);  // MATH.md §5
  CHECK(contains(refuted.err, "z5.json shows that the word fails, not that no shorter one does"));
  CHECK(contains(contents(place / "z5.json"), R"("claim":"refuted","shortest":false,"method":"failing word")"));
  place.expect(3, "krohn verify z5.safetensors --precision fp32 --max-pairs 1000");
  place.expect(0, "krohn verify z5.safetensors --precision fp32 --max-pairs 1000 --length 5");
}

TEST_CASE("any order: established for what is exact, undecided for what rounds, refused where it makes no sense") {
  const Workplace place("any-order");
  const std::string verify = "krohn verify m.safetensors --precision bf16 --any-order";
  for (const std::string language :
       {"name:S5 --generators transpositions", "name:S4 --keys doubled", "'regex:(a|b)*abb'"}) {
    CAPTURE(language);
    place.make("krohn compile " + language + " -o m.safetensors");
    place.expect(0, verify + " --certificate m.cert", {"in any order of evaluation"});
    CHECK(contains(contents(place / "m.cert"), R"("order":"any","claim":"proved","method":"exact in any order")"));
    CHECK(contains(place.shell("krohn check m.cert m.safetensors").out, "established"));
  }
  place.expect(0, "krohn compile name:Z5 --any-order --precision bf16 --explain -o z5.safetensors",
               {"in any order, in bf16: permutation: proved", "in any order, in bf16: rotation: no: its numbers round",
                "z5.safetensors: name:Z5 by permutation"});
  place.expect(0, "krohn verify z5.safetensors --precision bf16 --any-order");
  place.make("krohn compile name:Z5 --construction rotation -o m.safetensors");
  place.expect(3, verify + " --certificate none.cert", {"not shown: "});
  CHECK(!std::filesystem::exists(place / "none.cert"));
}

TEST_CASE("compiling for a precision rounds the weights and says what that made of them") {
  const Workplace place("quantised");
  const std::string compile = "krohn compile name:Z10 --construction rotation --precision bf16 -o z10.safetensors";
  CHECK(place.report(1, compile + " --json")["verdict"]["failing_word_length"] == 128);  // MATH.md §5
  place.expect(1, compile + " --max-pairs 100");                                         // by a long word, as verify
  place.expect(1, "krohn verify z10.safetensors --precision bf16");
  place.expect(3, "krohn verify z10.safetensors --precision exact --max-pairs 100");
  place.expect(0, "krohn compile name:Z10 --construction rotation -o exact.safetensors");
  place.expect(0, "krohn verify exact.safetensors --precision exact");
  place.expect(0, "krohn compile name:S5 --keys doubled --precision bf16 --exact -o s5.safetensors",
               {"weights rounded to bf16: proved for words of every length"});
}

TEST_CASE("a model is held against a language that it was not told of") {
  const Workplace place("against");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  place.expect(0, "krohn verify abb.safetensors --against 'regex:(b|a)*a(b)b'");
  CHECK(place.report(1, "krohn verify abb.safetensors --against 'regex:(a|b)*ab' --json")["verdict"]["failing_word"] ==
        "ab");
  place.expect(1, "krohn verify abb.safetensors --against 'regex:(a|b|c)*abb'");
}

TEST_CASE("run compares the network with the automaton") {
  const Workplace place("run");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  const json rows = place.report(0, "krohn run abb.safetensors abb abba '' random:1e5 --json")["words"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["automaton"]["output"] == "accept");
  CHECK(rows[1]["network"]["output"] == "reject");
  CHECK(rows[3]["wrong_positions"] == 0);
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' abb --trace").out, "position"));
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' accepted:50").out, "(50 letters): accept"));
  CHECK(contains(place.shell("krohn verify abb.safetensors --length 1000 --words 5 --accepted").out, "5,000 letters"));
  place.write("word.txt", "aababb\n");
  CHECK(contains(place.shell("krohn run 'regex:(a|b)*abb' file:word.txt").out, "accept"));

  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  CHECK(place.report(1, "krohn run z5.safetensors random:1e6 --precision bf16 --json")["words"][0]["wrong_from"] >=
        249);

  const json counts = json::parse(place.shell("krohn run name:parity random:1000 --words 500 --device cpu --json").out);
  std::uint64_t sum = 0;
  for (const auto& row : counts["final_states"]) sum += row["words"].get<std::uint64_t>();
  CHECK(sum == 500);
}

TEST_CASE("explain lists every construction") {
  const Workplace place("explain");
  const Outcome table = place.expect(0, "krohn compile name:S5 --explain");
  for (const char* name : {"one-hot", "permutation", "rotation", "cascade"}) CHECK(contains(table.out, name));
  const json plans = json::parse(place.shell("krohn compile name:S5 --explain --json").out)["plans"];
  int chosen = 0;
  for (const auto& row : plans) chosen += row["chosen"].get<bool>() ? 1 : 0;
  CHECK(chosen == 1);
  CHECK(contains(contents(KROHN_ROOT "/README.md"),
                 "[" + std::to_string(plans.size()) + " constructions](docs/build.md)"));
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
  CHECK(group["group"]["order"] == 120);
  for (const char* file : {"aalpy/tomita_3.dot", "mlregtest/04.04.SL.4.1.3.att", "mata/b-param-easiest-aut0.mata"})
    place.expect(0, "krohn info " + data(file) + " --symbols " + data("mlregtest/alph4.txt"));
}

TEST_CASE("convert keeps the language, whatever the format") {
  const Workplace place("convert");
  place.make("krohn convert 'regex:(a|b)*abb' 0.json");
  for (const std::string extension : {"dot", "gv", "att", "jff", "json"}) {
    place.expect(0, "krohn convert 0.json 1." + extension);
    place.expect(0, "krohn convert 1." + extension + " back.json && cmp 0.json back.json");
  }
  CHECK(place.shell("krohn convert 0.json - --to dot").out.starts_with("digraph"));
  place.expect(0, "krohn convert 0.json 1.mata && krohn equal 0.json 1.mata");  // without state names
}
