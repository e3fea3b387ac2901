// `krohn table` as a person uses it: what it says of the papers' protocols, folders that tables share, shards, rivals.

#include "krohn/simulate/closing/proof_rounds.h"
#include "tests/tools/shell.h"
#include "tools/krohn/training/table_report.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("a table with rivals asks the Python that has them, and shows what it says below krohn's rows") {
  const Workplace place("table-rivals");
  const std::string line = "krohn table ebrahimi1 --rivals --only Transformer --seeds 2 --seed 31 -o cells";
  const Outcome none = place.expect(2, "export KROHN_PYTHON=/nonexistent/python; " + line, {"--rivals"});
  CHECK(!std::filesystem::exists(place / "cells"));
  CHECK(contains(none.err, "pip install"));
  // A Python that keeps how it was called, and writes the cells of two runs where it is told to.
  place.write(
      "cells.json",
      R"({"cells": [{"row": "modular addition, Transformer", "column": "m = 3", "paper": 0.98, "paper_length": 500,
    "runs": [{"at": {"scaled_accuracy": 1.0}}, {"at": {"scaled_accuracy": 0.5}}], "holding_runs": 1,
    "lengths": [{"length": 10, "scaled_accuracy": 0.96}, {"length": 500, "scaled_accuracy": 0.5}]}]})");
  place.write("python",
              "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\" > called\n[ -e fails ] && exit 2\nmkdir -p cells\n"
              "while [ $# -gt 0 ]; do [ \"$1\" = --json ] && cp cells.json \"$2\"; shift; done\nexit 0\n");
  place.make("chmod +x python");
  const std::string with = "export KROHN_PYTHON=./python; " + line;
  const Outcome alone = place.shell(with);  // no row of krohn's own has the text
  CAPTURE(alone.err);
  CHECK(alone.status == 0);
  CHECK(contains(
      contents(place / "called"),
      "-m krohn.rivals table ebrahimi1 -o cells/rivals --only Transformer --scale small --seed 31 --seeds 2 --quiet "
      "--json cells/rivals.json"));
  for (const char* part :
       {"modular addition, Transformer", "m = 3", "0.98", "0.96 at 10", "0.50 at 500", "1/2, 0.75 ± 0.35, 0.50 … 1.00"})
    CHECK(contains(alone.out, part));
  CHECK(contains(place.shell(with + " --json").out, "\"rivals\": ["));
  place.expect(0, with + " --shard 2/3");
  CHECK(contains(contents(place / "called"), "--seeds 2 --quiet --shard 2/3"));
  // Another scale has runs of its own, whose sizes are passed on.
  place.expect(0, with + " --scale paper,width=32,steps=8e3");
  CHECK(contains(contents(place / "called"),
                 "-o cells/rivals-paper,steps=8000,width=32 --only Transformer --scale paper,steps=8000,width=32 "));
  // An array is of krohn's own runs, of which there are none; that is what is said.
  place.expect(2, with + " --slurm", {"krohn's own runs", "--shard 1/N"});
  // Where --only names no rival, no empty table stands there.
  place.write("cells.json", R"({"cells": []})");
  place.expect(
      0,
      "export KROHN_PYTHON=./python; krohn table ebrahimi2 --rivals --only 'H = 2' --lengths 400 -o cells --threads 1",
      {"none: --only names no rival", "! run of least loss"});
  place.make("touch fails");
  place.expect(2, with);
}

