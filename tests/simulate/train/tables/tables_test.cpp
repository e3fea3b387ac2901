#include "krohn/groups/base/random.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/token_layers.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "tests/testing.h"

namespace krohn::test {

inline const Experiment& cell_of(const PaperTable& table, const std::string& row, const std::string& column) {
  for (const Experiment& each : table.experiments)
    if (each.row == row && each.column == column) return each;
  throw InputError(fmt::format("{} has no cell {}, {}", table.name, row, column));
}

inline PaperTable paper_scale(const char* name, Recipe recipe = Recipe::kPaper) {
  return paper_table(name, TableScale::kPaper, recipe);
}

/// In hundredths, over the columns of a row.
struct Sums {
  long trained = 0, longer = 0;
};

inline std::map<std::string, Sums> sums_of(const PaperTable& table) {
  std::map<std::string, Sums> sums;
  for (const Experiment& cell : table.experiments) {
    if (cell.paper_trained) sums[cell.row].trained += std::lround(*cell.paper_trained * 100);
    if (cell.paper) sums[cell.row].longer += std::lround(*cell.paper * 100);
  }
  return sums;
}

/// A setting of a cell by name.
inline std::string value(const Experiment& cell, const std::string& name) {
  for (const Setting& each : settings(cell))
    if (each.name == name) return each.value;
  return "";
}

/// The settings that a text names, each with what it is: CHECK(settings_as(cell, text) == text) holds where a text such
/// as "steps=8000; clip=0" is true.
inline std::string settings_as(const Experiment& cell, const std::string& text) {
  std::string found;
  std::istringstream words(text);
  for (std::string word; std::getline(words >> std::ws, word, ';');) {
    const std::string name = word.substr(0, word.find('='));
    found += fmt::format("{}{}={}", found.empty() ? "" : "; ", name, value(cell, name));
  }
  return found;
}

}  // namespace krohn::test

using namespace krohn;
using namespace krohn::test;

// Ebrahimi & Memisevic's tables: their numbers and protocol, typed here from the paper's text a second time, and the
// recipes of the small scale.

TEST_CASE("Ebrahimi & Memisevic, Table 1: 36 rows of both halves, their sums in hundredths") {
  const PaperTable table = paper_scale("ebrahimi1");
  CHECK(table.experiments.size() == 36 * 6);
  const char* const models[] = {"full",        "factored",       "blocks of 1",     "blocks of 2",
                                "blocks of 8", "blocks of 64",   "rotations",       "LSTM",
                                "RNN",         "Mamba, 1 layer", "Mamba, 2 layers", "Mamba, 4 layers"};
  struct Part {
    const char* name;
    long trained[12], longer[12];
  };
  const auto sums = sums_of(table);
  for (const Part& part : {Part{"modular addition",
                                {600, 600, 446, 600, 600, 600, 600, 599, 600, 507, 600, 547},
                                {600, 595, 112, 600, 600, 600, 303, 400, 442, 2, 3, 3}},
                           {"state machine",
                            {600, 519, 178, 373, 469, 600, 168, 530, 459, 404, 453, 502},
                            {600, 501, 103, 164, 358, 600, 101, 473, 425, 240, 265, 280}},
                           {"modular arithmetic",
                            {600, 239, 171, 329, 501, 566, 146, 590, 504, 335, 440, 482},
                            {599, 174, 61, 65, 279, 461, 15, 563, 471, 206, 211, 292}}})
    for (std::size_t i = 0; i < 12; ++i) {
      const std::string row = fmt::format("{}, {}", part.name, models[i]);
      CAPTURE(row);
      const auto found = sums.find(row);
      REQUIRE(found != sums.end());
      CHECK(found->second.trained == part.trained[i]);
      CHECK(found->second.longer == part.longer[i]);
    }
  // Single numbers, so that no two of a row are exchanged.
  CHECK(cell_of(table, "modular addition, rotations", "m = 10").paper == 0.66);
  CHECK(cell_of(table, "modular addition, rotations", "m = 25").paper == 0.37);
  CHECK(cell_of(table, "modular addition, blocks of 1", "m = 3").paper_trained == 0.96);
  CHECK(cell_of(table, "state machine, blocks of 8", "m = 10").paper == 0.41);
  CHECK(cell_of(table, "state machine, LSTM", "m = 50").paper_trained == 0.3);
  CHECK(cell_of(table, "modular arithmetic, blocks of 64", "m = 25").paper == 0.4);
  CHECK(cell_of(table, "modular arithmetic, Mamba, 4 layers", "m = 5").paper == 0.48);
}

