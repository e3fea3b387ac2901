// groups/names/group_families.h — the atoms of group names: families of groups with their standard generators.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// The group of an atom of a name: ("s", {5}), ("psl", {2, 7}), ("rubik", {}). Conventions: groups/names/named_group.h.
/// Throws InputError when a parameter is out of range.
PermutationGroup build_atom(const std::string& atom, std::span<const std::uint64_t> numbers);

}  // namespace krohn
