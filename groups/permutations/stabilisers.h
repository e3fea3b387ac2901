// groups/permutations/stabilisers.h — subgroups that keep points, sets and blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

// Invariant partitions of the points, and primitivity (Atkinson, Math. Comp. 29,
// 1975).

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

/// { g ∈ G : p·g = p for every given point }. One stabiliser chain that starts with the points. Throws InputError when
/// a point is outside the degree or repeated, LimitError as chains do.
PermutationGroup pointwise_stabiliser(const PermutationGroup& group, std::span<const Point> points,
                                      const StabiliserChainOptions& options = {});
PermutationGroup point_stabiliser(const PermutationGroup& group, Point point);

/// { g ∈ G : p·g ∈ S for every p ∈ S }, by the orbit of S: it is complete when its order is |G| / |orbit|.
/// O(orbit · generators · degree). Throws InputError for a point outside the degree, LimitError past `max_sets` sets.
PermutationGroup set_stabiliser(const PermutationGroup& group, std::span<const Point> set,
                                std::uint64_t max_sets = 200'000);

/// The action of the group on an invariant set of points, which are numbered by their places in `points`. Generators
/// stay in order. Throws InputError when a generator moves a point out of the set.
PermutationGroup action_on(const PermutationGroup& group, std::span<const Point> points);

/// The action of the group on the blocks of an invariant partition. Generators stay in order.
PermutationGroup action_on_blocks(const PermutationGroup& group, const BlockSystem& system);

/// { g ∈ G : every block goes to itself }. One stabiliser chain on points and blocks together. Throws LimitError.
PermutationGroup kernel_on_blocks(const PermutationGroup& group, const BlockSystem& system,
                                  const StabiliserChainOptions& options = {});

}  // namespace krohn