TEST_CASE("steadily and small, models of large machines train longer, and many factors begin smaller") {
  const auto small = [](const char* name, Recipe recipe = Recipe::kSteady) {
    return paper_table(name, TableScale::kSmall, recipe);
  };
  struct Row {
    const char *table, *row, *column, *inputs, *steps, *spread;
    double rate;
  };
  for (const Row& row : {Row{"ebrahimi1", "modular addition, full", "m = 10", "32", "8000", "0.02", 1e-3},
                         {"ebrahimi1", "modular addition, full", "m = 25", "64", "24000", "0.0141", 3e-4},
                         {"ebrahimi1", "modular arithmetic, full", "m = 50", "64", "24000", "0.0141", 3e-4},
                         {"ebrahimi1", "state machine, blocks of 64", "m = 10", "32", "8000", "0.02", 3e-4},
                         {"ebrahimi1", "state machine, blocks of 64", "m = 25", "64", "24000", "0.0141", 3e-4},
                         {"ebrahimi1", "modular addition, blocks of 8", "m = 10", "32", "8000", "0.02", 1e-3},
                         {"ebrahimi1", "modular addition, blocks of 8", "m = 25", "64", "24000", "0.0141", 1e-3},
                         {"ebrahimi1", "modular arithmetic, blocks of 1", "m = 50", "64", "24000", "0.0141", 1e-3},
                         {"ebrahimi1", "modular addition, rotations", "m = 50", "64", "24000", "", 1e-3},
                         {"ebrahimi1", "state machine, factored", "m = 25", "32", "8000", "0.214", 1e-3},
                         {"ebrahimi1", "state machine, LSTM", "m = 50", "64", "40000", "", 3e-3},
                         {"ebrahimi1", "modular addition, LSTM", "m = 10", "64", "40000", "", 3e-3},
                         {"ebrahimi1", "modular arithmetic, RNN", "m = 5", "32", "40000", "", 1e-3},
                         {"ebrahimi-figure2", "state machine, LSTM", "64 words", "32", "4000", "", 3e-3},
                         {"ebrahimi2-additive", "full, none", "m = 25", "32", "8000", "0.02", 1e-3},
                         {"ebrahimi3", "full", "m = 50", "64", "24000", "0.0141", 3e-4},
                         {"ebrahimi3", "R = 1", "m = 50", "32", "8000", "0.24", 1e-3},
                         {"ebrahimi3", "R = 64", "m = 10", "32", "8000", "0.24", 1e-3},
                         {"ebrahimi3", "R = 64", "m = 25", "32", "8000", "0.214", 1e-3},
                         {"ebrahimi3", "R = 128", "m = 10", "32", "8000", "0.214", 1e-3},
                         {"ebrahimi3", "R = 2048", "m = 2", "32", "8000", "0.135", 1e-3}}) {
    const PaperTable table = small(row.table);
    const Experiment& cell = cell_of(table, row.row, row.column);
    CAPTURE(row.row);
    CAPTURE(row.column);
    CHECK(value(cell, "inputs") == row.inputs);
    CHECK(value(cell, "steps") == row.steps);
    CHECK(value(cell, "spread") == row.spread);
    CHECK(cell.rates == std::vector<double>{row.rate});
  }
  CHECK(value(cell_of(small("ebrahimi1", Recipe::kPaper), "modular addition, full", "m = 50"), "steps") == "8000");
}

