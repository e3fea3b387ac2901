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
  kSteady,    ///< small first weights, smoothed targets, a cosine schedule: docs/MATH.md §8
  kPaper,     ///< as the paper says
  kReleased,  ///< as the paper's released code does, where it does otherwise: Fan et al.'s
  /// As the paper says, but that states are normalised in training, too: Ebrahimi & Memisevic's, whose introduction has
  /// it so and whose §3 has not.
  kNormalised,
};

struct PaperTable {
  std::string name, title, source;
  std::vector<Experiment> experiments;
  std::vector<std::uint64_t> lengths{};  ///< to measure at; none: the paper's, 10^4 and 10^6
  bool whole_words = false;              ///< the paper counts words whose answers are all right, not answers
  bool is_curve = false;                 ///< columns are numbers of training samples: a figure of accuracy by them
  bool rescaled = false;                 ///< the recipe measures with states kept at their norm
  std::string cells_of{};                ///< the table whose runs these are, counted otherwise; empty: its own
  std::vector<std::string> notes{};      ///< what the recipe cannot do as written, or the paper does not say
};

/// Seeds of training, one after another.
struct SeedRange {
  std::uint64_t first = 21, count = 5;  ///< recipes were looked for with seeds below 20: those are no test of them
};

/// Every cell is trained with these seeds but those of "ebrahimi2", which has 200 of its own. Where two words are all
/// that is trained on, they have different answers: seeds whose words have the same are passed over. Throws InputError
/// listing the names, or the recipes of the table.
PaperTable paper_table(std::string_view name, TableScale scale, Recipe recipe, SeedRange seeds = {});
std::vector<std::string> paper_table_names();

/// The first seeds from `from` on whose two training samples have different answers; others cannot teach anything.
std::vector<std::uint64_t> seeds_with_both_answers(const Experiment& cell, std::uint64_t from, std::uint64_t count);

}  // namespace krohn
