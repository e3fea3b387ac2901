// Impossible requests are refused before long work begins, not after it.

#include "tests/tools/shell.h"

using namespace krohn::test;

TEST_CASE("every refusal is a clear line on standard error and status 2, and nothing is written") {
  const Workplace place("refusals");
  std::istringstream rows(contents(KROHN_ROOT "/tests/tools/refusals.txt"));
  std::size_t refusals = 0;
  for (std::string row; std::getline(rows, row);) {
    if (row.empty() || row.starts_with("#")) continue;
    CAPTURE(row);
    if (row.starts_with("$ ")) {
      place.make(row.substr(2));
      continue;
    }
    const std::size_t arrow = row.find(" =>"), said = row.find(' ', arrow + 1);
    REQUIRE(said != std::string::npos);
    const bool lists = row[said - 1] == row[said - 2];
    const std::vector<std::string> before = place.files();
    const Outcome outcome = place.expect(2, row.substr(0, arrow));
    CHECK(outcome.out == "");
    CHECK(outcome.err.starts_with("krohn: "));
    const std::size_t last = outcome.err.rfind("\nkrohn: ") + 1;  // lines before it tell of work that takes seconds
    CHECK((lists || std::ranges::count(outcome.err.substr(last), '\n') <= 2));
    CHECK(outcome.err.size() < (lists ? 3000 : 1000));
    CHECK_MESSAGE(contains(outcome.err, row.substr(said + 1)), outcome.err);
    for (const char* foreign : {"subcommand", "not expected", "not in {"}) CHECK(!contains(outcome.err, foreign));
    CHECK(place.files() == before);
    ++refusals;
  }
  CHECK(refusals > 200);
}

namespace {

/// A question that takes minutes, so that a late refusal is none.
std::string asked(const std::string& options) {
  return "timeout 60 '" KROHN_COMMAND "' verify z60.safetensors --max-pairs 1e9 " + options;
}

}  // namespace

TEST_CASE("verify refuses at once what it could not obey in the end") {
  const Workplace place("refused");
  place.make("krohn compile name:Z60 --construction rotation -o z60.safetensors");
  place.expect(124, "timeout 2 '" KROHN_COMMAND "' verify z60.safetensors --max-pairs 1e9");
  struct Fact {
    const char *options, *says;
  };
  for (const Fact& fact :
       {Fact{"--certificate nowhere/c.json", "nowhere/c.json"},
        Fact{"--certificate c.json --order scan", "--certificate"},
        Fact{"--length 1e6 --save nowhere/run.json", "nowhere/run.json"},
        Fact{"--length 1e6 --resume absent.json", "absent.json"}, Fact{"--save run.json", "--length"},
        Fact{"--length 10 --accepted", "accept"}, Fact{"--length 10 --order scan --through states", "--order"},
        Fact{"--length 10 --test-only --through states", "--test-only"}, Fact{"--test-only", "--length"},
        Fact{"--length 10 --words 0", "--words"}, Fact{"--against name:Z7", "name:Z7"},
        Fact{"--against nothing.dot", "nothing.dot"}, Fact{"--from 3", "--from"}}) {
    CAPTURE(fact.options);
    const Outcome outcome = place.expect(2, asked(fact.options), {fact.says});
    CHECK(outcome.out.empty());
  }
  CHECK(place.files() == std::vector<std::string>{"z60.safetensors"});
}

TEST_CASE("compile and snap refuse at once where they cannot write") {
  const Workplace place("refused-outputs");
  place.expect(2,
               "timeout 60 '" KROHN_COMMAND
               "' compile name:Z60 --construction rotation --precision fp32 --max-pairs 1e9 -o "
               "nowhere/z60.safetensors",
               {"nowhere/z60.safetensors"});
  place.make("krohn compile name:Z5 -o z5.safetensors");
  for (const char* options : {"-o nowhere/s.safetensors", "-o s.safetensors --against name:Z7"})
    place.expect(2, std::string("krohn snap z5.safetensors ") + options);
  CHECK(place.files() == std::vector<std::string>{"z5.safetensors"});
}

