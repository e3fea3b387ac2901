// Impossible requests are refused before long work begins, not after it.

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

/// Runs a line that must be refused: status 2, `part` in a line on standard error and perhaps a hint, or in a list of
/// all that was tried, no file made, and no minute of work before.
void refuse(const Workplace& place, const std::string& line, const std::string& part, bool lists = false) {
  const std::vector<std::string> before = place.files();
  const Outcome outcome = place.expect(2, "ulimit -t 60; " + line);
  CHECK(outcome.out == "");
  CHECK(outcome.err.starts_with("krohn: "));
  const std::size_t last = outcome.err.rfind("\nkrohn: ") + 1;  // lines before it tell of work that takes seconds
  CHECK((lists || std::ranges::count(outcome.err.substr(last), '\n') <= 2));
  CHECK(outcome.err.size() < (lists ? 3000 : 1000));
  CHECK_MESSAGE(contains(outcome.err, part), outcome.err);
  for (const char* foreign : {"subcommand", "not expected", "not in {"}) CHECK(!contains(outcome.err, foreign));
  CHECK(place.files() == before);
}

std::string with(std::string row, const std::string& x) {
  for (std::size_t at = 0; (at = row.find("$x", at)) != std::string::npos; at += x.size()) row.replace(at, 2, x);
  return row;
}

}  // namespace

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
    std::istringstream values("x");
    if (row.starts_with("for ")) {
      const std::size_t end = row.find(": ");
      values.str(row.substr(4, end - 4));
      row.erase(0, end + 2);
    }
    const std::size_t arrow = row.find(" =>"), said = row.find(' ', arrow + 1);
    REQUIRE(said != std::string::npos);
    for (std::string x; values >> x; ++refusals)
      refuse(place, with(row.substr(0, arrow), x), with(row.substr(said + 1), x), row[said - 1] == row[said - 2]);
  }
  CHECK(refusals > 300);
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

TEST_CASE("a full disk") {
  const Workplace place("disk");
  refuse(place, "krohn compile name:S5 -o /dev/full", ".safetensors");
  place.make("krohn draw name:S4 -o full.svg && ln -s /dev/full full.dot");
  refuse(place, "krohn draw name:S4 -o full.dot", "No space left");
  refuse(place, "krohn info name:S5 > /dev/full", "standard output");

  // A file system of 64 KiB of our own, where user namespaces allow one.
  const std::string mounted =
      "unshare --map-root-user --mount bash -c 'mkdir -p small && mount -t tmpfs -o size=64k none small";
  if (place.shell(mounted + "'").status != 0) {
    MESSAGE("no tmpfs can be mounted here; /dev/full stood in for it");
    return;
  }
  place.write("left", "");
  refuse(place,
         mounted + " && echo old > small/s5.safetensors && { \"" KROHN_COMMAND
                   "\" compile name:S5 -o small/s5.safetensors; status=$?; "
                   "ls -A small > left; cat small/s5.safetensors >> left; exit $status; }'",
         "No space left");
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
