// The same question has one answer, whoever asks: `compile --precision`, `verify`, `snap`, `table`; Python in
// tests/python/one_road_test.py.

#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "krohn/groups/base/time_limit.h"
#include "tests/tools/shell.h"
#include "tools/krohn/command.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"

using namespace krohn::test;

namespace {

/// The claim and its grounds; the rest of the report is about the file or the run.
nlohmann::json verdict(const Outcome& outcome) {
  const nlohmann::json report = nlohmann::json::parse(outcome.out, nullptr, false);
  REQUIRE_MESSAGE(report.is_object(), outcome.err);
  return report.at("verdict");
}

}  // namespace

TEST_CASE("compile and verify give one verdict on thirty questions") {
  const Workplace place("one-road");
  const std::vector<std::string> subjects{"name:Z5 --construction rotation",
                                          "name:Z10 --construction rotation",
                                          "name:Z60 --construction rotation",
                                          "name:Z11 --generators standard --construction rotation-snapped",
                                          "name:Z7 --generators standard --construction rotation",
                                          "name:A5/points --construction orthogonal",
                                          "name:S4 --generators transpositions",
                                          "name:tomita3 --construction diagonal-signed",
                                          "name:modarith5",
                                          "'regex:(a|b)*abb' --construction one-hot"};
  int asked = 0;
  for (const std::string& subject : subjects)
    for (const char* precision : {"fp32", "fp16", "bf16"}) {
      const std::string how = std::string(" --max-pairs 5000 --precision ") + precision + " --json";
      CAPTURE(subject);
      CAPTURE(precision);
      const Outcome compiled = place.shell("krohn compile " + subject + " -o m.safetensors" + how);
      if (compiled.status == 2) continue;  // no such construction in this format
      const Outcome verified = place.shell("krohn verify m.safetensors" + how);
      CHECK(compiled.status == verified.status);
      CHECK(verdict(compiled) == verdict(verified));
      ++asked;
      if (verified.status != 0) continue;
      // A proof is not contradicted by another way of reading.
      const std::string through = place
                                      .shell("krohn verify m.safetensors --precision " + std::string(precision) +
                                             " --max-pairs 5000 --length 20000 --json")
                                      .out;
      CHECK(nlohmann::json::parse(through).at("verdict").at("claim") == "proved");
    }
  CHECK(asked >= 27);
}

TEST_CASE("what snap proves, verify proves in the same words") {
  const Workplace place("one-road-snap");
  for (const char* language : {"name:Z5", "name:S3", "name:parity"}) {
    CAPTURE(language);
    place.make(std::string("krohn compile ") + language + " -o m.safetensors");
    const Outcome snapped = place.shell("krohn snap m.safetensors -o s.safetensors --json");
    const Outcome verified = place.shell("krohn verify s.safetensors --max-pairs 1000000 --json");
    CHECK(snapped.status == 0);
    CHECK(verdict(snapped) == verdict(verified));
  }
}

TEST_CASE("what a table says of the model that it kept, verify says of it within the table's limits") {
  namespace fs = std::filesystem;
  const Workplace place("one-road-table");
  place.make("krohn table ebrahimi2 --only 'H = 2' --lengths 400 -o cells");
  int asked = 0;
  for (const auto& entry : fs::directory_iterator(place / "cells")) {
    if (entry.path().extension() != ".json") continue;
    const auto cell = nlohmann::json::parse(contents(entry.path()));
    const auto& best = cell.at("runs").at(cell.at("best").get<std::size_t>());
    const std::string name =
        fmt::format("rate={}-seed={}.safetensors", best.at("rate").get<double>(), best.at("seed").get<std::uint64_t>());
    const std::string trained = cell.at("trained"), lengths = "lengths=";
    const std::string least = trained.substr(trained.find(lengths) + lengths.size());
    CAPTURE(name);
    const auto verified = verdict(
        place.shell(fmt::format("krohn verify 'cells/{}/{}' --max-pairs 20000 --long-letters 300000 --from {} --json",
                                entry.path().stem().string(), name, least.substr(0, least.find('-')))));
    CHECK(cell.at("claim") == verified.at("claim"));
    const char* const of_length = verified.contains("length") ? "length" : "failing_word_length";
    CHECK(cell.at("claim_length") == verified.value(of_length, 0));
    ++asked;
  }
  CHECK(asked > 0);
}

TEST_CASE("a network that snaps is read with its snaps on every path") {
  const Workplace place("one-road-snaps");
  place.make(
      "krohn compile name:Z11 --generators standard --construction rotation-snapped --precision bf16 -o "
      "g.safetensors");
  place.expect(0, "krohn verify g.safetensors --precision bf16 --length 3e5 --save run.json");
  place.expect(0, "krohn verify g.safetensors --precision bf16 --length 3e5");
  place.expect(0, "krohn extract g.safetensors --precision bf16 -o e.dot --against name:Z11 --generators standard");
}

