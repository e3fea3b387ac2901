// groups/structure/conjugacy_classes.h — the conjugacy classes of a group of moderate order.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

struct ConjugacyClass {
  Permutation representative;  ///< the least element, by images
  std::uint64_t size = 0;
  std::uint64_t element_order = 0;
};

/// All classes, in increasing order of their representatives: the identity first. By listing every element:
/// O(|G| · generators · degree · log |G|) time, O(|G| · degree) memory. Throws LimitError naming the order when the
/// group has more than `max_elements`.
std::vector<ConjugacyClass> conjugacy_classes(const PermutationGroup& group, std::uint64_t max_elements = 200'000);

}  // namespace krohn