TEST_CASE("Ebrahimi & Memisevic, Tables 2 and 3: cells and numbers") {
  const PaperTable factors = paper_scale("ebrahimi3");
  CHECK(factors.experiments.size() == 12 * 6);
  const auto sums = sums_of(factors);
  struct Row {
    const char* name;
    long trained, longer;
  };
  for (const Row& row : {Row{"R = 1", 5, 4},
                         {"R = 2", 4, 2},
                         {"R = 4", 268, 227},
                         {"R = 8", 311, 262},
                         {"R = 16", 351, 323},
                         {"R = 64", 430, 408},
                         {"R = 128", 478, 426},
                         {"R = 256", 519, 501},
                         {"R = 512", 545, 510},
                         {"R = 1024", 600, 578},
                         {"R = 2048", 600, 600},
                         {"full", 600, 600}}) {
    CAPTURE(row.name);
    CHECK(sums.at(row.name).trained == row.trained);
    CHECK(sums.at(row.name).longer == row.longer);
  }
  CHECK(cell_of(factors, "R = 8", "m = 5").paper == 0.58);
  CHECK(cell_of(factors, "R = 1024", "m = 50").paper == 0.78);
  CHECK(cell_of(factors, "R = 128", "m = 25").paper_trained == 0.68);
  CHECK(value(cell_of(factors, "R = 2048", "m = 50"), "rank") == "2048");

  const PaperTable left = paper_scale("ebrahimi2-additive");
  CHECK(left.experiments.size() ==
        2 * 2 * 4 * 5 + 4 * 5);  // two tasks, two models, four kinds, five moduli; four first sizes
  CHECK(value(cell_of(left, "rotations, constant within ±0.001", "m = 25"), "bias-spread") == "0.001");
  CHECK(!cell_of(left, "rotations, constant within ±0.1", "m = 2").paper);
  CHECK(cell_of(left, "rotations, constant", "m = 2").paper == 0.03);
  CHECK(cell_of(left, "rotations, none", "m = 25").paper == 0.98);
  CHECK(!cell_of(left, "full, none", "m = 25").paper);
  CHECK(!cell_of(left, "state machine, rotations, none", "m = 25").paper);

  const PaperTable right = paper_scale("ebrahimi2-parity");
  CHECK(right.experiments.size() == 4 * 6);
  CHECK(cell_of(right, "constant", "100 words of 10").paper == 0.87);
  CHECK(cell_of(right, "constant", "100 words of 20").paper == 0.74);
  CHECK(cell_of(right, "input-dependent", "2 words of 20").paper == 0.07);
  for (const Experiment& cell : right.experiments) {
    CHECK(cell.length == 400);
    CHECK(cell.training.optimiser.steps * cell.training.words == 1000 * cell.training.samples);
    CHECK(cell.training.samples % cell.training.words == 0);  // every word is read
    CHECK(cell.seeds.size() == 5);
    if (cell.row == "none") CHECK(cell.paper == 1);
    if (cell.training.samples != 2) continue;
    const auto task = make_task(cell.task);
    for (const std::uint64_t seed : cell.seeds) {
      const TrainingBatch batch = draw_batch(*task, cell.training.lengths, seed, 0, 2);
      CHECK(batch.targets[0].label != batch.targets[1].label);
    }
  }
  CHECK(paper_table("ebrahimi2", TableScale::kSmall, Recipe::kSteady, {7, 2}).experiments[0].seeds.size() == 200);

  const PaperTable figure = paper_scale("ebrahimi-figure2");
  CHECK(figure.experiments.size() == (3 * 5 + 2) * 13);
  for (const Experiment& each : figure.experiments) {  // a thousand times each word
    CHECK(each.training.optimiser.steps * std::min<std::uint64_t>(each.training.words, each.training.samples) ==
          1000 * each.training.samples);
    CHECK(value(each, "lengths") == (each.row.ends_with("10 inputs alone") ? "10" : "2–10"));
  }
  const PaperTable angles = paper_scale("ebrahimi-figure3");
  REQUIRE(angles.experiments.size() == 1);
  CHECK(angles.cells_of == "ebrahimi1");
  CHECK(description(angles.experiments[0]) ==
        description(cell_of(paper_scale("ebrahimi1"), "modular addition, rotations", "m = 10")));
}

