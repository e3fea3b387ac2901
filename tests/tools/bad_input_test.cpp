// Input that went wrong: one clear line, status 2, and nothing half-written.

#include "tests/tools/shell.h"

using namespace krohn::test;

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
