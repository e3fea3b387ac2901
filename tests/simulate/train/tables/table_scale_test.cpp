// Sizes of a table changed one at a time: nothing else changes, every one can be undone, and what cannot be is said.

#include "krohn/simulate/train/tables/paper_tables.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

PaperTable changed(const char* name, Recipe recipe, const char* text) {
  const ChangedScale scale = parse_scale(text);
  PaperTable table = paper_table(name, scale.scale, recipe);
  change_sizes(scale, paper_table(name, TableScale::kPaper, recipe), table.experiments);
  return table;
}

/// The names of what differs, each with what it is now where that is one value.
std::map<std::string, std::string> told(const PaperTable& now, const PaperTable& before) {
  std::map<std::string, std::string> names;
  const TableDifferences all = differences(now, before);
  CHECK(all.left_out + all.added == 0);
  for (const Difference& each : all.settings) names[each.name] = each.here;
  return names;
}

std::string error_of(const char* name, const char* text) {
  return test::error_of([&] { changed(name, Recipe::kPaper, text); });
}

}  // namespace

TEST_CASE("a scale has one spelling, whatever the order and form of its numbers") {
  const std::pair<const char*, const char*> spellings[] = {
      {"small", "small"},
      {"paper", "paper"},
      {"paper,steps=8000,width=32", "paper,steps=8000,width=32"},
      {"paper,width=32,steps=8e3", "paper,steps=8000,width=32"},
      {"small,rates=1e-3,1e-4,steps=paper", "small,rates=0.001,0.0001,steps=paper"},
      {"small,steps=5,rates=0.01", "small,rates=0.01,steps=5"}};
  for (const auto& [text, spelled] : spellings) {
    CAPTURE(text);
    CHECK(to_string(parse_scale(text)) == spelled);
    CHECK(to_string(parse_scale(spelled)) == spelled);
  }
  for (const char* text : {"", "large", "steps=8000", "paper,", "paper,,steps=1", "paper,steps",
                           "paper,steps=", "paper,=3", "paper,steps=0", "paper,steps=-1", "paper,steps=many",
                           "paper,steps=1x", "paper,steps=inf", "paper,steps=1,steps=1", "paper,steps=1,2",
                           "paper,rates=paper,1e-3", "paper,rates=1e-3,", "paper,0.1", "Paper"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_scale(text), InputError);
  }
}

TEST_CASE("a size that is changed changes alone, but for what has a share in it") {
  struct Fact {
    const char *table, *scale;
    std::map<std::string, std::string> told;  ///< against the scale without changes
  };
  const std::vector<Fact> facts = {
      {"ebrahimi1", "paper,steps=8000", {{"steps", "8000"}}},
      {"ebrahimi1", "paper,words=1", {{"words of a batch", "1"}}},
      {"ebrahimi1", "paper,rates=1e-3", {{"rates", "0.001"}}},
      {"ebrahimi1", "paper,test-words=10", {{"test words", "10"}}},
      {"ebrahimi1", "small,validation-words=9,validate-every=7", {{"validation words", "9"}, {"validate every", "7"}}},
      {"ebrahimi1", "small,steps=100000", {{"steps", "100000"}}},
      {"ebrahimi1", "small,hidden=64", {{"hidden", "64"}}},
      {"ebrahimi1", "paper,inputs=32,spread=0.02", {{"inputs", "32"}, {"spread", "0.02"}}},
      // Mamba's channels are twice its width; LSTM and bilinear models call theirs hidden.
      {"ebrahimi1", "small,width=128", {{"hidden", "128"}, {"width", "128"}, {"channels", "256"}}},
      {"ebrahimi1", "small,width=128,channels=48", {{"hidden", "128"}, {"width", "128"}, {"channels", "48"}}},
      {"ebrahimi-figure2", "small,steps=5", {{"steps", "5"}}},
      // A tenth of the steps.
      {"grazzi5", "paper,steps=200", {{"steps", "200"}, {"warm-up", "20"}}},
      {"grazzi5", "paper,steps=200,warm-up=3", {{"steps", "200"}, {"warm-up", "3"}}},
      {"grazzi5", "small,weight-decay=0.25", {{"weight decay", "0.25"}}},
      {"grazzi-figure2", "paper,samples=6400,words=64", {{"samples", "6400"}, {"words of a batch", "64"}}},
      {"grazzi-figure2", "paper,width=64", {{"width", "64"}, {"size", "64"}}},
      {"fan2", "paper,generator=64", {{"generator", "64"}}}};
  for (const Fact& fact : facts) {
    CAPTURE(fact.table);
    CAPTURE(fact.scale);
    const PaperTable now = changed(fact.table, Recipe::kPaper, fact.scale);
    const std::string scale(fact.scale, 5);
    const PaperTable before = changed(fact.table, Recipe::kPaper, scale.c_str());
    CHECK(told(now, before) == fact.told);
    // A cell that is trained otherwise has another folder; one that is only tested otherwise has the same.
    for (std::size_t i = 0; i < now.experiments.size(); ++i) {
      const Experiment &a = now.experiments[i], &b = before.experiments[i];
      auto names = told({{}, {}, {}, {a}}, {{}, {}, {}, {b}});
      names.erase("test words");
      CHECK((description(a) != description(b) || a.rates != b.rates) == !names.empty());
    }
  }
}

