// simulate/train/tables/paper_tables.h — the tables of the papers as lists of experiments, with the papers' numbers
// beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/train/tables/table_cell.h"

namespace krohn {

enum class TableScale {
  kSmall,  ///< what two cores train in minutes
  kPaper,  ///< the sizes, steps and learning rates of the paper
};

/// How models are trained.
enum class Recipe {
  kHard,    ///< hard targets and a constant rate, as in the papers; docs/training.md lists what else they do
  kSteady,  ///< small first weights, smoothed targets, a cosine schedule: docs/MATH.md §8
};

struct PaperTable {
  std::string name, title, source;
  std::vector<Experiment> experiments;
  std::vector<std::uint64_t> lengths{};  ///< to measure at; none: the paper's, 10^4 and 10^6
  bool whole_words = false;              ///< the paper counts words whose answers are all right, not answers
  bool is_curve = false;                 ///< columns are numbers of training samples: a figure of accuracy by them
};

/// Seeds of training, one after another.
struct SeedRange {
  std::uint64_t first = 21, count = 5;  ///< recipes were looked for with seeds below 20: those are no test of them
};

/// Every cell is trained with these seeds but those of "ebrahimi2", which has 200 of its own: its two words must have
/// different answers. Throws InputError listing the names.
PaperTable paper_table(std::string_view name, TableScale scale, Recipe recipe, SeedRange seeds = {});
std::vector<std::string> paper_table_names();

}  // namespace krohn
