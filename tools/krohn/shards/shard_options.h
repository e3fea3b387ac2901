// tools/krohn/shards/shard_options.h — the options of verbs that work through lists: a share of the list, or the script
// that gives the shares to a cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "krohn/simulate/shards/shard.h"
#include "tools/krohn/verb.h"

namespace krohn {

struct ShardOptions {
  std::optional<Shard> shard;
  bool slurm = false;
  std::optional<std::uint64_t> shards;  ///< of the script

  bool any() const { return shard || slurm || shards; }
  /// Throws InputError where they do not go together.
  void check() const;
};

void add_shard_options(Verb& verb, ShardOptions& options);

/// The part of a shard among the files of `folder`.
std::string part_in(const std::string& folder, Shard shard);

}  // namespace krohn