TEST_CASE("models that were once proved and are wrong are refuted by a shortest word") {
  const Workplace place("one-road-findings");
  struct Fact {
    const char *model, *how;
    std::size_t letters;
  };
  for (const Fact& fact : {Fact{"hint_overflow", "--precision fp64", 1}, Fact{"hint_underflow", "--precision fp64", 1},
                           Fact{"saturated", "--precision bf16 --order scan", 2},
                           Fact{"rounded_bound", "--precision fp64 --order scan", 2}, Fact{"snap_far_start", "", 17},
                           Fact{"tie_exact", "--precision exact", 1}, Fact{"subnormal", "--precision fp32", 1}}) {
    CAPTURE(fact.model);
    const Outcome outcome = place.expect(1, std::string("krohn verify " KROHN_ROOT "/tests/data/findings/") +
                                                fact.model + ".safetensors --json " + fact.how);
    const nlohmann::json refuted = verdict(outcome);
    CHECK(refuted.at("claim") == "refuted");
    CHECK(refuted.at("failing_word_length") == fact.letters);
    CHECK(refuted.at("shortest") == true);
  }
}

// The command asked in this process: the same answers, nothing printed, and who hears of progress and interrupts.

using namespace krohn;
using nlohmann::json;

TEST_CASE("what is asked in this process is what --json prints") {
  const Workplace place("asked");
  struct Fact {
    std::vector<std::string> arguments;
    const char* line;
  };
  for (const auto& [arguments, line] :
       {Fact{{"info", "name:S3"}, "krohn info name:S3 --json"},
        {{"equal", "regex:a", "regex:b"}, "krohn equal regex:a regex:b --json"},
        {{"words", "--length=3", "--", "regex:(a|b)*a"}, "krohn words --length 3 'regex:(a|b)*a' --json"}}) {
    CAPTURE(line);
    const test::Outcome printed = place.shell(line);
    const Asked asked = ask_command(arguments);
    CHECK(asked.json == printed.out);
    CHECK(asked.status == printed.status);
  }
}

TEST_CASE("mistakes in the arguments are thrown, in the command's words") {
  CHECK_THROWS_WITH_AS(ask_command({"equal", "regex:a"}), "equal needs OTHER", InputError);
  CHECK_THROWS_AS(ask_command({"info", "--no-such", "regex:a"}), InputError);
  CHECK_THROWS_AS(ask_command({"no such"}), InputError);
  CHECK_THROWS_AS(ask_command({}), InputError);
  CHECK_THROWS_AS(ask_command({"elements", "name:S4", "--max-elements=23"}), LimitError);
  CHECK(ask_command({"elements", "name:S4", "--max-elements=24"}).status == 0);
}

TEST_CASE("JSON is taken by the inner taker of its own thread") {
  const JsonTaker outer;
  {
    const JsonTaker inner;
    print_json({{"a", 1}});
    CHECK(json::parse(inner.text())["a"] == 1);
  }
  CHECK(outer.text().empty());
  print_json({{"b", 2}});
  CHECK(json::parse(outer.text())["b"] == 2);
}

TEST_CASE("a listener hears of the first step, and what it throws ends the work") {
  std::vector<std::string> heard;
  const ProgressListener listener([&heard](const std::string& what, std::uint64_t done, std::uint64_t total) {
    heard.push_back(what + " " + std::to_string(done) + "/" + std::to_string(total));
    if (heard.size() == 3) throw InputError("enough");
  });
  {
    Progress progress("counting");
    progress.update(1, 9);
    progress.update(2, 9);  // at once: too early to tell again
  }
  { const Waiting waiting("drawing"); }
  CHECK(heard == std::vector<std::string>{"counting 1/9", "drawing 0/0"});
  heard.clear();
  {
    Progress progress("counting on");
    for (const std::uint64_t done : {7, 3}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
      progress.update(done, 9);
    }
  }
  CHECK(heard == std::vector<std::string>{"counting on 7/9", "counting on 7/9"});  // never back
  Progress progress("counting again");
  CHECK_THROWS_WITH(progress.update(1), "enough");
}

TEST_CASE("works of one name whose totals are unknown are counted on") {
  const Workplace place("counted");
  const int before = dup(STDERR_FILENO), file = open((place / "err").c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(file, STDERR_FILENO);
  { Progress("counting pairs").update(5); }
  {
    Progress progress("counting pairs");
    std::this_thread::sleep_for(std::chrono::milliseconds(1010));
    progress.update(2);
  }
  dup2(before, STDERR_FILENO);
  close(before), close(file);
  CHECK(contents(place / "err").starts_with("krohn: counting pairs: 7\n"));
}

TEST_CASE("an interruption ends what looks for it, time limits too") {
  const TimeLimit time(1000, "--time 1000");
  CHECK_NOTHROW(TimeLimit::check());
  CHECK_NOTHROW(Interruption::check());
  Interruption::requested = true;
  Progress progress("counting");
  CHECK_THROWS_AS(TimeLimit::check(), Interrupted);
  CHECK_THROWS_AS(Interruption::check(), Interrupted);
  CHECK_THROWS_AS(progress.update(1), Interrupted);
  Interruption::requested = false;
  CHECK_NOTHROW(progress.update(2));
}
