// groups/permutations/reference_stabiliser_chain.h — Schreier–Sims without chance or cleverness: what StabiliserChain
// is tested against.
#pragma once

#include <optional>
#include <vector>

#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// Knuth's form of Schreier–Sims (Combinatorica 11, 1991): for every k the group Γ(k) of elements that fix the points
/// k, k+1, …, a transversal of Γ(k) in Γ(k+1) and generators. Polynomial and slow: O(n⁵) products at worst.
class ReferenceStabiliserChain {
 public:
  explicit ReferenceStabiliserChain(const PermutationGroup& group);
  Integer order() const;
  bool contains(const Permutation& permutation) const { return in_group(permutation, transversal_.size()); }

 private:
  bool in_group(Permutation permutation, std::size_t points) const;
  void add_generator(std::size_t k, const Permutation& generator);
  void add_product(std::size_t k, const Permutation& product);

  std::vector<std::vector<std::optional<Permutation>>> transversal_;  ///< [k][j]: in Γ(k+1), takes k to j ≤ k
  std::vector<std::vector<Permutation>> generators_;                  ///< [k]: of Γ(k+1)
};

}  // namespace krohn
