// The same question has one answer, whoever asks: `compile --precision`, `verify`, `snap`, `table`; Python in
// tests/python/one_road_test.py.

#include "tests/tools/shell.h"

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
