#include "krohn/simulate/train/tables/paper_tables.h"

#include <fmt/format.h>

#include <array>

#include "krohn/groups/error.h"
#include "krohn/simulate/train/tables/tables_by_paper.h"

namespace krohn {
namespace {

struct Named {
  const char* name;
  PaperTable (*table)(TableScale, Recipe);
};

constexpr std::array<Named, 8> kTables{{{"ebrahimi1", ebrahimi1},
                                        {"ebrahimi2", ebrahimi2},
                                        {"ebrahimi2-additive", ebrahimi2_additive},
                                        {"ebrahimi3", ebrahimi3},
                                        {"ebrahimi-figure2", ebrahimi_figure2},
                                        {"fan2", fan2},
                                        {"grazzi5", grazzi5},
                                        {"grazzi-figure2", grazzi_figure2}}};

}  // namespace

std::vector<std::string> paper_table_names() {
  std::vector<std::string> names;
  for (const Named& each : kTables) names.emplace_back(each.name);
  return names;
}

PaperTable paper_table(std::string_view name, TableScale scale, Recipe recipe, SeedRange seeds) {
  for (const Named& each : kTables)
    if (name == each.name) {
      PaperTable table = each.table(scale, recipe);
      table.name = each.name;
      for (Experiment& cell : table.experiments)
        for (std::uint64_t i = 0; cell.expected_share < 0 && i < seeds.count; ++i)
          cell.seeds.push_back(seeds.first + i);
      return table;
    }
  throw InputError(fmt::format("table \"{}\" is not known; there are {}", name, fmt::join(paper_table_names(), ", ")));
}

}  // namespace krohn