TEST_CASE("Ebrahimi & Memisevic's protocol, App. B.2") {
  for (const char* name : {"ebrahimi1", "ebrahimi2-additive", "ebrahimi3"}) {
    const PaperTable table = paper_scale(name);
    CHECK(table.rescaled);
    for (const Experiment& cell : table.experiments) {
      CAPTURE(cell.model);
      CHECK(cell.rates == std::vector<double>{1e-3, 1e-4, 1e-5});
      const std::string protocol =
          "steps=100000; words of a batch=64; lengths=2–10; test lengths=500; schedule=constant; warm-up=0; weight "
          "decay=0; clip=0; smoothing=0; stop at=1e-05";
      CHECK(settings_as(cell, protocol) == protocol);
      const std::string sizes = "hidden=256; inputs=256; spread=0.01";
      if (cell.model.starts_with("bilinear")) CHECK(settings_as(cell, sizes) == sizes);
    }
  }
  CHECK(value(cell_of(paper_scale("ebrahimi1"), "state machine, factored", "m = 50"), "rank") == "256");
}

TEST_CASE("small models begin with the spectral radius of the paper's") {
  const PaperTable paper = paper_scale("ebrahimi1"),
                   small = paper_table("ebrahimi1", TableScale::kSmall, Recipe::kPaper);
  const auto number = [](const Experiment& cell, const char* name) {
    const std::string text = value(cell, name);
    return text.empty() ? 0.0 : std::stod(text);
  };
  for (const Experiment& cell : small.experiments) {
    if (!cell.model.starts_with("bilinear")) continue;
    CAPTURE(cell.row);
    CAPTURE(cell.column);
    const auto radius = [&](const Experiment& each) {
      const double hidden = number(each, "hidden"), inputs = number(each, "inputs"), spread = number(each, "spread");
      if (const double rank = number(each, "rank"); rank > 0)
        return std::pow(spread, 3) * std::sqrt(hidden * rank * inputs / 27);
      const double block = each.model.starts_with("bilinear:full") ? hidden : std::max(1.0, number(each, "block"));
      return spread * std::sqrt(inputs * block / 3);
    };
    CHECK(radius(cell) == doctest::Approx(radius(cell_of(paper, cell.row, cell.column))).epsilon(0.02));
  }
}

