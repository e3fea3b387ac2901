// groups/structure/composition_series.h — a permutation group as a tower of simple groups, with coordinates.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

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

}  // namespace krohn
