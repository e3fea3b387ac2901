// Tests beyond what is evaluated letter by letter: through the network's states, stopped and gone on with.

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

void compile(const Workplace& place) { place.make("krohn compile name:S3/standard -o s3.safetensors"); }

}  // namespace

TEST_CASE("a long test goes through the network's states and says so") {
  const Workplace place("through-states");
  compile(place);
  place.expect(0, "krohn verify s3.safetensors --length 2e8",
               {"200,000,000 letters of random words, seed 1, through the 6 states that the network"});
  const json through = place.report(
      0, "krohn verify s3.safetensors --length 1e6 --words 3 --save run.json --json")["sampled_through_states"];
  CHECK(through["letters"] == 3'000'000);
  CHECK(through["states"] == 6);
  CHECK(through["right"] == true);
  const Outcome evaluated = place.shell("krohn verify s3.safetensors --length 1e6 --json");
  CHECK(json::parse(evaluated.out).contains("sampled"));
  CHECK_FALSE(json::parse(evaluated.out).contains("sampled_through_states"));
}

TEST_CASE("a run that is stopped again and again ends as one that is not") {
  const Workplace place("resume");
  compile(place);
  const std::string verify = "'" KROHN_COMMAND "' verify s3.safetensors --length 4e9 --seed 3 --json ";
  const Outcome whole = place.expect(0, verify + "--save whole.json");
  int stops = 0;
  Outcome part;
  for (; stops < 200; ++stops) {
    const bool begun = std::filesystem::exists(place / "part.json");
    part = place.shell("timeout --preserve-status -s INT 0.15 " + verify +
                       (begun ? "--resume part.json" : "--save part.json"));
    if (part.status == 0) break;
    if (part.status == 130) continue;  // stopped before the run began, on a busy machine
    REQUIRE(part.status == 3);
    // Earlier proofs stay.
    CHECK(json::parse(part.out)["verdict"]["claim"] == "proved");
    CHECK(contains(json::parse(part.out)["not_tested"].get<std::string>(), "interrupted after"));
    CHECK(contains(part.err, "--resume part.json goes on"));
  }
  MESSAGE("stopped " << stops << " times");
  CHECK(part.status == 0);
  CHECK(part.out == whole.out);
  CHECK(contents(place / "part.json") == contents(place / "whole.json"));
}

TEST_CASE("an interrupt of a run of 10^13 letters saves it and says how to go on") {
  const Workplace place("interrupt");
  compile(place);
  const std::string verify =
      "timeout --preserve-status -s INT 0.5 '" KROHN_COMMAND "' verify s3.safetensors --length 1e13 ";
  Outcome stopped;
  for (int tries = 0; tries < 20 && stopped.status != 3; ++tries) stopped = place.shell(verify + "--save run.json");
  CHECK(stopped.status == 3);
  CHECK(contains(stopped.err, "--resume run.json goes on"));
  const json first = json::parse(contents(place / "run.json"));
  CHECK(first["length"] == 10'000'000'000'000);
  CHECK(first["position"] < first["length"]);
  // The proof and the certificate of one that is not saved stay.
  Outcome lost;
  for (int tries = 0; tries < 20 && lost.out.empty(); ++tries) {
    lost = place.shell(verify + "--certificate s3.cert");
    CHECK(lost.status == 130);
  }
  CHECK(contains(lost.out, "proved for words of every length"));
  CHECK(contains(lost.err, "not read to the end"));
  place.expect(0, "krohn check s3.cert s3.safetensors");
}

TEST_CASE("a saved run is gone on with only as it was begun") {
  const Workplace place("resume-refused");
  compile(place);
  const std::string begun = "krohn verify s3.safetensors --length 1e6 --resume run.json";
  place.make("krohn verify s3.safetensors --length 1e6 --save run.json");
  place.expect(0, begun);
  const json saved = json::parse(contents(place / "run.json"));
  struct Change {
    std::string name, value;
  };
  for (const Change& change :
       {Change{"format", "\"krohn saved run 1\""}, Change{"model", "\"0\""}, Change{"arithmetic", "\"fp64\""},
        Change{"form", "\"dense\""}, Change{"length", "5"}, Change{"words", "2"}, Change{"seed", "2"},
        Change{"word", "-1"}, Change{"word", "7"}, Change{"position", "1e300"}, Change{"position", "2000000"},
        Change{"position", "1"}, Change{"machine_state", "6"}, Change{"automaton_state", "99999999999"},
        Change{"automaton_state", std::to_string((saved["automaton_state"].get<int>() + 1) % 6)},
        Change{"comparisons", "\"many\""}}) {
    CAPTURE(change.name);
    CAPTURE(change.value);
    json changed = saved;
    changed[change.name] = json::parse(change.value);
    place.write("run.json", changed.dump());
    const Outcome refused = place.expect(2, begun, {"run.json"});
    CHECK(refused.out == "");
  }
  for (const char* text : {"", "[]", "{", "{}"}) {
    place.write("run.json", text);
    place.expect(2, begun);
  }
  place.expect(2, "krohn verify s3.safetensors --length 1e6 --resume absent.json");
  place.expect(2, "krohn verify s3.safetensors --save run.json");
  place.expect(2, "krohn verify s3.safetensors --length 10 --accepted --save run.json");
}

using nlohmann::json;

TEST_CASE("verify in an evaluation order: exact weights in every association, rotations each by itself") {
  const Workplace place("orders");
  place.make("krohn compile name:S5 -o s5.safetensors");
  place.make("krohn compile name:Z60 --construction rotation -o z60.safetensors");
  place.expect(0, "krohn verify s5.safetensors --precision bf16 --order scan --length 1e4",
               {"proved for words of every length, in every association of the letters' stored matrices",
                "scan evaluation", "all correct"});

  const json certificate =
      place.report(1, "krohn verify z60.safetensors --precision bf16 --order scan --max-pairs 1e6 --json")["verdict"];
  CHECK(certificate["order"] == "scan");
  CHECK(certificate["shortest"] == false);
  place.expect(3, "krohn verify z60.safetensors --precision fp64 --order chunked:8 --max-pairs 1e4");

  place.expect(1, "krohn run z60.safetensors random:1e5 --precision bf16 --order doubling");
  place.expect(0, "krohn run s5.safetensors random:1000 --precision bf16 --order chunked:16");
}
