// groups/permutations/block_systems.h — invariant partitions of the points, and primitivity (Atkinson, Math. Comp. 29,
// 1975).
#pragma once

#include <optional>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// A partition of the points that every element of a group respects. For a transitive group: a system of blocks.
struct BlockSystem {
  Point blocks = 0;
  std::vector<Point> block_of;  ///< of each point; blocks are numbered in the order of their least points
  friend bool operator==(const BlockSystem&, const BlockSystem&) = default;
};

/// The finest invariant partition with both points in one block. The group need not be transitive.
/// O(degree · generators) merges. Throws InputError when a point is outside the degree.
BlockSystem finest_block_system(const PermutationGroup& group, Point a, Point b);

/// The systems of blocks of a transitive group that no other system refines, except the one of single points; without
/// the system of one block. Empty exactly when the group is primitive. In the order of the least second point of the
/// first block. O(degree² · generators) merges. Throws InputError when the group is not transitive.
std::vector<BlockSystem> minimal_block_systems(const PermutationGroup& group);

/// One minimal block system, unless the group is primitive. Stops at the first system that has two blocks or more.
std::optional<BlockSystem> some_block_system(const PermutationGroup& group);

/// Transitive, without a system of blocks other than the two trivial ones. Groups of degree 0 and 1 are.
bool is_primitive(const PermutationGroup& group);

/// The points of every block, increasing.
std::vector<std::vector<Point>> members(const BlockSystem& system);

}  // namespace krohn
