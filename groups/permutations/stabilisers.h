// groups/permutations/stabilisers.h — subgroups that fix points, sets or blocks, and the actions beside them.
#pragma once

#include <cstdint>
#include <span>

#include "krohn/groups/permutations/block_systems.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// { g ∈ G : p·g = p for every given point }. One stabiliser chain that starts with the points. Throws InputError when
/// a point is outside the degree or repeated, LimitError as chains do.
PermutationGroup pointwise_stabiliser(const PermutationGroup& group, std::span<const Point> points,
                                      const StabiliserChainOptions& options = {});
PermutationGroup point_stabiliser(const PermutationGroup& group, Point point);

/// { g ∈ G : p·g ∈ S for every p ∈ S }, by the orbit of S: it is complete when its order is |G| / |orbit|.
/// O(orbit · generators · degree). Throws InputError for a point outside the degree, LimitError past `max_sets` sets.
PermutationGroup set_stabiliser(const PermutationGroup& group, std::span<const Point> set,
                                std::uint64_t max_sets = 200'000);

/// What the group does to an invariant set of points, which are numbered by their places in `points`. Generators stay
/// in order. Throws InputError when a generator moves a point out of the set.
PermutationGroup action_on(const PermutationGroup& group, std::span<const Point> points);

/// What the group does to the blocks of an invariant partition. Generators stay in order.
PermutationGroup action_on_blocks(const PermutationGroup& group, const BlockSystem& system);

/// { g ∈ G : every block goes to itself }. One stabiliser chain on points and blocks together. Throws LimitError.
PermutationGroup kernel_on_blocks(const PermutationGroup& group, const BlockSystem& system,
                                  const StabiliserChainOptions& options = {});

}  // namespace krohn
