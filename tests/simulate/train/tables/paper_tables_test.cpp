// The papers' tables: their numbers and protocols, typed here from the papers' text a second time, and what is said of
// where a table is not the paper's. Those of Ebrahimi & Memisevic are in ebrahimi_tables_test.cpp.

#include "krohn/simulate/train/tables/paper_tables.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/table_differences.h"
#include "tests/simulate/train/tables/cells.h"

using namespace krohn;
using namespace krohn::test;

TEST_CASE("every cell of every table names a task and a model, at both scales and by all recipes") {
  CHECK(paper_table_names().size() == 13);
  std::map<std::string, std::unique_ptr<Task>> tasks;
  std::set<std::string> models;
  for (const std::string& name : paper_table_names())
    for (const TableScale scale : {TableScale::kSmall, TableScale::kPaper})
      for (const Recipe recipe : {Recipe::kSteady, Recipe::kPaper, Recipe::kReleased, Recipe::kNormalised}) {
        if (recipe == Recipe::kReleased && name != "fan2") continue;
        if (recipe == Recipe::kNormalised &&
            (!name.starts_with("ebrahimi") || name == "ebrahimi2" || name == "ebrahimi2-parity"))
          continue;
        std::set<std::pair<std::string, std::string>> places;
        for (const Experiment& cell : paper_table(name, scale, recipe).experiments) {
          CAPTURE(name);
          CAPTURE(cell.row);
          CAPTURE(cell.column);
          CHECK(places.emplace(cell.row, cell.column).second);
          CHECK(!cell.rates.empty());
          CHECK(cell.seeds.size() >= 5);
          std::unique_ptr<Task>& task = tasks[cell.task];
          if (!task) task = make_task(cell.task);
          CHECK(task->has_length(cell.length));
          if (scale == TableScale::kSmall && models.insert(cell.model).second)
            CHECK_NOTHROW(make_model<float>(cell.model, *task, 1));
        }
      }
  CHECK_THROWS_WITH_AS(paper_scale("ebrahimi9"), doctest::Contains("ebrahimi1"), InputError);
  CHECK_THROWS_WITH_AS(paper_scale("grazzi5", Recipe::kReleased), doctest::Contains("fan2"), InputError);
  CHECK_THROWS_WITH_AS(paper_scale("ebrahimi2-parity", Recipe::kNormalised), doctest::Contains("ebrahimi-figure2"),
                       InputError);
}

TEST_CASE("states normalised in training: the paper's protocol, and scale-free models where nothing is added") {
  for (const char* const name : {"ebrahimi1", "ebrahimi2-additive", "ebrahimi3", "ebrahimi-figure2"}) {
    const PaperTable written = paper_scale(name), normalised = paper_scale(name, Recipe::kNormalised);
    REQUIRE(written.experiments.size() == normalised.experiments.size());
    CHECK(normalised.rescaled);
    CHECK(normalised.notes.size() == written.notes.size() + 1);
    for (std::size_t i = 0; i < written.experiments.size(); ++i) {
      const Experiment &one = written.experiments[i], &other = normalised.experiments[i];
      CAPTURE(one.model);
      const bool is_scale_free = one.model.starts_with("bilinear") && one.model.find("bias") == std::string::npos;
      CHECK(other.model == one.model + (is_scale_free ? ",scale-free" : ""));
      CHECK(other.rates == one.rates);
      CHECK(value(other, "steps") == value(one, "steps"));
      CHECK(value(other, "stop at") == value(one, "stop at"));
    }
  }
}

