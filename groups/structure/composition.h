// groups/structure/composition.h — composition series and factors.
#pragma once

#include <cstdint>
#include <map>
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

/// The name of a group that is known to be simple: "Z_5", "A_5", "PSL(2,7)", "M_11", "Sz(8)". By the classification the
/// order determines a simple group, except 20160, where A_8 and PSL(3,4) are told apart by an element of order 15, and
/// the orders of PSp(2n,q) and Ω(2n+1,q), n ≥ 3, q odd, none of which is in the table. Otherwise "simple of order n".
/// Names of isomorphic groups: A_5, PSL(2,7), A_6, A_8, PSU(4,2) rather than PSL(2,4), GL(3,2), PSL(2,9), PSL(4,2),
/// PSp(4,3).
std::string simple_group_name(const PermutationGroup& group, const Integer& order);

/// Is n the order of some nonabelian simple group times itself, j ≥ 1 times, as far as divisibility tells? Such an
/// order is a multiple of 4 with three different primes at least (Burnside). May say yes wrongly, never no.
bool may_be_power_of_simple_order(Point n);

/// A composition series G = G_0 > G_1 > … > G_r = 1: G_{i+1} is normal in G_i with a simple quotient. Every g ∈ G_i is
/// g' · transversal[b] for one g' ∈ G_{i+1} and one b: its coordinate, the element of the quotient.
class CompositionSeries {
 public:
  struct Step {
    /// One element of every coset of G_{i+1}, first the identity; t⁰, t¹, …, t^(p−1) when the quotient is cyclic.
    std::vector<Permutation> transversal;
    StabiliserChain below;                         ///< of G_{i+1}
    bool cyclic = true;                            ///< of prime order; otherwise the quotient is not abelian
    std::map<Permutation, std::uint32_t> coset{};  ///< least element ↦ coordinate
  };

  /// Refines the derived series; below a perfect group a maximal normal subgroup is grown from conjugacy classes, of at
  /// most 200,000 elements. Throws InputError when a quotient is not abelian and has more than `largest_simple`
  /// elements (0: the group must be solvable), LimitError as `composition_factors` and `conjugacy_classes` do.
  static CompositionSeries of(const PermutationGroup& group, std::uint64_t largest_simple);

  const std::vector<Step>& steps() const { return steps_; }
  /// The b with g ∈ G_{step+1} · transversal[b], for g ∈ G_step. O(Σ |orbit| + base length · degree).
  std::uint32_t coordinate(std::size_t step, const Permutation& g) const;
  /// The quotient's Cayley table: [a · order + b] is the coordinate of transversal[a] · transversal[b].
  std::vector<std::uint32_t> cayley_table(std::size_t step) const;

 private:
  PermutationGroup add_solvable(const PermutationGroup& group);
  void add_step(std::vector<Permutation> transversal, StabiliserChain below, bool cyclic);

  std::vector<Step> steps_;
};

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

// The centre of a permutation group, and its direct factors.

/// { z ∈ G : z·g = g·z for every g ∈ G }. On each orbit an element of the centre is one of the maps α·g ↦ β·g, so the
/// centre is the intersection of G with an abelian group that commutes with G (Seress 2003, §6.1.3). Polynomial:
/// O(Σ |orbit|² · generators) and a stabiliser chain per generator of that abelian group. Throws LimitError.
PermutationGroup centre(const PermutationGroup& group, const StabiliserChainOptions& options = {});

/// Normal subgroups of G, not trivial, whose direct product G is. One, G itself, when no decomposition was found: by
/// orbits on which G acts independently, by G' × Z(G), and for |G| ≤ 1000 by normal closures of one or two conjugacy
/// classes. The factors need not be indecomposable. Throws LimitError.
std::vector<PermutationGroup> direct_factors(const PermutationGroup& group, const StabiliserChainOptions& options = {});

}  // namespace krohn
