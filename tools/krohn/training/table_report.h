// tools/krohn/training/table_report.h — a paper's table with what became of its cells: as JSON, for people, drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/shards/part_file.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {

using CellJson = nlohmann::ordered_json;

/// How a table was asked for.
struct TableView {
  PaperTable table;                ///< `rescaled` is how it is measured
  PaperTable paper;                ///< the same by the paper's protocol, or its code's, at the paper's sizes
  std::vector<Experiment> chosen;  ///< of the table's
  std::string scale, recipe;
  std::vector<std::string> lengths;  ///< to measure at
  SeedRange seeds;
};

/// In what the table is not the paper's, or, with the recipe "released", its code's, both at the paper's sizes.
std::string protocol_in_words(const TableView& view);

/// A run alone, as its cell has it.
CellJson run_json(const Experiment& cell, const ExperimentRun& run);
/// Letters that a run reads: a model's size is not known before it is made.
std::uint64_t cost_of(const TrainOptions& training);
/// Every setting of an experiment by name.
CellJson options_json(const Experiment& cell);
/// The content of its file.
CellJson cell_json(const Experiment& cell, const ExperimentResult& result);

/// How many runs of a cell hold, then mean ± deviation and range of a figure ("scaled_accuracy", "words_right") at the
/// paper's length, over those that did not diverge.
std::string runs_in_words(const CellJson& cell, const char* figure);

/// The table with the cells of `view.chosen`, in that order, as their files hold them.
CellJson table_json(const TableView& view, const std::vector<CellJson>& cells);
void print_table(const TableView& view, const std::vector<CellJson>& cells);
/// A curve of every model by length, or of every row by its numbers of samples.
void plot_table(const TableView& view, const std::vector<CellJson>& cells, const std::string& path);

/// A cell with the number of its runs that are not kept.
struct AskedCell {
  const Experiment* cell;
  std::uint64_t runs, kept;
};

/// The place that would train its runs.
struct EstimatePlace {
  unsigned threads = 1;         ///< of the processor: runs share them out
  bool insists = false;         ///< a cell that a device does not train is refused; else it is the processor's
  TrainSideBySide on_device{};  ///< empty: the processor
};

/// Trains a few steps of a run of every cell (of as many runs as would be side by side, on a device) and says what all
/// of them would take: {"cells": [{"row", "column", "place", "runs", "kept", "steps", "seconds_per_step", "hours",
/// "bytes"}, …], "runs", "steps", "hours", "bytes"}. Hours are of training, without measuring and examining, and if no
/// run ends early.
nlohmann::ordered_json table_estimate(std::span<const AskedCell> cells, const EstimatePlace& place);

/// The same for people.
void print_estimate(const nlohmann::ordered_json& estimate, const EstimatePlace& place);

// `krohn table certified`: how often training ends in a proof; `krohn table regions`: of how many cells, as they are
// trained, regions close.

/// True if the name "ROW, COLUMN" of a cell has the text; with "$" behind it, whether the name ends with it: "m = 5" is
/// in "m = 50", too, "m = 5$" is not.
inline bool is_chosen(const std::string& row, const std::string& column, std::string_view only) {
  const std::string name = row + ", " + column;
  return only.ends_with('$') ? name.ends_with(only.substr(0, only.size() - 1)) : name.find(only) != std::string::npos;
}

struct CertifiedTableOptions {
  bool regions = false;                 ///< contracting_cells, trained to the end, and proved in any order
  std::string folder;                   ///< keeps every run; the same command goes on after those that are there
  std::string only;                     ///< cells whose family and task have this text
  std::uint64_t first = 21, count = 5;  ///< seeds
  unsigned threads = 0;
  bool json = false;
};

/// Trains every cell (simulate/closing/proof_rounds.h) with every seed to a proof or to its end, and prints the
/// shares, or what `krohn verify --any-order` says of each; with --shard, only the runs of this shard, for the same
/// command without it to print. Returns the exit status. Throws InputError when no cell has the text.
int make_certified_table(const CertifiedTableOptions& options, const ShardOptions& shards);

// The models that a paper compares with, beside krohn's rows of its table. PyTorch
// trains them (docs/results/rivals.md).

struct RivalTable {
  /// For the table and for its cells; the rivals' runs are kept in its folder "rivals", or "rivals-SCALE".
  std::string name, folder;
  std::string only, scale;
  SeedRange seeds;
  std::optional<Shard> shard;
};

/// Trains what is missing, or this shard's share of it, and returns the cells that have runs, as `krohn table --json`
/// has its own; none of a shard. Throws InputError with what to install where krohn's Python package has no PyTorch,
/// and where the table has no rivals.
std::vector<nlohmann::ordered_json> rival_cells(const RivalTable& table);

/// For people, below krohn's own rows. `whole_words`: the paper counts words whose answers are all right.
void print_rivals(const std::vector<nlohmann::ordered_json>& cells, bool whole_words);

}  // namespace krohn