TEST_CASE("a checkpoint without a token that begins words is not asked about the empty word, and says so") {
  const Workplace place("no-begin");
  place.make("krohn compile name:parity --target fla-deltanet -o c");
  place.expect(0, "krohn verify c --max-pairs 500", {"which begins it; the empty word is that token alone"});
  auto tokens = nlohmann::json::parse(contents(place / "c/tokens.json"));
  tokens["begin"] = nullptr;
  place.write("c/tokens.json", tokens.dump());
  const Outcome without = place.shell("krohn verify c --max-pairs 500 --json");
  CHECK(nlohmann::json::parse(without.out).at("begin_token").is_null());
  CHECK(contains(place.shell("krohn verify c --max-pairs 500").out, "nothing is asked of the empty word"));
  // A language that differs on the empty word alone is the same one here.
  const auto verdict = [](const Outcome& outcome) { return nlohmann::json::parse(outcome.out).at("verdict"); };
  const Outcome own = place.shell("krohn verify c --max-pairs 500 --against name:parity --json");
  CHECK(verdict(own) == verdict(without));
  const Outcome other = place.shell("krohn verify c --max-pairs 500 --against 'regex:(0*1(0|10*1)*)?' --json");
  CHECK(verdict(other) == verdict(without));
}

// Input that went wrong: one clear line, status 2, and nothing half-written.

