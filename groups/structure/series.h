// groups/structure/series.h — derived and central series, abelian invariants, conjugacy classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

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

/// The invariant factors 1 < d_1 | d_2 | … | d_k of G/G', which is Z_{d_1} × … × Z_{d_k}; of G itself when it is
/// abelian. Empty for a perfect group. By the orders of ⟨G', p^i-th powers⟩: polynomial. Throws LimitError.
std::vector<Integer> abelian_invariants(const PermutationGroup& group, const StabiliserChainOptions& options = {});

/// "Z_2×Z_4", "Z_2^3", "V_4" for two factors 2, "trivial" for none.
std::string abelian_name(const std::vector<Integer>& invariants);

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
/// Equal to its derived subgroup. The trivial group is.
bool is_perfect(const PermutationGroup& group);

// All groups of a small order, up to isomorphism.

/// One group of each isomorphism type, in its regular action, with a small generating set. A group of order below 60
/// is solvable, so it has a normal subgroup N of prime index p, and is N ∪ Nt ∪ … ∪ Nt^{p−1} with t x t⁻¹ = α(x) and
/// t^p = c for an automorphism α that fixes c and whose p-th power is conjugation by c (Hölder 1893): all of these are
/// formed, and compared by search for an isomorphism. Throws InputError for 0 and orders above 31, where there are too
/// many.
std::vector<PermutationGroup> groups_of_order(std::uint32_t order);

}  // namespace krohn
