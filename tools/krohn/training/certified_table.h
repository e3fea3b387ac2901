// tools/krohn/training/certified_table.h — `krohn table certified`: how often training ends in a proof; `krohn table
// regions`: of how many cells, as they are trained, regions close.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/shards/part_file.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {

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
