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
  kSmall,  ///< the sizes that two cores train in minutes
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
  std::vector<std::string> notes{};      ///< steps that the recipe cannot do as written, or that the paper leaves open
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

// Ebrahimi & Memisevic 2025: Table 1, Table 2, left and right, and what theory says of the latter, Table 3, Figures 2
// and 3.
PaperTable ebrahimi1(TableScale scale, Recipe recipe);
PaperTable ebrahimi2(TableScale scale, Recipe recipe);
PaperTable ebrahimi2_additive(TableScale scale, Recipe recipe);
PaperTable ebrahimi2_parity(TableScale scale, Recipe recipe);
PaperTable ebrahimi3(TableScale scale, Recipe recipe);
PaperTable ebrahimi_figure2(TableScale scale, Recipe recipe);
PaperTable ebrahimi_figure3(TableScale scale, Recipe recipe);

// Fan et al. 2024: Table 2, the row of their model.
PaperTable fan2(TableScale scale, Recipe recipe);

// Grazzi et al. 2025: Tables 3 and 5 (formal languages), Figures 2 and 5 (S_5) and 6 (Z_60).
PaperTable grazzi3(TableScale scale, Recipe recipe);
PaperTable grazzi5(TableScale scale, Recipe recipe);
PaperTable grazzi_figure2(TableScale scale, Recipe recipe);
PaperTable grazzi_figure5(TableScale scale, Recipe recipe);
PaperTable grazzi_figure6(TableScale scale, Recipe recipe);

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

/// A scale with some of its sizes changed, one at a time.
struct ChangedScale {
  TableScale scale = TableScale::kSmall;
  std::vector<Setting> changes{};  ///< by name; the value "paper" is what the paper's scale has there
};

/// "small", "paper,steps=8000,width=32", "small,rates=1e-3,1e-4,steps=paper". Throws InputError.
ChangedScale parse_scale(std::string_view text);
/// One of all ways to write a scale: equal texts are equal scales.
std::string to_string(const ChangedScale& scale);

/// Changes cells of a table; `paper` is the whole table at the paper's scale by the same recipe. A size is a part of a
/// model ("hidden", "layers"), or an option of training or testing named as `settings` does, "test-words" with a
/// hyphen; "words" are those of a batch, and "width" is what a model calls width, hidden or size, in whole blocks where
/// it has blocks of a size. A warm-up keeps its share of the steps, the channels that a model names theirs of its
/// width. Throws InputError for a size that no cell has, listing those there are; for a number in place of what tells
/// the table's cells apart; and where a model cannot be of the size.
void change_sizes(const ChangedScale& scale, const PaperTable& paper, std::vector<Experiment>& cells);

}  // namespace krohn
