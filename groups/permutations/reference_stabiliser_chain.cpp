#include "krohn/groups/permutations/reference_stabiliser_chain.h"

namespace krohn {

ReferenceStabiliserChain::ReferenceStabiliserChain(const PermutationGroup& group)
    : transversal_(group.degree()), generators_(group.degree()) {
  for (Point k = 0; k < group.degree(); ++k) {
    transversal_[k].resize(k + std::size_t{1});
    transversal_[k][k] = Permutation::identity(group.degree());
  }
  for (const NamedPermutation& generator : group.generators())
    if (!contains(generator.value)) add_generator(transversal_.size() - 1, generator.value);
}

Integer ReferenceStabiliserChain::order() const {
  Integer product = 1;
  for (const auto& row : transversal_) {
    std::size_t orbit = 0;
    for (const auto& representative : row) orbit += representative.has_value();
    product *= orbit;
  }
  return product;
}

/// Is it in Γ(points)?
bool ReferenceStabiliserChain::in_group(Permutation permutation, std::size_t points) const {
  for (std::size_t k = points; k-- > 0;) {
    const auto& representative = transversal_[k][permutation[static_cast<Point>(k)]];
    if (!representative) return false;
    permutation = permutation * representative->inverse();
  }
  return permutation.is_identity();
}

/// Knuth's algorithm A: the generator fixes every point past k.
void ReferenceStabiliserChain::add_generator(std::size_t k, const Permutation& generator) {
  generators_[k].push_back(generator);
  for (std::size_t j = 0; j <= k; ++j)
    if (const std::optional<Permutation> representative = transversal_[k][j])
      add_product(k, *representative * generator);
}

/// Knuth's algorithm B.
void ReferenceStabiliserChain::add_product(std::size_t k, const Permutation& product) {
  std::optional<Permutation>& representative = transversal_[k][product[static_cast<Point>(k)]];
  if (!representative) {
    representative = product;
    for (std::size_t i = 0; i < generators_[k].size(); ++i) add_product(k, product * Permutation(generators_[k][i]));
    return;
  }
  const Permutation rest = product * representative->inverse();
  if (!in_group(rest, k)) add_generator(k - 1, rest);
}

}  // namespace krohn
