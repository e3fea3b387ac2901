#include "krohn/simulate/shards/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostCost = std::uint64_t{1} << 40;  // no sum of 2^23 of them overflows

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto number = number_of(text.substr(0, slash)), count = number_of(text.substr(slash + 1));
    if (number && count && *number >= 1 && *number <= *count && *count <= kMostShards) return {*number, *count};
  }
  throw InputError("--shard", fmt::format("\"{}\" is no shard; write 3/100 for the third of a hundred (at most {})",
                                          text, kMostShards));
}

std::string to_string(Shard shard) { return fmt::format("{}/{}", shard.number, shard.count); }

std::vector<std::uint64_t> items_of(Shard shard, const std::vector<std::uint64_t>& costs) {
  assert(shard.number >= 1 && shard.number <= shard.count);
  const auto cost_of = [&costs](std::uint64_t item) { return std::clamp<std::uint64_t>(costs[item], 1, kMostCost); };
  std::vector<std::uint64_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, [&](std::uint64_t a, std::uint64_t b) { return cost_of(a) > cost_of(b); });
  using Load = std::pair<std::uint64_t, std::uint64_t>;  // cost so far, shard: the least comes first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint64_t number = 1; number <= shard.count; ++number) loads.emplace(0, number);
  std::vector<std::uint64_t> items;
  for (const std::uint64_t item : order) {
    const auto [load, number] = loads.top();
    loads.pop();
    loads.emplace(load + cost_of(item), number);
    if (number == shard.number) items.push_back(item);
  }
  std::ranges::sort(items);
  return items;
}

std::string ranges_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return text;
}

}  // namespace krohn
