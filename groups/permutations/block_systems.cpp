#include "krohn/groups/permutations/block_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// Union–find whose classes are closed under the generators: whenever p and q meet, so do p·g and q·g.
class Merger {
 public:
  explicit Merger(const PermutationGroup& group) : group_(group), parent_(group.degree()) {
    std::iota(parent_.begin(), parent_.end(), Point{0});
  }

  void identify(Point a, Point b) {
    merge(a, b);
    for (; !pending_.empty();) {
      const auto [p, q] = pending_.back();
      pending_.pop_back();
      for (const NamedPermutation& g : group_.generators()) merge(g.value[p], g.value[q]);
    }
  }

  BlockSystem system() {
    BlockSystem result;
    result.block_of.resize(parent_.size());
    // The root is the least point of its class, so it is met first.
    for (Point point = 0; point < parent_.size(); ++point) {
      const Point root = find(point);
      result.block_of[point] = root == point ? result.blocks++ : result.block_of[root];
    }
    return result;
  }

 private:
  Point find(Point point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }
  void merge(Point p, Point q) {
    p = find(p);
    q = find(q);
    if (p == q) return;
    parent_[std::max(p, q)] = std::min(p, q);
    pending_.emplace_back(p, q);
  }

  const PermutationGroup& group_;
  std::vector<Point> parent_;
  std::vector<std::pair<Point, Point>> pending_;
};

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
  Merger merger(group);
  merger.identify(a, b);
  return merger.system();
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