// The papers' tables: their numbers and protocols, typed here from the papers' text a second time, and what is said of
// where a table is not the paper's. Those of Ebrahimi & Memisevic are above.

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
      const bool is_scale_free = one.model.starts_with("bilinear") && !contains(one.model, "bias");
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
      const std::string protocol = fmt::format(
          "steps=40000; words of a batch=128; lengths={}; test lengths={}; validation lengths={}; validation "
          "words=128; "
          "validate every=1000",
          is_deep ? 39 : 40, is_deep ? 499 : 500, is_deep ? 499 : 500);
      CHECK(settings_as(cell, protocol) == protocol);
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
    const std::string protocol = fmt::format(
        "steps=100000; words of a batch=1024; warm-up=10000; schedule=cosine; least rate=1e-06; weight decay=0.1; "
        "clip={}; "
        "layers={}; width=128; lengths=3–40; test lengths=40–256; test words=8192; smoothing=0",
        is_parity ? 0 : 1, is_parity ? 2 : 3);
    CHECK(settings_as(one, protocol) == protocol);
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
      const std::string protocol = fmt::format(
          "words of a batch=512; samples=1600000; samples of all seeds=the same; weight decay=0.01; clip=1; test "
          "words=40000; test lengths=500; lengths={}; conv=",
          !contains(cell.task, "tokens=") ? 32 : 64);
      CHECK(settings_as(cell, protocol) == protocol);
      CHECK(cell.rates == std::vector<double>{1e-4});
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
  // The description has everything that a run depends on, and nothing that is only tested otherwise.
  const auto said = [&](auto change, bool is_of_test = false) {
    here.experiments = {cell};
    change(here.experiments[0]);
    CHECK((description(here.experiments[0]) == description(cell)) == is_of_test);
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
  CHECK(said([](Experiment& e) { e.rates = {1e-2}; }, true) == "rates 0.001 → 0.01");
  CHECK(said([](Experiment& e) { e.length = 400; }, true) == "test lengths 500 → 400");
  CHECK(said([](Experiment& e) { e.words = 10; }, true) == "test words 300 → 10");
  CHECK(said([](Experiment& e) { e.test_lengths = LengthRange{40, 256}; }, true) == "test lengths 500 → 40–256");
  CHECK(said([](Experiment& e) { e.test_task = "S3"; }, true) == "test task parity → S3");
  here.rescaled = true;
  CHECK(said([](Experiment&) {}, true) == "states rescaled at the test no → yes");
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

// A paper's way of counting runs, against counting by hand and by trying all.

TEST_CASE("the papers' ways of counting, by hand") {
  // Two rates, three seeds: 0.1 has the better median, 0.01 the best run, the least loss and the best mean.
  const std::vector<RunFigure> runs{{0.1, 1, 0.5, 0.9, 3},  {0.1, 2, 0.6, 0.8, 4},  {0.1, 3, 0.7, 0.7, 5},
                                    {0.01, 1, 1.0, 0.6, 2}, {0.01, 2, 0.2, 0.5, 1}, {0.01, 3, 0.1, 0.1, 6}};
  const auto counted = [&](Reported reported) { return reported_figure(reported, runs); };
  CHECK(counted(Reported::kLeastLoss).figure == 0.2);
  CHECK(counted(Reported::kLeastLoss).rate == 0.01);
  CHECK(counted(Reported::kBest).figure == 1.0);
  CHECK(counted(Reported::kMedian).figure == 0.6);
  CHECK(counted(Reported::kMedian).spread == doctest::Approx(0.1));
  CHECK(counted(Reported::kMedian).rate == 0.1);
  CHECK(counted(Reported::kBestOfMedianRate).figure == 0.7);
  CHECK(counted(Reported::kBestRate).figure == doctest::Approx((1.0 + 0.6 + 0.7) / 3));
  CHECK(counted(Reported::kMeanOfTrials).figure == doctest::Approx(0.6));
  CHECK_THROWS_AS(reported_figure(Reported::kBest, {}), InputError);
}

TEST_CASE("the median of an even number of figures is the mean of the middle two") {
  CHECK(median_of({3}) == 3);
  CHECK(median_of({4, 1}) == 2.5);
  CHECK(median_of({9, 1, 4}) == 4);
  CHECK(median_of({8, 1, 100, 2}) == 5);
}

TEST_CASE("of random runs: medians split the seeds, the best rate of a seed is one of its runs") {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t rates = 1 + random.next() % 4, seeds = 1 + random.next() % 6;
    std::vector<RunFigure> runs;
    for (std::uint64_t rate = 1; rate <= rates; ++rate)
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        runs.push_back({static_cast<double>(rate), seed, static_cast<double>(random.next() % 100), 0, 0});
    const ReportedFigure median = reported_figure(Reported::kMedian, runs);
    double best_sum = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      double best = -1;
      for (const RunFigure& run : runs)
        if (run.seed == seed) best = std::max(best, run.test);
      best_sum += best;
    }
    CHECK(reported_figure(Reported::kBestRate, runs).figure ==
          doctest::Approx(best_sum / static_cast<double>(seeds)).epsilon(1e-12));
    for (double rate = 1; rate <= static_cast<double>(rates); ++rate) {
      std::uint64_t above = 0, below = 0;
      for (const RunFigure& run : runs) {
        if (run.rate != rate) continue;
        above += run.test > median.figure;
        below += run.test < median.figure;
      }
      CHECK(2 * above <= seeds);  // no rate has a greater median
      if (rate == median.rate) CHECK(2 * below <= seeds);
    }
  }
}

// Smoothed targets, and a table's cells as experiments.

using krohn::test::Scratch;

