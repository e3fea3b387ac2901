#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/simulate/train/tables/tables_by_paper.h"

namespace krohn {
namespace {

struct Column {
  std::string name, model;
  std::optional<double> paper = std::nullopt;
};

/// A task as it is trained at a scale, and the models that learn it.
struct Setup {
  std::string row, task;
  LengthRange lengths;
  std::uint32_t words;
  std::uint64_t steps;
  double rate;
  std::vector<Column> columns;
};

/// Smoothed targets, half a cosine after a warm-up of a twentieth, gradients clipped.
TrainOptions steady(const Setup& setup, TableScale scale) {
  TrainOptions training;
  training.lengths = setup.lengths;
  training.words = setup.words;
  training.stop_at = 0;
  training.optimiser.steps = setup.steps;
  training.optimiser.clip = 1;
  training.optimiser.warm_up = setup.steps / 20;
  training.smoothing = 0.1;
  training.optimiser.schedule = Schedule::kCosine;
  // Long words tell seeds apart that are all right at the lengths of training.
  training.validation_lengths = LengthRange{64, 128};
  training.validate_every = 4'000;
  if (scale == TableScale::kPaper) training.optimiser.weight_decay = 0.01;
  return training;
}

PaperTable steady_table(const std::vector<Setup>& setups, TableScale scale, std::uint64_t length) {
  PaperTable table;
  for (const Setup& setup : setups)
    for (const Column& column : setup.columns) {
      Experiment cell;
      cell.row = setup.row;
      cell.column = column.name;
      cell.task = setup.task;
      cell.model = column.model;
      cell.training = steady(setup, scale);
      cell.rates = {setup.rate};
      cell.length = length;
      cell.words = 1000;
      cell.paper = column.paper;
      table.experiments.push_back(std::move(cell));
    }
  return table;
}

std::string reflections(const char* range, std::uint32_t count, const char* sizes) {
  return fmt::format("deltaproduct:{}plain,reflections={},{}", range, count, sizes);
}

// One layer, keys without SiLU: of the three reflections of S_3 some two have keys of negative product, whatever their
// signs.
constexpr char kSigned[] = "signed,", kUnsigned[] = "", kSizes[] = "width=64,heads=4,keys=8,values=16,mlp=128",
               kWide[] = "width=64,heads=2,keys=16,values=32,mlp=128";

/// The methods of Figures 2, 5 and 6, named as there: range of eigenvalues, layers. E.2.1: width 128, 4 heads, SiLU, no
/// convolution; the full matrix of 32.
std::vector<Column> methods(TableScale scale) {
  const bool is_small = scale == TableScale::kSmall;
  const int width = is_small ? 32 : 128;
  std::vector<Column> all;
  for (const bool is_signed : {true, false})
    for (const int layers : {1, 5}) {
      const char *const range = is_signed ? "[-1, 1]" : "[0, 1]", *const part = is_signed ? kSigned : kUnsigned;
      all.push_back({fmt::format("DeltaNet {} {}L", range, layers),
                     fmt::format("deltaproduct:{}layers={},width={},heads=4", part, layers, width)});
      all.push_back({fmt::format("Mamba {} {}L", range, layers),
                     fmt::format("diagonal:{}layers={},width={}", part, layers, width)});
    }
  all.push_back({"full matrix", is_small ? "dense:size=16" : "dense:size=32"});
  return all;
}

std::vector<Setup> small_groups() {
  const auto one = [](const char* range, std::uint32_t count) {
    return Column{fmt::format("{} a token, {}", count, range == kSigned ? "[-1, 1]" : "[0, 1]"),
                  reflections(range, count, kSizes)};
  };
  const Column full{"full matrix", "dense:size=8"};
  const Column diagonal{"diagonal, [-1, 1]", "diagonal:signed,width=32,channels=32,states=8"},
      positive{"diagonal, [0, 1]", "diagonal:width=32,channels=32,states=8"};
  const Column wide{"1 a token, [-1, 1]", reflections(kSigned, 1, kWide)},
      wide_positive{"1 a token, [0, 1]", reflections(kUnsigned, 1, kWide)};
  const std::vector<Column> figures = methods(TableScale::kSmall);
  std::vector<Column> swaps = {wide, wide_positive};
  swaps.insert(swaps.end(), figures.begin(), figures.end());
  return {
      {"S_3, only swaps", "S3/swaps", {2, 32}, 64, 8'000, 1e-2, {one(kSigned, 1), one(kUnsigned, 1)}},
      {"S_5, only swaps", "S5/swaps", {2, 48}, 48, 8'000, 3e-3, swaps},
      {"S_4, swaps and 3-cycles",
       "S4/swaps and 3-cycles",
       {2, 12},
       64,
       12'000,
       1e-2,
       {one(kSigned, 2), one(kUnsigned, 2), one(kSigned, 1), full}},
      {"S_3",
       "S3",
       {2, 32},
       64,
       10'000,
       3e-3,
       {{"2 a token, [-1, 1]", reflections(kSigned, 2, kWide)},
        {"2 a token, [0, 1]", reflections(kUnsigned, 2, kWide)},
        wide,
        full}},
      {"S_3, 2 tokens per transition", "S3/tokens=2", {4, 32}, 64, 16'000, 5e-3, {one(kSigned, 1), one(kUnsigned, 1)}},
      {"S_4", "S4", {2, 16}, 64, 20'000, 1e-2, {one(kSigned, 3), one(kUnsigned, 3), one(kSigned, 1), full}},
      {"Z_12", "Z12", {2, 16}, 64, 16'000, 5e-3, {one(kSigned, 2), one(kSigned, 1), diagonal, positive, full}},
      {"Z_12, 2 tokens per transition", "Z12/tokens=2", {4, 32}, 64, 16'000, 5e-3, {one(kSigned, 1), diagonal}},
      // The figures' own setups, with their methods. 8,000 steps of words of 32 letters teach neither DeltaNet nor
      // Mamba swaps and 3-cycles.
      {"S_5, swaps and 3-cycles", "S5/swaps and 3-cycles", {2, 16}, 64, 24'000, 3e-3, figures},
      {"S_5", "S5", {2, 12}, 64, 12'000, 3e-3, figures},
      {"S_5, 4 tokens per transition", "S5/tokens=4", {4, 40}, 64, 16'000, 3e-3, figures}};
}

struct WordProblem {
  const char *row, *task;
  std::uint64_t length;  ///< of training
};

constexpr std::array<WordProblem, 4> kPermutations{{{"S_5", "S5", 32},
                                                    {"S_5, only swaps", "S5/swaps", 32},
                                                    {"S_5, swaps and 3-cycles", "S5/swaps and 3-cycles", 32},
                                                    {"S_5, 4 tokens per transition", "S5/tokens=4", 64}}};
constexpr std::array<WordProblem, 2> kCycles{
    {{"Z_60", "Z60", 32}, {"Z_60, 2 tokens per transition", "Z60/tokens=2", 64}}};

/// E.2.1: 100 epochs of 1.6 million samples in batches of 512, AdamW with a rate of 1e-4 and a decay of 0.01, gradients
/// clipped at 1; tested on 40,000 words of 500 letters.
Experiment as_written(const WordProblem& word, const Column& column, TableScale scale) {
  constexpr std::uint64_t kSamples = 1'600'000, kBatch = 512;
  Experiment cell;
  cell.row = word.row;
  cell.column = column.name;
  cell.task = word.task;
  cell.model = column.model;
  cell.training.lengths = {word.length, word.length};
  cell.training.samples = kSamples;
  cell.training.sample_seed = 1;
  cell.training.words = kBatch;
  cell.training.stop_at = 0;
  cell.training.optimiser.steps = 100 * (kSamples / kBatch);
  cell.training.optimiser.weight_decay = 0.01;
  cell.training.optimiser.clip = 1;
  cell.rates = {1e-4};
  cell.length = 500;
  cell.words = 40'000;
  if (scale == TableScale::kSmall) {
    cell.training.words = 64;
    cell.training.optimiser.steps = 8'000;
    cell.rates = {1e-3};
    cell.words = 1'000;
  }
  return cell;
}

PaperTable figure_as_written(std::span<const WordProblem> words, TableScale scale) {
  PaperTable table;
  for (const WordProblem& word : words)
    for (const Column& column : methods(scale)) table.experiments.push_back(as_written(word, column, scale));
  table.notes = {
      "Which layers each method has in the figures is drawn, not printed: here 1 and 5 of each. Seeds share their "
      "samples, which all read in one order. The schedule is not printed: constant. "
      "MLPs are SwiGLU of twice the width after DeltaNet, none after Mamba."};
  return table;
}

PaperTable finished(PaperTable table, const char* title, const char* source) {
  table.title = title;
  table.source = source;
  table.lengths = {8, 16, 32, 64, 128, 256, 500, 10'000, 1'000'000};
  table.whole_words = true;
  return table;
}

/// All methods of the figures, and DeltaProduct; the paper's sizes with the steady recipe.
std::vector<Setup> large_groups(std::span<const WordProblem> words) {
  constexpr std::uint64_t kSteps = 100 * (1'600'000 / 512);
  std::vector<Column> columns = methods(TableScale::kPaper);
  for (const std::uint32_t count : {2, 4})
    columns.push_back({fmt::format("DeltaProduct of {} [-1, 1] 1L", count),
                       fmt::format("deltaproduct:{}reflections={},width=128,heads=4", kSigned, count)});
  std::vector<Setup> setups;
  for (const WordProblem& word : words)
    setups.push_back({word.row, word.task, {word.length, word.length}, 512, kSteps, 1e-4, columns});
  return setups;
}

}  // namespace

PaperTable grazzi_figure2(TableScale scale, Recipe recipe) {
  const bool is_small = scale == TableScale::kSmall;
  PaperTable table = recipe == Recipe::kPaper
                         ? figure_as_written(kPermutations, scale)
                         : steady_table(is_small ? small_groups() : large_groups(kPermutations), scale, 500);
  for (Experiment& cell : table.experiments) cell.reported = Reported::kBest;
  return finished(std::move(table),
                  is_small && recipe == Recipe::kSteady
                      ? "Share of words right throughout: word problems of the largest groups that two cores train"
                      : "Share of words right throughout: word problems of S_5, the best of the seeds",
                  "Grazzi et al. 2025, Figure 2 (drawn without numbers)");
}

PaperTable grazzi_figure5(TableScale scale, Recipe recipe) {
  PaperTable table = grazzi_figure2(scale, recipe);
  for (Experiment& cell : table.experiments) cell.reported = Reported::kBestRate;
  table.title = "Share of words right throughout: word problems of S_5, all seeds";
  table.source = "Grazzi et al. 2025, Figure 5 (drawn without numbers)";
  table.cells_of = "grazzi-figure2";
  return table;
}

PaperTable grazzi_figure6(TableScale scale, Recipe recipe) {
  PaperTable table = recipe == Recipe::kPaper ? figure_as_written(kCycles, scale)
                                              : steady_table(large_groups(kCycles), TableScale::kPaper, 500);
  if (recipe == Recipe::kSteady && scale == TableScale::kSmall) {
    table.experiments.clear();
    for (const WordProblem& word : kCycles)
      for (const Column& column : methods(scale)) {
        const Setup setup{word.row, word.task, {2, word.length}, 64, 16'000, 5e-3, {column}};
        table.experiments.push_back(steady_table({setup}, scale, 500).experiments[0]);
      }
  }
  for (Experiment& cell : table.experiments) cell.reported = Reported::kBestRate;
  return finished(std::move(table), "Share of words right throughout: addition modulo 60",
                  "Grazzi et al. 2025, Figure 6 (one seed, drawn without numbers)");
}

}  // namespace krohn
