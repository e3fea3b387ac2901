#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
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

/// E.1.1 and E.2.1: AdamW with weight decay; gradients clipped; here with a warm-up of a twentieth, and for small runs
/// smoothed targets and half a cosine.
TrainOptions training_of(const Setup& setup, TableScale scale, Recipe recipe) {
  TrainOptions training;
  training.lengths = setup.lengths;
  training.words = setup.words;
  training.stop_at = 0;
  training.optimiser.steps = setup.steps;
  training.optimiser.clip = 1;
  training.optimiser.warm_up = setup.steps / 20;
  if (recipe == Recipe::kSteady) {
    training.smoothing = 0.1;
    training.optimiser.schedule = Schedule::kCosine;
    // Long words tell seeds apart that are all right at the lengths of training.
    training.validation_lengths = LengthRange{64, 128};
    training.validate_every = 4'000;
  }
  if (recipe == Recipe::kHard || scale == TableScale::kPaper) training.optimiser.weight_decay = 0.01;
  return training;
}

PaperTable table_of(const std::vector<Setup>& setups, TableScale scale, Recipe recipe, std::uint64_t length) {
  PaperTable table;
  for (const Setup& setup : setups)
    for (const Column& column : setup.columns) {
      Experiment cell;
      cell.row = setup.row;
      cell.column = column.name;
      cell.task = setup.task;
      cell.model = column.model;
      cell.training = training_of(setup, scale, recipe);
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
  return {
      {"S_3, only swaps", "S3/swaps", {2, 32}, 64, 8'000, 1e-2, {one(kSigned, 1), one(kUnsigned, 1)}},
      {"S_5, only swaps", "S5/swaps", {2, 48}, 48, 8'000, 3e-3, {wide, wide_positive}},
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
      {"Z_12, 2 tokens per transition", "Z12/tokens=2", {4, 32}, 64, 16'000, 5e-3, {one(kSigned, 1), diagonal}}};
}

/// E.2.1: width 128, 4 heads, SiLU, no convolution; 100 epochs of 1.6 million samples in batches of 512.
std::vector<Setup> groups_of_paper() {
  constexpr std::uint64_t kSteps = 100 * (1'600'000 / 512);
  const auto delta = [](const char* range, std::uint32_t count, std::uint32_t layers) {
    return Column{fmt::format("DeltaNet, {} a token, {}, {} layers", count, *range ? "[-1, 1]" : "[0, 1]", layers),
                  fmt::format("deltaproduct:{}reflections={},layers={},width=128,heads=4", range, count, layers)};
  };
  const auto mamba = [](const char* range, std::uint32_t layers) {
    return Column{fmt::format("Mamba, {}, {} layers", *range ? "[-1, 1]" : "[0, 1]", layers),
                  fmt::format("diagonal:{}layers={},width=128", range, layers)};
  };
  const std::vector<Column> swaps{delta(kSigned, 1, 1), delta(kUnsigned, 1, 5), delta(kSigned, 1, 5),
                                  mamba(kSigned, 5),    mamba(kUnsigned, 5),    {"full matrix", "dense:size=32"}};
  std::vector<Column> all = swaps;
  for (const std::uint32_t count : {2, 4}) all.push_back(delta(kSigned, count, 1));
  const auto setup = [&](const char* row, const char* task, std::uint64_t length, const std::vector<Column>& columns) {
    return Setup{row, task, {length, length}, 512, kSteps, 1e-4, columns};
  };
  return {setup("S_5, only swaps", "S5/swaps", 32, swaps),
          setup("S_5, swaps and 3-cycles", "S5/swaps and 3-cycles", 32, all),
          setup("S_5, 4 tokens per transition", "S5/tokens=4", 64, swaps),
          setup("S_5", "S5", 32, all),
          setup("Z_60", "Z60", 32, all),
          setup("Z_60, 2 tokens per transition", "Z60/tokens=2", 64, swaps)};
}

}  // namespace

PaperTable grazzi5(TableScale scale, Recipe recipe) {
  struct Model {
    const char *name, *small, *paper;
    std::array<double, 3> reported;
  };
  static constexpr std::array<Model, 4> kModels{
      {{"Mamba [0, 1]", "diagonal:width=32,channels=32,states=4", "diagonal:width=128", {0, 0.066, 0.072}},
       {"Mamba [-1, 1]",
        "diagonal:signed,width=32,channels=32,states=4",
        "diagonal:signed,width=128",
        {1, 0.214, 0.126}},
       {"DeltaNet [0, 1]",
        "deltaproduct:width=32,heads=1,mlp=32",
        "deltaproduct:width=128,heads=4,conv=4",
        {0.010, 0.214, 0.113}},
       {"DeltaNet [-1, 1]",
        "deltaproduct:signed,width=32,heads=1,mlp=32",
        "deltaproduct:signed,width=128,heads=4,conv=4",
        {0.999, 0.826, 0.129}}}};
  struct Language {
    const char *row, *task;
    std::uint32_t small_layers, layers;
    std::uint64_t steps;
    double rate;
  };
  static constexpr std::array<Language, 3> kLanguages{
      {{"parity", "parity", 1, 2, 6'000, 1e-2},
       {"modular arithmetic without brackets", "modarith-equals5", 2, 3, 8'000, 3e-3},
       {"modular arithmetic with brackets", "modarith-brackets5", 2, 3, 8'000, 3e-3}}};
  const bool is_small = scale == TableScale::kSmall;
  std::vector<Setup> setups;
  for (std::size_t i = 0; i < kLanguages.size(); ++i) {
    const Language& language = kLanguages[i];
    Setup setup{language.row,
                language.task,
                {3, 40},
                is_small ? 64U : 1024U,
                is_small ? language.steps : 100'000,
                is_small ? language.rate : 1e-3,
                {}};
    for (const Model& model : kModels)
      setup.columns.push_back({model.name,
                               fmt::format("{},layers={}", is_small ? model.small : model.paper,
                                           is_small ? language.small_layers : language.layers),
                               model.reported[i]});
    setups.push_back(std::move(setup));
  }
  PaperTable table = table_of(setups, scale, recipe, 256);
  table.title = "Scaled accuracy at 256 letters after training on 3 to 40 (the paper: medians over 40 to 256)";
  table.source = "Grazzi et al. 2025, Table 5";
  table.lengths = {40, 256, 10'000, 1'000'000};
  return table;
}

PaperTable grazzi_figure2(TableScale scale, Recipe recipe) {
  PaperTable table = table_of(scale == TableScale::kSmall ? small_groups() : groups_of_paper(), scale, recipe, 500);
  table.title = scale == TableScale::kSmall
                    ? "Share of words right throughout: word problems of the largest groups that two cores train"
                    : "Share of words right throughout: word problems of groups";
  table.source = "Grazzi et al. 2025, Figures 2 and 6 (drawn without numbers)";
  table.lengths = {8, 16, 32, 64, 128, 256, 500, 10'000, 1'000'000};
  table.whole_words = true;
  return table;
}

}  // namespace krohn
