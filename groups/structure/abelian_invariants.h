// groups/structure/abelian_invariants.h — a finite abelian group as a product of cyclic groups.
#pragma once

#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// The invariant factors 1 < d_1 | d_2 | … | d_k of G/G', which is Z_{d_1} × … × Z_{d_k}; of G itself when it is
/// abelian. Empty for a perfect group. By the orders of ⟨G', p^i-th powers⟩: polynomial. Throws LimitError.
std::vector<Integer> abelian_invariants(const PermutationGroup& group, const StabiliserChainOptions& options = {});

/// "Z_2×Z_4", "Z_2^3", "V_4" for two factors 2, "trivial" for none.
std::string abelian_name(const std::vector<Integer>& invariants);

}  // namespace krohn