TEST_CASE("smoothed cross-entropy: by hand, its gradient by differences, and none when nothing is smoothed") {
  const std::vector<double> logits{0.3, -1.2, 2.0, 0.5, 0.1, -0.4};
  for (const float smoothing : {0.f, 0.1f, 0.5f}) {
    CAPTURE(smoothing);
    const std::vector<TrainingBatch::Target> targets{{0, 0, 2, smoothing}, {0, 1, 0, smoothing}};
    const auto loss_at = [&](std::vector<double> at) { return cross_entropy<double>(at, 3, targets).loss; };
    double by_hand = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      double sum = 0;
      for (std::size_t l = 0; l < 3; ++l) sum += std::exp(logits[3 * i + l]);
      for (std::size_t l = 0; l < 3; ++l) {
        const double wanted = double{smoothing} / 3 + (l == targets[i].label ? 1 - double{smoothing} : 0);
        by_hand -= wanted * (logits[3 * i + l] - std::log(sum)) / 2;
      }
    }
    CHECK(loss_at(logits) == doctest::Approx(by_hand).epsilon(1e-12));
    std::vector<double> gradient = logits;
    cross_entropy<double>(gradient, 3, targets);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      std::vector<double> up = logits, down = logits;
      up[i] += 1e-5, down[i] -= 1e-5;
      CHECK(gradient[i] == doctest::Approx((loss_at(up) - loss_at(down)) / 2e-5).epsilon(1e-7));
    }
  }
}

TEST_CASE("cross-entropy of more rows than one product of their sums holds, each counted once or several times") {
  for (const std::uint32_t rows : {1U, 285U, 286U, 287U, 288U, 2000U})  // 5^286 < 10^200 < 5^287
    for (const bool counted : {false, true}) {
      CAPTURE(rows);
      CAPTURE(counted);
      std::vector<double> logits(std::size_t{rows} * 5, 0.25);  // every sum is 5, or less
      for (std::uint32_t i = 0; rows == 2000 && i < rows; i += 7) logits[std::size_t{i} * 5 + i % 5] = -1.5;
      std::vector<TrainingBatch::Target> targets;
      std::vector<std::uint32_t> counts;
      double loss = 0, all = 0;
      for (std::uint32_t i = 0; i < rows; ++i) {
        targets.push_back({0, i, i % 3});
        counts.push_back(counted ? 1 + i % 4 : 1);
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k) sum += std::exp(logits[std::size_t{i} * 5 + k]);
        loss += counts.back() * (std::log(sum) - logits[std::size_t{i} * 5 + i % 3]);
        all += counts.back();
      }
      if (!counted) counts.clear();
      const BatchLoss found = cross_entropy<double>(logits, 5, targets, counts);
      CHECK(found.loss == doctest::Approx(loss / all).epsilon(1e-13));
      CHECK(found.targets == static_cast<std::uint64_t>(all));
    }
}

TEST_CASE("smoothed targets keep the modulus at 1 and the angles exact, far past the lengths of training") {
  const auto task = make_task("modadd3");
  TrainOptions options{.smoothing = 0.1, .stop_at = 0};
  options.optimiser.steps = 3000;
  options.optimiser.learning_rate = 3e-3;
  options.optimiser.schedule = Schedule::kCosine;
  Trainer trainer(*task, "bilinear:full,hidden=8,inputs=8,spread=0.1", options);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  CHECK(evaluate_model(trainer.model(), *task, 2000, EvaluateModelOptions{.words = 50}).right == 50);
  const Network network = network_of(trainer.model(), *task);
  const Spectrum found = spectrum(network);
  CHECK(found.alive == 2);  // a plane of nine coordinates
  for (Letter letter = 0; letter < network.automaton.letters(); ++letter) {
    CHECK(found.letters[letter].spectral_radius == doctest::Approx(1).epsilon(0.01));
    CHECK(found.letters[letter].orthogonality_defect < 0.9);  // 1 where dead modes count
    const Mode& mode = found.letters[letter].modes[0];
    const Turn turn = nearest_exact_turn(network.automaton.letter_map(letter), mode.turn());
    CHECK(turn_distance(mode.turn(), double(turn.numerator) / double(turn.denominator)) < 1e-3);
  }
}

TEST_CASE("a fixed number of samples is trained on again and again") {
  const auto task = make_task("modadd2");
  TrainOptions options{.samples = 2};
  options.optimiser.steps = 200;
  options.optimiser.learning_rate = 0.1;
  Trainer trainer(*task, "bilinear:diagonal,hidden=16,inputs=8,frozen", options);
  trainer.step();
  const double first = trainer.last_loss().loss;
  CHECK(trainer.last_loss().targets == 2);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  CHECK(trainer.last_loss().loss < first / 10);
}