TEST_CASE("Fan et al.: the paper's protocol and that of the code, two things") {
  const PaperTable printed = paper_scale("fan2"), released = paper_scale("fan2", Recipe::kReleased);
  for (const PaperTable* table : {&printed, &released}) {
    REQUIRE(table->experiments.size() == 3);
    for (const Experiment& cell : table->experiments) {
      const bool is_deep = cell.row == "ModArith(5)";
      CHECK(value(cell, "steps") == "40000");
      CHECK(value(cell, "words of a batch") == "128");
      CHECK(value(cell, "lengths") == (is_deep ? "39" : "40"));
      CHECK(value(cell, "test lengths") == (is_deep ? "499" : "500"));
      CHECK(value(cell, "validation lengths") == (is_deep ? "499" : "500"));
      CHECK(value(cell, "validation words") == "128");
      CHECK(value(cell, "validate every") == "1000");
      CHECK(cell.training.keep_most_right);
      CHECK(cell.reported == Reported::kMeanOfTrials);
      CHECK(cell.rates == std::vector<double>{cell.row == "Sum(5)" ? 1e-4 : 2e-4});
      CHECK(cell.seeds == std::vector<std::uint64_t>{21, 22, 23, 24, 25});
    }
  }
  CHECK(cell_of(printed, "Sum(5)", "1 layer").task == "sum5");
  CHECK(cell_of(released, "Sum(5)", "1 layer").task == "sum5/prefixes");
  CHECK(cell_of(released, "Sum(5)", "1 layer").test_task == "sum5");
  CHECK(cell_of(released, "EvenPair(5)", "1 layer").training.validate_last);
  CHECK(value(cell_of(released, "ModArith(5)", "3 layers"), "model") == "fan-released");
  CHECK(value(cell_of(released, "ModArith(5)", "3 layers"), "layers") == "3");
  CHECK(value(cell_of(released, "ModArith(5)", "3 layers"), "coupled decay") == "0.0001");
  CHECK(value(cell_of(released, "Sum(5)", "1 layer"), "coupled decay") == "0");
  CHECK(cell_of(printed, "EvenPair(5)", "1 layer").paper == doctest::Approx((0.99 - 0.5) / 0.5));
}

TEST_CASE("Grazzi et al., Tables 3 and 5: numbers and protocol") {
  const PaperTable medians = paper_scale("grazzi5"), best = paper_scale("grazzi3");
  CHECK(medians.experiments.size() == 3 * 4);
  CHECK(best.cells_of == "grazzi5");
  const char *const plain = "modular arithmetic without brackets", *const nested = "modular arithmetic with brackets";
  struct Fact {
    const char *row, *column;
    double median, best;
  };
  for (const Fact& fact : {Fact{"parity", "Mamba [0, 1]", 0, 0},
                           {"parity", "Mamba [-1, 1]", 1, 1},
                           {"parity", "DeltaNet [0, 1]", 0.010, 0.017},
                           {"parity", "DeltaNet [-1, 1]", 0.999, 1},
                           {plain, "Mamba [0, 1]", 0.066, 0.095},
                           {plain, "Mamba [-1, 1]", 0.214, 0.241},
                           {plain, "DeltaNet [0, 1]", 0.214, 0.314},
                           {plain, "DeltaNet [-1, 1]", 0.826, 0.971},
                           {nested, "Mamba [0, 1]", 0.072, 0.092},
                           {nested, "Mamba [-1, 1]", 0.126, 0.136},
                           {nested, "DeltaNet [0, 1]", 0.113, 0.137},
                           {nested, "DeltaNet [-1, 1]", 0.129, 0.2}}) {
    CAPTURE(fact.row);
    CAPTURE(fact.column);
    const Experiment &one = cell_of(medians, fact.row, fact.column), &other = cell_of(best, fact.row, fact.column);
    CHECK(one.paper == fact.median);
    CHECK(other.paper == fact.best);
    CHECK(description(one) == description(other));
    CHECK(one.reported == Reported::kMedian);
    CHECK(other.reported == Reported::kBestOfMedianRate);
    const bool is_parity = one.row == "parity";
    CHECK(one.rates == std::vector<double>{1e-2, 1e-3, 5e-4, 1e-4});
    CHECK(value(one, "steps") == "100000");
    CHECK(value(one, "words of a batch") == "1024");
    CHECK(value(one, "warm-up") == "10000");
    CHECK(value(one, "schedule") == "cosine");
    CHECK(value(one, "least rate") == "1e-06");
    CHECK(value(one, "weight decay") == "0.1");
    CHECK(value(one, "clip") == (is_parity ? "0" : "1"));
    CHECK(value(one, "layers") == (is_parity ? "2" : "3"));
    CHECK(value(one, "width") == "128");
    CHECK(value(one, "lengths") == "3–40");
    CHECK(value(one, "test lengths") == "40–256");
    CHECK(value(one, "test words") == "8192");
    CHECK(value(one, "smoothing") == "0");
    if (one.column.starts_with("DeltaNet")) CHECK(value(one, "heads") + value(one, "conv") == "44");
  }
}

