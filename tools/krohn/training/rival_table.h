// tools/krohn/training/rival_table.h — the models that a paper compares with, beside krohn's rows of its table. PyTorch
// trains them (docs/results/rivals.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/shards/shard.h"
#include "krohn/simulate/train/tables/paper_tables.h"

namespace krohn {

struct RivalTable {
  /// Of the table, and of its cells; the rivals' runs are kept in its folder "rivals", or "rivals-SCALE".
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