TEST_CASE("a width that a model's blocks do not divide is the next that they do") {
  const PaperTable table = changed("ebrahimi1", Recipe::kPaper, "paper,width=33");
  std::map<std::string, std::set<std::string>> hidden;  // by size of blocks
  for (const Experiment& cell : table.experiments) {
    const std::vector<Setting> all = settings(cell);
    const auto of = [&](const char* name) {
      const auto found = std::ranges::find(all, name, &Setting::name);
      return found == all.end() ? std::string() : found->value;
    };
    if (!of("hidden").empty()) hidden[of("model") == "bilinear rotations" ? "2" : of("block")].insert(of("hidden"));
  }
  CHECK(hidden ==
        std::map<std::string, std::set<std::string>>{{"", {"33"}}, {"2", {"34"}}, {"8", {"40"}}, {"64", {"64"}}});
  CHECK(error_of("ebrahimi1", "paper,hidden=33") != "no error");  // of that exactly there are none
}

TEST_CASE("everything that the small scale shrinks can be undone, and is the paper's scale then") {
  const std::map<std::string, std::string> keys = {{"words of a batch", "words"},
                                                   {"test words", "test-words"},
                                                   {"validation words", "validation-words"},
                                                   {"validate every", "validate-every"},
                                                   {"weight decay", "weight-decay"}};
  struct Fact {
    const char* table;
    Recipe recipe;
  };
  for (const auto& [name, recipe] : {Fact{"ebrahimi1", Recipe::kPaper},
                                     {"ebrahimi1", Recipe::kSteady},
                                     {"ebrahimi1", Recipe::kNormalised},
                                     {"ebrahimi3", Recipe::kPaper},
                                     {"ebrahimi2-additive", Recipe::kPaper},
                                     {"fan2", Recipe::kPaper},
                                     {"fan2", Recipe::kReleased},
                                     {"fan2", Recipe::kSteady},
                                     {"grazzi5", Recipe::kPaper},
                                     {"grazzi-figure2", Recipe::kPaper}}) {
    CAPTURE(name);
    CAPTURE(static_cast<int>(recipe));
    const PaperTable small = paper_table(name, TableScale::kSmall, recipe),
                     paper = paper_table(name, TableScale::kPaper, recipe);
    std::set<std::string> names;
    for (const Difference& each : differences(small, paper).settings) names.insert(each.name);
    REQUIRE(!names.empty());
    std::string all = "small";
    for (const std::string& each : names) {
      const auto key = keys.find(each);
      const std::string one = (key == keys.end() ? each : key->second) + "=paper";
      all += "," + one;
      // One alone leaves the others.
      std::set<std::string> left;
      for (const Difference& still : differences(changed(name, recipe, ("small," + one).c_str()), paper).settings)
        left.insert(still.name);
      CAPTURE(one);
      CHECK(!left.contains(each));
      CHECK(left.size() < names.size());
    }
    CAPTURE(all);
    CHECK(in_words(differences(changed(name, recipe, all.c_str()), paper)).empty());
  }
}

TEST_CASE("what is no size of a table is refused, with those that are") {
  const std::string unknown = error_of("ebrahimi1", "paper,stepz=8");
  CHECK(test::contains(unknown, "\"stepz\" is no size"));
  for (const char* name : {"steps", "words", "rates", "width", "hidden", "inputs", "channels", "test-words", "spread"})
    CHECK(test::contains(unknown, name));
  CHECK(!test::contains(unknown, "samples"));  // every step has new ones
  CHECK(test::contains(error_of("ebrahimi1", "paper,samples=8"), "no size"));
  // The subject of a table's cells.
  CHECK(test::contains(error_of("ebrahimi1", "paper,layers=3"), "about"));
  CHECK(test::contains(error_of("ebrahimi2", "small,hidden=3"), "about"));
  CHECK(test::contains(error_of("ebrahimi2", "small,width=3"), "about"));
  CHECK(test::contains(error_of("ebrahimi2", "small,samples=3"), "about"));
  CHECK(test::contains(error_of("ebrahimi3", "paper,rank=3"), "about"));
  CHECK(test::contains(error_of("ebrahimi-figure2", "small,samples=3"), "about"));
  // No half words, no models that cannot be.
  CHECK(test::contains(error_of("ebrahimi1", "paper,words=1.5"), "whole number"));
  CHECK(test::contains(error_of("ebrahimi1", "paper,words=1e10"), "whole number"));
  CHECK(error_of("grazzi5", "small,width=30") != "no error");  // four heads
  CHECK(error_of("grazzi5", "small,width=28") == "no error");
  CHECK(error_of("ebrahimi1", "paper,hidden=2.5") != "no error");
  CHECK(test::contains(error_of("grazzi5", "small,keys=paper"), "keys=paper"));
}
