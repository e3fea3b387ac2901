// groups/structure/direct_factors.h — the centre of a permutation group, and its direct factors.
#pragma once

#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// { z ∈ G : z·g = g·z for every g ∈ G }. On each orbit an element of the centre is one of the maps α·g ↦ β·g, so the
/// centre is the intersection of G with an abelian group that commutes with G (Seress 2003, §6.1.3). Polynomial:
/// O(Σ |orbit|² · generators) and a stabiliser chain per generator of that abelian group. Throws LimitError.
PermutationGroup centre(const PermutationGroup& group, const StabiliserChainOptions& options = {});

/// Normal subgroups of G, not trivial, whose direct product G is. One, G itself, when no decomposition was found: by
/// orbits on which G acts independently, by G' × Z(G), and for |G| ≤ 1000 by normal closures of one or two conjugacy
/// classes. The factors need not be indecomposable. Throws LimitError.
std::vector<PermutationGroup> direct_factors(const PermutationGroup& group, const StabiliserChainOptions& options = {});

}  // namespace krohn
