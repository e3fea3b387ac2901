// simulate/train/tables/table_differences.h — in what a table differs from another: what was shrunk, from what to what.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/train/tables/paper_tables.h"

namespace krohn {

/// One of the things that an experiment is: a part of its model, an option of its training, how it is tested.
struct Setting {
  std::string name, value;
};

/// All of them. A part of the model that is left out, for its default, is not among them.
std::vector<Setting> settings(const Experiment& experiment);

struct Difference {
  std::string name;
  std::string paper, here;  ///< "none" where it is left out
  std::uint64_t cells = 0;  ///< in how many
};

struct TableDifferences {
  std::vector<Difference> settings;  ///< of cells that both have, most important first
  std::uint64_t shared = 0;          ///< cells that both have
  std::uint64_t left_out = 0, added = 0;
};

/// Cells correspond by row and column.
TableDifferences differences(const PaperTable& here, const PaperTable& paper);

/// In words, one difference each: "steps 100000 → 8000", "spread 0.01 → 0.08 (24 of 216 cells)".
std::vector<std::string> in_words(const TableDifferences& differences);

}  // namespace krohn