namespace {

void check_refusal(const Outcome& outcome, const std::string& mentioning = "") {
  CHECK(outcome.status == 2);
  CHECK(outcome.out == "");
  CHECK(outcome.err.starts_with("krohn: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 3);
  CHECK(outcome.err.size() < 1000);
  CHECK_MESSAGE(contains(outcome.err, mentioning), outcome.err);
}

constexpr const char* kExtensions[] = {"dot", "att", "mata", "jff", "json", "safetensors"};

}  // namespace

TEST_CASE("an empty file") {
  const Workplace place("empty");
  for (const std::string extension : kExtensions) {
    CAPTURE(extension);
    place.write("empty." + extension, "");
    check_refusal(place.shell("krohn info empty." + extension), "empty." + extension);
  }
}

TEST_CASE("a file of another format, or that does not exist") {
  const Workplace place("wrong-format");
  for (const std::string extension : kExtensions) {
    CAPTURE(extension);
    place.write("wrong." + extension, "this is not an automaton; it is a sentence\n");
    check_refusal(place.shell("krohn info wrong." + extension), "wrong." + extension);
    check_refusal(place.shell("krohn info absent." + extension), "absent." + extension);
    place.write("binary." + extension, std::string("\x7f"
                                                   "ELF\0\1\2\xff\xfe",
                                                   9));
    check_refusal(place.shell("krohn info binary." + extension), "binary." + extension);
  }
  check_refusal(place.shell("krohn info ."));
  check_refusal(place.shell("krohn info 'name:tomita9'"), "tomita9");
  check_refusal(place.shell("krohn info '(a|b)*abb'"));
}

TEST_CASE("two starts, missing states, nondeterminism in a machine with outputs") {
  const Workplace place("states");
  place.write("two.json", R"({"alphabet":["a"],"states":2,"initial":[0,1],"accepting":[1],"transitions":[[1],[0]]})");
  check_refusal(place.shell("krohn info two.json"), "two.json");
  place.write("two.jff", R"(<structure><type>fa</type><automaton>
    <state id="0"><initial/></state><state id="1"><initial/></state></automaton></structure>)");
  check_refusal(place.shell("krohn info two.jff"), "two.jff");
  place.write("missing.jff", R"(<structure><type>fa</type><automaton><state id="0"><initial/></state>
    <transition><from>0</from><to>7</to><read>a</read></transition></automaton></structure>)");
  check_refusal(place.shell("krohn info missing.jff"), "7");
}

TEST_CASE("an unknown symbol") {
  const Workplace place("symbol");
  check_refusal(place.shell("krohn run 'regex:(a|b)*abb' abc"), "c");
  place.write("unknown.att", "0 1 x x\n1\n");
  place.write("symbols.txt", "<eps> 0\na 1\n");
  check_refusal(place.shell("krohn info unknown.att --symbols symbols.txt"), "x");
}

TEST_CASE("expressions that would explode") {
  const Workplace place("explode");
  check_refusal(place.shell("krohn info 'regex:a{1,1000000000}'"), "regex:");
  place.write("deep.txt", std::string(1'000'000, '(') + "a" + std::string(1'000'000, ')'));
  place.expect(0, "krohn info deep.txt --format regex");  // deep, but not bad
  place.write("open.txt", std::string(1'000'000, '('));
  check_refusal(place.shell("krohn info open.txt --format regex"), "open.txt");
}

TEST_CASE("invalid UTF-8") {
  const Workplace place("utf8");
  check_refusal(place.shell("krohn info $'regex:a\\xff'"), "UTF-8");
  for (const std::string extension : {"dot", "att", "mata", "jff", "json"}) {
    CAPTURE(extension);
    place.write("bad." + extension, "digraph { \"\xff\xfe\" -> b }\n");
    check_refusal(place.shell("krohn info bad." + extension), "bad." + extension);
  }
}

TEST_CASE("safetensors that lie about their lengths") {
  const Workplace place("safetensors");
  place.write("huge.safetensors", std::string("\0\0\0\0\1\0\0\0", 8) + "{}");
  check_refusal(place.shell("krohn verify huge.safetensors"), "huge.safetensors");
  place.write("negative.safetensors", std::string(8, '\xff') + "{}");
  check_refusal(place.shell("krohn verify negative.safetensors"), "negative.safetensors");
  place.make("krohn compile name:S3 -o s3.safetensors");
  const std::string whole = contents(place / "s3.safetensors");
  for (const std::size_t size : {std::size_t{7}, std::size_t{8}, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    place.write("cut.safetensors", whole.substr(0, size));
    check_refusal(place.shell("krohn verify cut.safetensors"), "cut.safetensors");
  }
}

TEST_CASE("a full disk") {
  const Workplace place("disk");
  check_refusal(place.shell("krohn compile name:S5 -o /dev/full"), ".safetensors");
  check_refusal(
      place.shell("krohn draw name:S4 -o full.svg && ln -s /dev/full full.dot && krohn draw name:S4 -o full.dot"),
      "No space left");
  std::filesystem::remove(place / "full.dot");
  std::filesystem::remove(place / "full.svg");
  Outcome closed = place.shell("krohn info name:S5 > /dev/full");
  check_refusal(closed, "standard output");

  // A file system of 64 KiB of our own, where user namespaces allow one.
  const std::string mounted =
      "unshare --map-root-user --mount bash -c 'mkdir -p small && mount -t tmpfs -o size=64k none small";
  if (place.shell(mounted + "'").status != 0) {
    MESSAGE("no tmpfs can be mounted here; /dev/full stood in for it");
    return;
  }
  const Outcome full = place.shell(mounted + " && echo old > small/s5.safetensors && { \"" KROHN_COMMAND
                                             "\" compile name:S5 -o small/s5.safetensors; status=$?; "
                                             "ls -A small > left; cat small/s5.safetensors >> left; exit $status; }'");
  check_refusal(full, "No space left");
  CHECK(contents(place / "left") == "s5.safetensors\nold\n");
}

TEST_CASE("Ctrl-C in the middle of writing") {
  const Workplace place("interrupt");
  place.expect(130,
               "'" KROHN_COMMAND
               "' tasks parity --length 1e6 --count 1e6 -o words.jsonl & pid=$!\n"
               "for i in $(seq 100); do ls .*.krohn-tmp >/dev/null 2>&1 && break; sleep 0.05; done\n"
               "ls .*.krohn-tmp >/dev/null && touch was-writing; kill -INT $pid; wait $pid",
               {"2> krohn: interrupted"});
  CHECK(place.files() == std::vector<std::string>{"was-writing"});
}
