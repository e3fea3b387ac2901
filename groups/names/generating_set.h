// groups/names/generating_set.h — sets of elements of a group to be the letters of its word problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

struct GeneratingSetOptions {
  std::uint64_t max_elements = 1'000'000;  ///< of "all"; LimitError beyond
};

/// Elements of `group` by the name of the set. Every set lists an element once, in lexicographic order of images (the
/// identity first) except "standard" and explicit lists, which keep their order.
///
///   standard             the group's own generators
///   all                  every element (Grazzi's S_5 and Z_60)
///   transpositions       the swaps (i j) that lie in the group
///   adjacent             (1 2), (2 3), …, (n−1 n)
///   swaps                the identity and the transpositions (Grazzi's "S_5 only swaps")
///   3-cycles             the 3-cycles that lie in the group
///   swaps and 3-cycles   elements that move at most three points, the identity included (Grazzi's third S_5 task)
///   (1 2),(1 2 3)        explicit cycles, or names of elements ("1,59" in Z60, "i,j" in Q8), in the group
///
/// The set need not generate the group. Throws InputError for an unknown name (with near misses), an element outside
/// the group, or a set that is empty in this group; LimitError.
std::vector<NamedPermutation> generating_set(const PermutationGroup& group, std::string_view name,
                                             const GeneratingSetOptions& options = {});

/// The names above, without the explicit form.
std::vector<std::string> generating_set_names();

}  // namespace krohn
