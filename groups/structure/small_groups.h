// groups/structure/small_groups.h — all groups of a small order, up to isomorphism.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// One group of each isomorphism type, in its regular action, with a small generating set. A group of order below 60
/// is solvable, so it has a normal subgroup N of prime index p, and is N ∪ Nt ∪ … ∪ Nt^{p−1} with t x t⁻¹ = α(x) and
/// t^p = c for an automorphism α that fixes c and whose p-th power is conjugation by c (Hölder 1893): all of these are
/// formed, and compared by search for an isomorphism. Throws InputError for 0 and orders above 31, where there are too
/// many.
std::vector<PermutationGroup> groups_of_order(std::uint32_t order);

}  // namespace krohn
