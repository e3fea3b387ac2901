// groups/structure/direct_factors.h — a permutation group as a direct product of normal subgroups.
#pragma once

#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// Normal subgroups of G, not trivial, whose direct product G is. One, G itself, when no decomposition was found: by
/// orbits on which G acts independently, by G' × Z(G), and for |G| ≤ 1000 by normal closures of one or two conjugacy
/// classes. The factors need not be indecomposable. Throws LimitError.
std::vector<PermutationGroup> direct_factors(const PermutationGroup& group, const StabiliserChainOptions& options = {});

}  // namespace krohn
