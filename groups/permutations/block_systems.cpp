#include "krohn/groups/permutations/block_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "krohn/groups/error.h"
#include "krohn/groups/union_find.h"

namespace krohn {
namespace {

bool refines(const BlockSystem& fine, const BlockSystem& coarse) {
  std::vector<Point> image(fine.blocks, coarse.blocks);
  for (std::size_t point = 0; point < fine.block_of.size(); ++point) {
    Point& block = image[fine.block_of[point]];
    if (block == coarse.blocks) block = coarse.block_of[point];
    if (block != coarse.block_of[point]) return false;
  }
  return true;
}

void check_transitive(const PermutationGroup& group) {
  if (!is_transitive(group))
    throw InputError(fmt::format("systems of blocks are asked of a group with {} orbits; take one orbit at a time",
                                 orbits(group).size()));
}

}  // namespace

BlockSystem finest_block_system(const PermutationGroup& group, Point a, Point b) {
  if (std::max(a, b) >= group.degree())
    throw InputError(fmt::format("point {} is outside a group of degree {}", std::max(a, b), group.degree()));
  // Whenever p and q meet, so do p·g and q·g.
  UnionFind<Point> classes(group.degree());
  std::vector<std::pair<Point, Point>> merged;
  if (classes.unite(a, b)) merged.emplace_back(a, b);
  while (!merged.empty()) {
    const auto [p, q] = merged.back();
    merged.pop_back();
    for (const NamedPermutation& g : group.generators())
      if (classes.unite(g.value[p], g.value[q])) merged.emplace_back(g.value[p], g.value[q]);
  }
  BlockSystem system;
  std::tie(system.block_of, system.blocks) = classes.classes();
  return system;
}

std::vector<BlockSystem> minimal_block_systems(const PermutationGroup& group) {
  check_transitive(group);
  std::vector<BlockSystem> systems;
  for (Point b = 1; b < group.degree(); ++b) {
    const BlockSystem found = finest_block_system(group, 0, b);
    if (found.blocks == 1) continue;
    const auto finer = [&](const BlockSystem& other) { return refines(other, found); };
    if (std::any_of(systems.begin(), systems.end(), finer)) continue;
    std::erase_if(systems, [&](const BlockSystem& other) { return refines(found, other); });
    systems.push_back(found);
  }
  return systems;
}

std::optional<BlockSystem> some_block_system(const PermutationGroup& group) {
  check_transitive(group);
  for (Point b = 1; b < group.degree(); ++b)
    if (BlockSystem found = finest_block_system(group, 0, b); found.blocks > 1) return found;
  return {};
}

bool is_primitive(const PermutationGroup& group) { return is_transitive(group) && !some_block_system(group); }

std::vector<std::vector<Point>> members(const BlockSystem& system) {
  std::vector<std::vector<Point>> result(system.blocks);
  for (Point point = 0; point < system.block_of.size(); ++point) result[system.block_of[point]].push_back(point);
  return result;
}

}  // namespace krohn
