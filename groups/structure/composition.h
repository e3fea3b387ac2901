// groups/structure/composition.h — composition factors of a permutation group, by name.
#pragma once

#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// A simple group, by name and order.
struct CompositionFactor {
  Integer order;
  std::string name;  ///< "Z_2", "A_5", "PSL(2,7)", "simple of order 12345"
  friend bool operator==(const CompositionFactor&, const CompositionFactor&) = default;
};

/// The composition factors with multiplicity, in increasing order of their orders (Jordan–Hölder). Certain, by
/// recursion: an orbit's action and its kernel; the blocks' action and its kernel; a giant; the derived subgroup; a
/// primitive perfect group is affine or simple by the theorem of O'Nan and Scott, unless its degree admits the other
/// types. Throws LimitError when a chain is too long, or for a primitive perfect group of such a degree that no normal
/// subgroup was found in.
std::vector<CompositionFactor> composition_factors(const PermutationGroup& group,
                                                   const StabiliserChainOptions& options = {});

/// "Z_2^5, Z_3"; empty for the trivial group.
std::string to_string(const std::vector<CompositionFactor>& factors);

/// Exactly one composition factor. Throws as `composition_factors`.
bool is_simple(const PermutationGroup& group);

}  // namespace krohn
