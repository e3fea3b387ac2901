#include "krohn/simulate/train/tables/paper_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "krohn/groups/error.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/tables_by_paper.h"

namespace krohn {
namespace {

struct Named {
  const char* name;
  PaperTable (*table)(TableScale, Recipe);
};

constexpr std::array<Named, 13> kTables{{{"ebrahimi1", ebrahimi1},
                                         {"ebrahimi2", ebrahimi2},
                                         {"ebrahimi2-additive", ebrahimi2_additive},
                                         {"ebrahimi2-parity", ebrahimi2_parity},
                                         {"ebrahimi3", ebrahimi3},
                                         {"ebrahimi-figure2", ebrahimi_figure2},
                                         {"ebrahimi-figure3", ebrahimi_figure3},
                                         {"fan2", fan2},
                                         {"grazzi3", grazzi3},
                                         {"grazzi5", grazzi5},
                                         {"grazzi-figure2", grazzi_figure2},
                                         {"grazzi-figure5", grazzi_figure5},
                                         {"grazzi-figure6", grazzi_figure6}}};

/// Whose code was released.
constexpr std::string_view kWithCode = "fan2";
/// Whose recurrence is trained.
constexpr std::array<std::string_view, 5> kNormalisable{"ebrahimi1", "ebrahimi2-additive", "ebrahimi3",
                                                        "ebrahimi-figure2", "ebrahimi-figure3"};

/// The recipes of a table, as a sentence has them.
std::string recipes_of(std::string_view name) {
  std::vector<std::string> recipes = {"steady", "paper"};
  if (name == kWithCode) recipes.emplace_back("released");
  if (std::ranges::find(kNormalisable, name) != kNormalisable.end()) recipes.emplace_back("normalised");
  const std::string last = recipes.back();
  recipes.pop_back();
  return fmt::format("{} and {}", fmt::join(recipes, ", "), last);
}

std::vector<std::uint64_t> seeds_of(const Experiment& cell, SeedRange range) {
  if (cell.training.samples == 2) return seeds_with_both_answers(cell, range.first, range.count);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < range.count; ++i) seeds.push_back(range.first + i);
  return seeds;
}

}  // namespace

std::vector<std::string> paper_table_names() {
  std::vector<std::string> names;
  for (const Named& each : kTables) names.emplace_back(each.name);
  return names;
}

PaperTable paper_table(std::string_view name, TableScale scale, Recipe recipe, SeedRange seeds) {
  for (const Named& each : kTables)
    if (name == each.name) {
      if (recipe == Recipe::kReleased && name != kWithCode)
        throw InputError("--recipe", fmt::format("released is for {}, whose code does otherwise than the paper says; "
                                                 "of {} there are {}",
                                                 kWithCode, name, recipes_of(name)));
      if (recipe == Recipe::kNormalised && std::ranges::find(kNormalisable, name) == kNormalisable.end())
        throw InputError("--recipe", fmt::format("normalised is for {}; of {} there are {}",
                                                 fmt::join(kNormalisable, ", "), name, recipes_of(name)));
      PaperTable table = each.table(scale, recipe);
      table.name = each.name;
      for (Experiment& cell : table.experiments)
        if (cell.expected_share < 0) cell.seeds = seeds_of(cell, seeds);
      return table;
    }
  throw InputError(fmt::format("table \"{}\" is not known; there are {}", name, fmt::join(paper_table_names(), ", ")));
}

std::vector<std::uint64_t> seeds_with_both_answers(const Experiment& cell, std::uint64_t from, std::uint64_t count) {
  const auto task = make_task(cell.task);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = from; seeds.size() < count; ++seed) {
    const TrainingBatch batch = draw_batch(*task, cell.training.lengths, seed, 0, 2);
    if (batch.targets[0].label != batch.targets[1].label) seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace krohn
