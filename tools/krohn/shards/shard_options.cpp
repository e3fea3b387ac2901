#include "tools/krohn/shards/shard_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "krohn/groups/error.h"

namespace krohn {

void ShardOptions::check() const {
  if (shard && slurm) throw InputError("--slurm", "its script says --shard itself; leave one of the two out");
  if (shards && !slurm) throw InputError("--shards", "is for --slurm; a single share is --shard I/N");
  if (shards && (*shards == 0 || *shards > kMostShards))
    throw InputError("--shards", fmt::format("from 1 to {}", kMostShards));
}

void add_shard_options(Verb& verb, ShardOptions& options) {
  const std::string group = "Shards of a list (docs/reference/many-machines.md)";
  verb.add_option(
          "--shard", [&options](const std::string& text) { options.shard = parse_shard(text); },
          "Do the I-th of N shares; `krohn merge` puts their files together")
      .type_name("I/N")
      .group(group);
  verb.add_flag("--slurm", options.slurm, "Do nothing but print a script for sbatch that does all shards").group(group);
  add_optional_count(verb, "--shards", options.shards, "Of that script; without it as many as items, up to 100")
      .group(group);
}

std::string part_in(const std::string& folder, Shard shard) {
  return (std::filesystem::path(folder) / fmt::format("part-{}-of-{}.jsonl", shard.number, shard.count)).string();
}

}  // namespace krohn
