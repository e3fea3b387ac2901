// groups/structure/series.h — normal closures, and the derived and lower central series of a permutation group (Seress
// 2003, ch. 2).
#pragma once

#include <span>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// f⁻¹ g⁻¹ f g, first f⁻¹.
Permutation commutator(const Permutation& f, const Permutation& g);

/// The least normal subgroup of `group` that holds `elements`, by conjugating generators until nothing is new. At most
/// log₂ |G| generators are kept. Polynomial: a stabiliser chain per generator kept.
PermutationGroup normal_closure(const PermutationGroup& group, std::span<const Permutation> elements);

/// [G, G], generated as a normal subgroup by the commutators of generators.
PermutationGroup derived_subgroup(const PermutationGroup& group);

/// G > G' > G'' > …, down to the first that equals its own derived subgroup; the last is trivial exactly when G is
/// solvable. Starts with the group itself.
std::vector<PermutationGroup> derived_series(const PermutationGroup& group);

/// G = γ₁ ≥ γ₂ = [γ₁, G] ≥ …, down to the first that repeats; the last is trivial exactly when G is nilpotent.
std::vector<PermutationGroup> lower_central_series(const PermutationGroup& group);

bool is_trivial(const PermutationGroup& group);
bool is_solvable(const PermutationGroup& group);
bool is_nilpotent(const PermutationGroup& group);
/// Equal to its derived subgroup. The trivial group is.
bool is_perfect(const PermutationGroup& group);

}  // namespace krohn
