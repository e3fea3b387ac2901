// tools/krohn/training/certified_table.h — `krohn table certified`: how often training ends in a proof.
#pragma once

#include <cstdint>
#include <string>

#include "tools/krohn/shards/shard_options.h"

namespace krohn {

struct CertifiedTableOptions {
  std::string folder;                   ///< keeps every run; the same command goes on after those that are there
  std::string only;                     ///< cells whose family and task have this text
  std::uint64_t first = 21, count = 5;  ///< seeds
  unsigned threads = 0;
  bool json = false;
};

/// Trains every cell (simulate/closing/certified_cells.h) with every seed to a proof or to its end, and prints the
/// shares; with --shard, only the runs of this shard, for the same command without it to print. Returns the exit
/// status. Throws InputError when no cell has the text.
int make_certified_table(const CertifiedTableOptions& options, const ShardOptions& shards);

}  // namespace krohn
