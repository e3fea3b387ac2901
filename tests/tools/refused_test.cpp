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