TEST_CASE("an experiment says how far its model holds and what it snaps to") {
  Experiment cell{
      .task = "modadd2", .model = "bilinear:full,hidden=8,inputs=8,spread=0.1", .rates = {3e-3}, .seeds = {1, 2}};
  cell.training.optimiser.steps = 2000;
  cell.training.stop_at = 0;
  cell.training.smoothing = 0.1;
  cell.training.optimiser.schedule = Schedule::kCosine;
  cell.length = 100;
  cell.words = 50;
  const ExperimentResult result = run_experiment(cell, ExperimentOptions{.lengths = {100, 1000}, .words = 20});
  REQUIRE(result.runs.size() == 2);
  CHECK(result.runs[0].record.steps == 2000);
  CHECK(result.runs[0].at.words == 50);
  CHECK(result.holding_runs() >= 1);
  CHECK(result.runs[result.best].record.validation_loss <= result.runs[1 - result.best].record.validation_loss);
  REQUIRE(!result.lengths.empty());
  CHECK(result.lengths[0].scaled == 1);
  CHECK(result.lengths[0].whole == 1);
  CHECK(!result.snapped.empty());
  CHECK(!result.claim.empty());
}

namespace {

Experiment short_parity() {
  Experiment cell{.task = "modadd2", .model = "bilinear:diagonal,hidden=8,inputs=4", .rates = {1e-2}, .seeds = {1, 2}};
  cell.training.optimiser.steps = 50;
  cell.length = 20;
  cell.words = 20;
  return cell;
}

}  // namespace

TEST_CASE("kept runs are examined again without training, and only as what they are") {
  const Scratch folder("kept-runs");
  Experiment cell = short_parity();
  ExperimentOptions options{.lengths = {20}, .folder = folder.path().string()};
  std::uint64_t steps = 0;
  options.progress = [&steps](std::uint64_t done, std::uint64_t) { steps = done; };
  const ExperimentResult first = run_experiment(cell, options);
  CHECK(steps > 0);
  steps = 0;
  const ExperimentResult again = run_experiment(cell, options);
  CHECK(steps == 0);
  REQUIRE(again.runs.size() == 2);
  CHECK(again.best == first.best);
  for (std::size_t i = 0; i < 2; ++i) {
    const RunRecord &before = first.runs[i].record, &after = again.runs[i].record;
    CHECK(after.steps == before.steps);
    CHECK(after.end == before.end);
    CHECK(after.validation_loss == before.validation_loss);
    CHECK(after.right == before.right);
    CHECK(after.targets == before.targets);
    CHECK(again.runs[i].at.scaled == first.runs[i].at.scaled);
  }
  CHECK(again.reading == "as trained");
  CHECK(!again.claim.empty());
  // Another function is measured, and nothing is claimed of the model.
  options.rescaled = true;
  const ExperimentResult rescaled = run_experiment(cell, options);
  CHECK(rescaled.reading != again.reading);
  CHECK(rescaled.claim.empty());
  cell.training.optimiser.clip = 1;
  CHECK_THROWS_WITH_AS(run_experiment(cell, options), doctest::Contains("another model"), InputError);
}

TEST_CASE("all that a run depends on stands in its description") {
  const Experiment cell = short_parity();
  const auto differs = [&](auto change) {
    Experiment other = cell;
    change(other);
    return description(other) != description(cell);
  };
  CHECK(!differs([](Experiment& e) { e.words = 7, e.paper = 1, e.row = "another"; }));
  CHECK(differs([](Experiment& e) { e.task = "modadd3"; }));
  CHECK(differs([](Experiment& e) { e.model += ",bias"; }));
  CHECK(differs([](Experiment& e) { e.training.lengths = {2, 9}; }));
}

