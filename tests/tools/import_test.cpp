// Models trained elsewhere, exact cells and audits, as a person asks for them.

#include <doctest/doctest.h>

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

const std::string kCells = std::string(KROHN_TEST_DATA) + "/cells/";

}  // namespace

TEST_CASE("an exact cell is written as a run, proved, and read by every verb that takes runs") {
  const Workplace place("exact-cells");
  for (const std::string target : {"torch-rnn", "torch-rnn-relu", "torch-gru", "torch-lstm"}) {
    CAPTURE(target);
    const Outcome made = place.shell("krohn compile 'regex:(a|b)*abb' --target " + target + " -o run");
    REQUIRE(made.status == 0);
    CHECK(contains(made.out, "proved for words of every length"));
    CHECK(place.shell("krohn verify run").status == 0);
    CHECK(place.shell("krohn verify run --precision bf16").status == 0);
    CHECK(place.shell("krohn verify run --against 'regex:(a|b)*ab'").status == 1);
    CHECK(place.shell("krohn extract run -o again.json --against 'regex:(a|b)*abb'").status == 0);
    CHECK(contains(place.shell("krohn eval run --lengths 50 --words 20").out, "1.0000"));
    REQUIRE(place.shell("krohn snap run -o snapped.safetensors --against 'regex:(a|b)*abb'").status == 0);
    CHECK(contains(place.shell("krohn compare run snapped.safetensors").out, "act by no matrices"));
    CHECK(place.shell("krohn compare run snapped.safetensors --plot a.svg").status == 2);
  }
  CHECK(place.shell("krohn compile name:S3 --target torch-gru --construction permutation -o no").status == 2);
  CHECK(place.shell("krohn compile name:S3 --target torch-gru").status == 2);
  CHECK(place.shell("krohn compile name:S3 --target torch-gru --task state -o no").status == 2);
  CHECK_FALSE(std::filesystem::exists(place / "no"));
}

TEST_CASE("a state dict becomes a run, and the file of an exact cell is one") {
  const Workplace place("import");
  REQUIRE(place.shell("krohn import '" + kCells + "lstm.safetensors' --as lstm --against 'regex:(a|b|c)*a' -o run")
              .status == 2);  // it also holds words and logits
  REQUIRE(place.shell("krohn compile name:parity --target torch-lstm -o exact").status == 0);
  const std::string line = "krohn import exact/parameters.safetensors --as lstm --against name:parity ";
  REQUIRE(place.shell(line + "-o run").status == 0);
  CHECK(place.shell("krohn verify run").status == 0);
  // Letters and answers that change places make another language: an even number of zeros read as ones.
  REQUIRE(place.shell(line + "--letters 0=1,1=0 -o swapped").status == 0);
  CHECK(place.shell("krohn verify swapped").status == 1);
  REQUIRE(place.shell(line + "--classes reject=1,accept=0 -o other").status == 0);
  CHECK(place.shell("krohn verify other").status == 1);
  const auto says = [&](const std::string& options, const std::string& text) {
    const Outcome refused = place.shell(line + options + " -o no");
    CAPTURE(options);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, text));
  };
  says("--letters 0=1", "letter \"1\" has no number");
  says("--letters 0=1,1=1", "stands there twice");
  says("--letters 0=1,2=0", "there is no letter \"2\"");
  says("--letters 0=x,1=0", "is not NAME=NUMBER");
  says("--letters 0=0,1=2", "no number 2");
  place.write("pickled.pt", std::string("PK\3\4 and more of it", 20));
  const Outcome pickled = place.shell("krohn import pickled.pt --as gru --against name:parity -o no");
  CHECK(pickled.status == 2);
  CHECK(contains(pickled.err, "safetensors.torch.save_file"));
  CHECK_FALSE(std::filesystem::exists(place / "no"));
}

TEST_CASE("an audit says what a config alone excludes") {
  const Workplace place("audit");
  std::filesystem::create_directories(place / "model");
  place.write("model/config.json", R"({"model_type": "qwen3_next", "num_hidden_layers": 8})");
  const Outcome audited = place.shell("krohn audit model");
  CHECK(audited.status == 0);
  CHECK(contains(audited.out, "6 of 8 layers, by the config alone"));
  CHECK(contains(audited.out, "never: parity"));
  const json report = json::parse(place.shell("krohn audit model --json").out);
  CHECK(report["recurrent_layers"] == 6);
  CHECK(report["by_layer"][0]["heads"].size() == 32);
  CHECK(report["config_only"] == true);
  place.write("model/config.json", R"({"model_type": "gpt2", "num_hidden_layers": 8})");
  CHECK(place.shell("krohn audit model").status == 2);
  CHECK(place.shell("krohn audit nowhere").status == 2);
}

TEST_CASE("an audit of a checkpoint that krohn wrote finds what its construction needs") {
  const Workplace place("audit-own");
  for (const std::string target : {"fla-deltanet", "fla-gated-deltanet", "fla-kda", "olmo-hybrid"}) {
    CAPTURE(target);
    REQUIRE(place.shell("krohn compile name:parity --target " + target + " -o model").status == 0);
    const json report = json::parse(place.shell("krohn audit model --json").out);
    CHECK(report["config_only"] == false);
    CHECK(report["all"]["least_eigenvalue"].get<double>() < -0.999999);
    std::filesystem::remove_all(place / "model");
  }
}
