// Ebrahimi & Memisevic's tables: their numbers and protocol, typed here from the paper's text a second time, and the
// recipes of the small scale.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "tests/simulate/train/tables/cells.h"

using namespace krohn;
using namespace krohn::test;

TEST_CASE("Ebrahimi & Memisevic, Table 1: 36 rows of both halves, their sums in hundredths") {
  const PaperTable table = paper_scale("ebrahimi1");
  CHECK(table.experiments.size() == 36 * 6);
  struct Row {
    const char* name;
    long trained, longer;
  };
  static constexpr std::array<Row, 12> kAddition{{{"full", 600, 600},
                                                  {"factored", 600, 595},
                                                  {"blocks of 1", 446, 112},
                                                  {"blocks of 2", 600, 600},
                                                  {"blocks of 8", 600, 600},
                                                  {"blocks of 64", 600, 600},
                                                  {"rotations", 600, 303},
                                                  {"LSTM", 599, 400},
                                                  {"RNN", 600, 442},
                                                  {"Mamba, 1 layer", 507, 2},
                                                  {"Mamba, 2 layers", 600, 3},
                                                  {"Mamba, 4 layers", 547, 3}}};
  static constexpr std::array<Row, 12> kMachine{{{"full", 600, 600},
                                                 {"factored", 519, 501},
                                                 {"blocks of 1", 178, 103},
                                                 {"blocks of 2", 373, 164},
                                                 {"blocks of 8", 469, 358},
                                                 {"blocks of 64", 600, 600},
                                                 {"rotations", 168, 101},
                                                 {"LSTM", 530, 473},
                                                 {"RNN", 459, 425},
                                                 {"Mamba, 1 layer", 404, 240},
                                                 {"Mamba, 2 layers", 453, 265},
                                                 {"Mamba, 4 layers", 502, 280}}};
  static constexpr std::array<Row, 12> kArithmetic{{{"full", 600, 599},
                                                    {"factored", 239, 174},
                                                    {"blocks of 1", 171, 61},
                                                    {"blocks of 2", 329, 65},
                                                    {"blocks of 8", 501, 279},
                                                    {"blocks of 64", 566, 461},
                                                    {"rotations", 146, 15},
                                                    {"LSTM", 590, 563},
                                                    {"RNN", 504, 471},
                                                    {"Mamba, 1 layer", 335, 206},
                                                    {"Mamba, 2 layers", 440, 211},
                                                    {"Mamba, 4 layers", 482, 292}}};
  const auto sums = sums_of(table);
  const auto check = [&](const char* part, const std::array<Row, 12>& rows) {
    for (const Row& row : rows) {
      CAPTURE(part);
      CAPTURE(row.name);
      const auto found = sums.find(fmt::format("{}, {}", part, row.name));
      REQUIRE(found != sums.end());
      CHECK(found->second.trained == row.trained);
      CHECK(found->second.longer == row.longer);
    }
  };
  check("modular addition", kAddition);
  check("state machine", kMachine);
  check("modular arithmetic", kArithmetic);
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
      CHECK(value(cell, "steps") == "100000");
      CHECK(value(cell, "words of a batch") == "64");
      CHECK(value(cell, "lengths") == "2–10");
      CHECK(value(cell, "test lengths") == "500");
      CHECK(value(cell, "schedule") == "constant");
      CHECK(value(cell, "warm-up") == "0");
      CHECK(value(cell, "weight decay") == "0");
      CHECK(value(cell, "clip") == "0");
      CHECK(value(cell, "smoothing") == "0");
      CHECK(value(cell, "stop at") == "1e-05");
      if (cell.model.starts_with("bilinear")) {
        CHECK(value(cell, "hidden") == "256");
        CHECK(value(cell, "inputs") == "256");
        CHECK(value(cell, "spread") == "0.01");
      }
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