TEST_CASE("a table says in what it is not the paper's, and counts as the paper does") {
  const Workplace place("protocol");
  const std::string line = "krohn table ebrahimi2-parity --only 'none, 2 words of 10' --seeds 1 --threads 1 -o cells ";
  place.expect(0, line + "--recipe paper",
               {"No option is other than the paper's protocol at the paper's sizes has it.",
                "rescaled where nothing is added", "The paper says neither which two rates nor how many steps",
                "one seed, 21 (for two samples, seeds that do not draw both answers are passed over)",
                "Counted as there: the best of all runs, by the test."});
  // The same models, measured as they are, by the other recipe: told apart in the one thing in which it differs.
  const json steady = json::parse(place.shell(line + "--json").out);
  CHECK(steady["not_as_the_paper"] == json::array({"states rescaled at the test yes → no"}));
  const json& cell = steady["cells"][0];
  CHECK(cell["options"]["hidden"] == "256");
  CHECK(cell["options"]["rates"] == "0.1, 0.01");
  double best = -2;
  for (const json& run : cell["runs"]) best = std::max(best, run["at"]["scaled_accuracy"].get<double>());
  CHECK(cell["reported"]["figure"] == best);
  // A cell of a krohn that did not write its options down may be of other test words: the models are measured again.
  for (const auto& entry : std::filesystem::directory_iterator(place / "cells")) {
    if (entry.path().extension() != ".json") continue;
    json older = json::parse(contents(entry.path()));
    older.erase("options");
    for (json& run : older["runs"]) run["at"]["scaled_accuracy"] = 0.125;
    std::ofstream(entry.path()) << older;
  }
  CHECK(json::parse(place.shell(line + "--json").out)["cells"][0]["runs"] == cell["runs"]);
  // Without a member that reports read, a file is no cell.
  for (const char* member : {"/runs/0/rate", "/runs/0/at/words_right", "/lengths/0/low", "/best", "/claim"}) {
    CAPTURE(member);
    place.make("rm -rf edited && cp -r cells edited");
    for (const auto& entry : std::filesystem::directory_iterator(place / "edited")) {
      if (entry.path().extension() != ".json") continue;
      const nlohmann::ordered_json::json_pointer at(member);
      auto edited = nlohmann::ordered_json::parse(contents(entry.path()));
      edited.at(at.parent_pointer()).erase(at.back());
      std::ofstream(entry.path()) << edited;
    }
    place.expect(2, line.substr(0, line.find("-o cells")) + "-o edited", {"not a cell of `krohn table`; delete it"});
  }
}

TEST_CASE("a table says which runs its figures leave out") {
  const Workplace place("diverged");
  place.expect(0,
               "krohn table ebrahimi2-parity --only 'input-dependent, 2 words of 50' --seeds 2 --threads 1 "
               "--scale small,steps=60 --lengths 10 -o cells",
               {"0/4", "2 of 4 runs diverged: mean and range leave them out, and as counted there"});
}

TEST_CASE("tables of several sizes share a folder, and each says what was shrunk") {
  const Workplace place("sizes");
  const std::string line =
      "krohn table ebrahimi1 --recipe paper --only 'modular addition, full, m = 3' --seeds 1 --threads 1 --lengths 10 "
      "--json -o cells --scale ";
  const auto made = [&](const std::string& scale) { return place.report(0, line + scale); };
  const json few = made("paper,steps=3,width=8,inputs=8,rates=1e-3,test-words=4");
  CHECK(few["not_as_the_paper"] == json::array({"hidden 256 → 8", "inputs 256 → 8", "steps 100000 → 3",
                                                "rates 0.001, 0.0001, 1e-05 → 0.001", "test words 300 → 4"}));
  CHECK(few["cells"][0]["runs"][0]["steps"] == 3);
  CHECK(few["cells"][0]["runs"][0]["at"]["words"] == 4);
  const json more = made("paper,rates=1e-3,steps=5,width=8,inputs=8,test-words=4");
  CHECK(more["cells"][0]["runs"][0]["steps"] == 5);
  // Spelled otherwise it is the first again; with other words of the test its run is measured, not trained, again.
  CHECK(made("paper,width=8,steps=3,inputs=8,rates=0.001,test-words=4") == few);
  const json tested = made("paper,width=8,steps=3,inputs=8,rates=0.001,test-words=7");
  CHECK(tested["cells"][0]["runs"][0]["at"]["words"] == 7);
  CHECK(tested["cells"][0]["runs"][0]["seconds"] == few["cells"][0]["runs"][0]["seconds"]);
  CHECK(place.shell("ls -d cells/*/ | wc -l").out == "2\n");
}