TEST_CASE("mean and deviation, by hand") {
  const Spread spread = spread_of({1, 0.5, 0.75, 0.75});
  CHECK(spread.mean == doctest::Approx(0.75));
  CHECK(spread.deviation == doctest::Approx(std::sqrt(0.125 / 3)));
  CHECK(spread.least == 0.5);
  CHECK(spread.greatest == 1);
  CHECK(spread_of({0.25}).deviation == 0);
}

TEST_CASE("a length that the task lacks is measured at the next") {
  Experiment cell = short_parity();
  cell.task = "modarith5";  // odd lengths
  cell.model = "fan:blocks=1,size=4,norm=1";
  cell.training.lengths = {1, 5};
  cell.length = 19;
  const ExperimentResult result = run_experiment(cell, ExperimentOptions{.lengths = {10}});
  REQUIRE(result.lengths.size() == 1);
  CHECK(result.lengths[0].length == 11);
  CHECK(result.runs[0].at.length == 19);
}

TEST_CASE("words of a range of lengths: each length as often, counted as by hand") {
  Experiment cell = short_parity();
  cell.seeds = {3};
  cell.test_lengths = LengthRange{5, 9};
  cell.words = 400;
  const ExperimentRun run = run_once(cell, 1e-2, 3, ExperimentOptions{.lengths = {20}});
  CHECK(run.at.words == 400);
  CHECK(run.at.length == 9);
  // Every length's share, by the lengths of the same data set.
  const auto task = make_task(cell.task);
  TrainOptions training = cell.training;
  training.optimiser.learning_rate = 1e-2;
  training.seed = 3;
  const TrainedRun trained = train_run(*task, cell.model, training, {});
  const DatasetOptions dataset{.lengths = {5, 9}, .seed = EvaluateModelOptions{}.seed};
  std::vector<std::uint64_t> words_of(10, 0);
  for (std::uint64_t word = 0; word < 400; ++word) ++words_of[sample_length(*task, dataset, word)];
  double right = 0, targets = 0;
  for (std::uint64_t length = 5; length <= 9; ++length) {
    CHECK(words_of[length] > 40);
    const ModelAccuracy at =
        evaluate_model(*trained.model, *task, length, EvaluateModelOptions{.words = words_of[length]});
    right += static_cast<double>(at.right), targets += static_cast<double>(at.targets);
  }
  CHECK(targets == 400);
  CHECK(run.at.scaled == doctest::Approx(scaled(right / targets, 0.5)));
}

TEST_CASE("trained on answers at every prefix, tested at the end") {
  Experiment cell = short_parity();
  cell.task = "sum2/prefixes";
  cell.test_task = "sum2";
  cell.model = "fan-released:layers=1,blocks=2,size=2";
  cell.training.lengths = {6, 6};
  cell.training.validation_lengths = LengthRange{12, 12};
  cell.training.validation_words = 64;
  cell.training.validate_last = true;
  const ExperimentResult result = run_experiment(cell, ExperimentOptions{.lengths = {20}});
  CHECK(result.runs[0].record.targets == 64);  // one of a word
  CHECK(result.runs[0].at.words == 20);
  CHECK(!result.claim.empty());
}

TEST_CASE("an experiment examines models that are no networks too") {
  Experiment cell{.task = "parity",
                  .model = "deltaproduct:width=8,heads=1,keys=4,values=4,signed,mlp=8",
                  .rates = {0.01},
                  .seeds = {1}};
  cell.training.optimiser.steps = 600;
  cell.training.stop_at = 0;
  cell.training.lengths = {2, 20};
  cell.length = 40;
  const ExperimentOptions options{.lengths = {40}, .words = 20};
  const ExperimentResult result = run_experiment(cell, options);
  CHECK(result.lengths[0].scaled == 1);
  CHECK((result.claim == "refuted" || result.claim == "proved up to a length"));
  CHECK(result.claim_length > 10);
  CHECK(!result.snapped.empty());
  cell.model = "deltaproduct:width=8,heads=1,keys=4,values=4,mlp=8";  // eigenvalues in [0, 1] cannot
  cell.training.optimiser.steps = 100;
  const ExperimentResult weak = run_experiment(cell, options);
  CHECK(weak.claim == "refuted");
  CHECK(weak.claim_length > 0);
  CHECK(weak.snapped.empty());
}