TEST_CASE("Grazzi et al., Figures 2, 5 and 6: groups, methods, protocol") {
  const PaperTable permutations = paper_scale("grazzi-figure2"), cycles = paper_scale("grazzi-figure6");
  CHECK(permutations.experiments.size() == 4 * 9);
  CHECK(cycles.experiments.size() == 2 * 9);
  for (const char* row : {"S_5", "S_5, only swaps", "S_5, swaps and 3-cycles", "S_5, 4 tokens per transition"})
    for (const char* column : {"DeltaNet [-1, 1] 1L", "DeltaNet [-1, 1] 5L", "DeltaNet [0, 1] 5L", "Mamba [-1, 1] 5L",
                               "Mamba [0, 1] 5L", "full matrix"})
      CHECK_NOTHROW(cell_of(permutations, row, column));
  for (const PaperTable* table : {&permutations, &cycles})
    for (const Experiment& cell : table->experiments) {
      CHECK(cell.training.optimiser.steps * cell.training.words == 100 * 1'600'000);
      CHECK(value(cell, "words of a batch") == "512");
      CHECK(value(cell, "samples") == "1600000");
      CHECK(value(cell, "samples of all seeds") == "the same");
      CHECK(value(cell, "weight decay") == "0.01");
      CHECK(value(cell, "clip") == "1");
      CHECK(cell.rates == std::vector<double>{1e-4});
      CHECK(value(cell, "test words") == "40000");
      CHECK(value(cell, "test lengths") == "500");
      CHECK(value(cell, "lengths") == (cell.task.find("tokens=") == std::string::npos ? "32" : "64"));
      CHECK(value(cell, "conv") == "");
    }
  CHECK(cell_of(permutations, "S_5, 4 tokens per transition", "full matrix").model == "dense:size=32");
  const PaperTable all_seeds = paper_scale("grazzi-figure5");
  CHECK(all_seeds.cells_of == "grazzi-figure2");
  CHECK(all_seeds.experiments.size() == permutations.experiments.size());
  CHECK(all_seeds.experiments[0].reported != permutations.experiments[0].reported);
}

TEST_CASE("what was shrunk is told of the descriptions themselves") {
  const auto told = [](const char* name, Recipe recipe) {
    return in_words(differences(paper_table(name, TableScale::kSmall, recipe), paper_scale(name)));
  };
  const auto has = [](const std::vector<std::string>& words, const std::string& one) {
    return std::ranges::find(words, one) != words.end();
  };
  const std::vector<std::string> table1 = told("ebrahimi1", Recipe::kPaper);
  CHECK(has(table1, "steps 100000 → 8000"));
  CHECK(has(table1, "rates 0.001, 0.0001, 1e-05 → 0.001"));
  CHECK(std::ranges::any_of(table1, [](const std::string& each) { return each.starts_with("hidden 256 → 32 ("); }));
  CHECK(std::ranges::none_of(table1, [](const std::string& each) {
    return each.starts_with("schedule") || each.starts_with("smoothing") || each.starts_with("stop at") ||
           each.starts_with("lengths") || each.starts_with("weight decay");
  }));
  CHECK(has(told("ebrahimi1", Recipe::kSteady), "smoothing 0 → 0.1"));
  CHECK(has(told("ebrahimi1", Recipe::kSteady), "schedule constant → cosine"));
  CHECK(has(told("grazzi5", Recipe::kPaper), "width 128 → 32"));
  CHECK(has(told("grazzi5", Recipe::kPaper), "words of a batch 1024 → 64"));
  CHECK(has(told("fan2", Recipe::kPaper), "steps 40000 → 10000"));
  for (const std::string& name : paper_table_names()) {
    CAPTURE(name);
    CHECK(in_words(differences(paper_scale(name.c_str()), paper_scale(name.c_str()))).empty());
    const bool is_as_it_is = name == "ebrahimi2-parity";  // small enough
    CHECK(told(name.c_str(), Recipe::kPaper).empty() == is_as_it_is);
  }

  // Every setting of a cell, one at a time, and cells that one of them lacks.
  PaperTable paper, here;
  Experiment cell;
  cell.row = "row", cell.column = "column", cell.task = "parity", cell.model = "dense:size=4", cell.rates = {1e-3};
  paper.experiments = {cell, cell};
  paper.experiments[1].column = "other";
  const auto said = [&](auto change) {
    here.experiments = {cell};
    change(here.experiments[0]);
    std::vector<std::string> words = in_words(differences(here, paper));
    CHECK(words.back() == "1 of its cells is left out");
    words.pop_back();
    REQUIRE(words.size() == 1);
    return words[0];
  };
  CHECK(said([](Experiment& e) { e.model = "dense:size=3"; }) == "size 4 → 3");
  CHECK(said([](Experiment& e) { e.model = "dense"; }) == "size 4 → none");
  CHECK(said([](Experiment& e) { e.training.words = 63; }) == "words of a batch 64 → 63");
  CHECK(said([](Experiment& e) { e.training.samples = 64; }) == "samples 0 → 64");
  CHECK(said([](Experiment& e) { e.training.smoothing = 0.1; }) == "smoothing 0 → 0.1");
  CHECK(said([](Experiment& e) { e.training.stop_at = 0; }) == "stop at 1e-05 → 0");
  CHECK(said([](Experiment& e) { e.training.patience = 3; }) == "patience 0 → 3");
  CHECK(said([](Experiment& e) { e.training.validate_every = 100; }) == "validate every 500 → 100");
  CHECK(said([](Experiment& e) { e.training.validation_lengths = {20, 30}; }) == "validation lengths 2–10 → 20–30");
  CHECK(said([](Experiment& e) { e.training.validation_words = 128; }) == "validation words 1024 → 128");
  CHECK(said([](Experiment& e) { e.training.validate_last = true; }) == "validate last no → yes");
  CHECK(said([](Experiment& e) { e.training.keep_most_right = true; }) == "keep most right no → yes");
  CHECK(said([](Experiment& e) { e.training.optimiser.steps = 51; }) == "steps 20000 → 51");
  CHECK(said([](Experiment& e) { e.training.optimiser.warm_up = 5; }) == "warm-up 0 → 5");
  CHECK(said([](Experiment& e) { e.training.optimiser.clip = 1; }) == "clip 0 → 1");
  CHECK(said([](Experiment& e) { e.training.optimiser.weight_decay = 0.1; }) == "weight decay 0 → 0.1");
  CHECK(said([](Experiment& e) { e.training.optimiser.coupled_decay = 0.1; }) == "coupled decay 0 → 0.1");
  CHECK(said([](Experiment& e) { e.training.optimiser.least_rate = 1e-5; }) == "least rate 0 → 1e-05");
  CHECK(said([](Experiment& e) { e.training.optimiser.schedule = Schedule::kCosine; }) == "schedule constant → cosine");
  CHECK(said([](Experiment& e) { e.rates = {1e-2}; }) == "rates 0.001 → 0.01");
  CHECK(said([](Experiment& e) { e.length = 400; }) == "test lengths 500 → 400");
  CHECK(said([](Experiment& e) { e.words = 10; }) == "test words 300 → 10");
  CHECK(said([](Experiment& e) { e.test_lengths = LengthRange{40, 256}; }) == "test lengths 500 → 40–256");
  CHECK(said([](Experiment& e) { e.test_task = "S3"; }) == "test task parity → S3");
  here.rescaled = true;
  CHECK(said([](Experiment&) {}) == "states rescaled at the test no → yes");
  here.rescaled = false;
  here.experiments = {cell, cell};
  here.experiments[1].row = "a third";
  CHECK(in_words(differences(here, paper)) ==
        std::vector<std::string>{"1 of its cells is left out", "1 of these cells is not the paper's"});
}