TEST_CASE("the table of training to a proof, cut into shards, is the one that is made at once") {
  const Workplace place("certified-shards");
  const std::string table = "krohn table certified --only 'bilinear, parity' --seed 1000 --seeds 3 --threads 1 -o ";
  for (const char* shard : {"1/2", "2/2"}) place.make(table + "cut --shard " + shard);
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(place / "cut"))
    runs += entry.path().filename().string().starts_with("certified-");
  CHECK(runs == 3);
  const Outcome cut = place.shell(table + "cut --json"), whole = place.shell(table + "whole --json");
  REQUIRE(cut.status == 0);
  REQUIRE(whole.status == 0);
  auto a = nlohmann::json::parse(cut.out), b = nlohmann::json::parse(whole.out);
  REQUIRE(a["cells"][0]["runs"].size() == 3);
  for (auto* table_json : {&a, &b})
    for (auto& run : (*table_json)["cells"][0]["runs"]) run.erase("seconds");
  CHECK(a == b);
  // A run says which procedure closed it, so that an older one's is not taken for it.
  const std::string closing = fmt::format(" closing={}", krohn::kClosingProcedure);
  CHECK(a["cells"][0]["trained"].get<std::string>().ends_with(closing));
  // A cell whose task has a slash is found by its name as any other.
  CHECK(contains(place.shell("krohn table certified --only 'DeltaNet, S5/swaps' --seeds 3 --slurm -o cut").out,
                 "# table, 3 training runs in 3 shards."));
  // So is one whose name others only begin with: m = 5, and not m = 50.
  for (const auto& [only, runs] : {std::pair{"R = 1024, m = 5", 4}, {"R = 1024, m = 5$", 2}, {"m = 50$", 24}})
    CHECK(contains(place.shell(fmt::format("krohn table ebrahimi3 --only '{}' --seeds 2 --slurm -o cut", only)).out,
                   fmt::format("# table, {} training runs in {} shards.", runs, runs)));
  // Kept work is of the same recipe, or it is refused.
  for (const auto& entry : std::filesystem::directory_iterator(place / "whole")) std::ofstream(entry.path()) << "{}";
  place.expect(2, table + "whole", {"delete it"});
}

TEST_CASE("a table by a paper's code is not called the paper's") {
  const auto said = [](const std::string& recipe) {
    const auto kind = recipe == "released" ? krohn::Recipe::kReleased : krohn::Recipe::kPaper;
    const krohn::PaperTable table = krohn::paper_table("fan2", krohn::TableScale::kPaper, kind, {});
    return krohn::protocol_in_words({table, table, table.experiments, "paper", recipe, {}, {}});
  };
  CHECK(said("paper") == "No option is other than the paper's protocol at the paper's sizes has it.");
  CHECK(said("released") ==
        "No option is other than the released code's protocol, which is not the paper's, at the paper's sizes has it.");
}

TEST_CASE("the estimate of a table counts the runs that are left, and trains none") {
  const Workplace place("table-estimate");
  const std::string line = "krohn table ebrahimi2-parity --only 'none, 2 words of 10' --seeds 2 --threads 1 -o cells";
  const auto estimate = [&] { return json::parse(place.shell(line + " --estimate --json").out); };
  const json before = estimate();
  CHECK(!std::filesystem::exists(place / "cells"));
  CHECK(before["runs"].get<int>() > 0);
  CHECK(before["hours"].get<double>() > 0);
  place.make(line + " --lengths 10");
  const json after = estimate();
  CHECK(after["runs"] == 0);
  CHECK(after["hours"] == 0);
  CHECK(after["cells"][0]["kept"] == before["cells"][0]["runs"]);
  CHECK(contains(place.shell(line + " --estimate").out, "0 runs left, 0 steps"));
  place.expect(2, line + " --estimate --shard 1/2");
}
