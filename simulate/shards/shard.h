// simulate/shards/shard.h — one of n shares of a list, the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// Share `number` of `count`, 1 ≤ number ≤ count, as in "3/100".
struct Shard {
  std::uint64_t number = 1, count = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

inline constexpr std::uint64_t kMostShards = 1'000'000;

/// Throws InputError for anything but "I/N" with 1 ≤ I ≤ N ≤ kMostShards.
Shard parse_shard(std::string_view text);
std::string to_string(Shard shard);

/// The items, in order, that a shard has of a list with these costs. A function of its arguments alone: every item is
/// in exactly one shard. Items go in order of decreasing cost to the shard with the least so far (longest processing
/// time first), so that no shard has more than 4/3 − 1/(3n) of the least possible greatest cost (Graham, SIAM J. Appl.
/// Math. 17, 1969); equal costs go round. A cost counts as at least 1 and at most 2^40. O(items · log items).
std::vector<std::uint64_t> items_of(Shard shard, const std::vector<std::uint64_t>& costs);

/// "4,7-9": shards as people and `sbatch --array=` take them. `numbers` must increase.
std::string ranges_of(const std::vector<std::uint64_t>& numbers);

}  // namespace krohn