TEST_CASE("a recipe's options reach the trainer") {
  // Trainers name in their checkpoints what they train with.
  const auto named = [](const Experiment& cell, std::uint64_t steps) {
    TrainOptions training = cell.training;
    training.optimiser.learning_rate = cell.rates[0];
    training.seed = 7;
    const auto task = make_task(cell.task);
    Trainer trainer(*task, cell.model, training);
    for (std::uint64_t i = 0; i < steps; ++i) trainer.step();
    return trainer.checkpoint().metadata.at("run");
  };
  const std::string released = named(paper_scale("fan2", Recipe::kReleased).experiments[0], 1);
  CHECK(released ==
        "sum5/prefixes fan-released:layers=1,blocks=8,size=8,norm=1.2 lengths=40-40 words=128 learning_rate=0.0001 "
        "clip=0 "
        "seed=7 validation=500-500 validation_words=128 validate_last keep_most_right of 40000 every 1000");
  const std::string printed = named(paper_scale("fan2").experiments[1], 1);
  CHECK(printed ==
        "evenpair5 fan:layers=1,blocks=8,size=8,norm=1.2,generator=512 lengths=40-40 words=128 learning_rate=0.0002 "
        "clip=0 "
        "seed=7 validation=500-500 validation_words=128 keep_most_right of 40000 every 1000");
  const PaperTable grazzi = paper_table("grazzi5", TableScale::kSmall, Recipe::kPaper);
  CHECK(named(cell_of(grazzi, "parity", "DeltaNet [-1, 1]"), 0) ==
        "parity deltaproduct:layers=2,width=32,heads=4,keys=8,values=8,reflections=1,signed,conv=4,mlp=64 lengths=3-40 "
        "words=64 learning_rate=0.01 clip=0 seed=7 cosine=4000-1e-06 warm_up=400 weight_decay=0.1");
}
