// groups/representations/least_representation.h — character tables, and the least faithful representation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

// The irreducible characters of a finite group, exactly, modulo a prime
// (Burnside; Dixon 1967; MATH.md §6).

/// One real irreducible representation up to isomorphism, by what its character says. Classes are numbered as in the
/// table.
struct RealIrreducible {
  std::uint32_t dimension = 0;
  int indicator = 1;  ///< of Frobenius and Schur: 1 real, 0 a complex character and its conjugate, −1 quaternionic
  std::uint64_t kernel = 0;          ///< the set of classes that act as the identity
  std::vector<std::uint32_t> moved;  ///< per class: the codimension of the space that its elements fix
};

/// The characters of a group with at most 64 classes, modulo a prime p that is 1 modulo the exponent and greater than
/// 2√|G|. All that is read off them (degrees, indicators, multiplicities of eigenvalues) are whole numbers below p, so
/// nothing is lost. The table is checked when it is made: the rows are different homomorphisms of the class algebra to
/// F_p, as many as there are classes, hence all of them; the squares of the degrees add up to |G|.
class CharacterTable {
 public:
  static constexpr std::uint32_t kMaxClasses = 64;

  /// O(|G| · classes · degree · log |G| + classes⁴). Throws LimitError for more elements or classes.
  static CharacterTable of(const PermutationGroup& group, std::uint64_t max_elements = 20'000);

  std::uint32_t classes() const { return static_cast<std::uint32_t>(sizes_.size()); }
  std::uint64_t order() const { return order_; }
  std::uint64_t element_order(std::uint32_t c) const { return powers_[c].size(); }
  /// Throws InputError for a permutation outside the group.
  std::uint32_t class_of(const Permutation& element) const;

  std::uint64_t prime() const { return prime_; }
  const std::vector<std::uint32_t>& degrees() const { return degrees_; }
  /// Modulo the prime.
  std::uint64_t character(std::uint32_t row, std::uint32_t c) const { return characters_[row][c]; }

  /// By increasing dimension; the trivial one first.
  std::vector<RealIrreducible> real_irreducibles() const;

 private:
  explicit CharacterTable(GroupElements elements) : elements_(std::move(elements)) {}
  void find_classes();
  void find_power_maps();
  void choose_prime();
  void find_class_algebra();
  void find_characters();
  void check() const;
  /// The multiplicity of the eigenvalue 1.
  std::uint32_t fixed_dimension(std::uint32_t row, std::uint32_t c) const;
  int indicator(std::uint32_t row) const;

  GroupElements elements_;
  std::uint64_t order_ = 1;
  std::vector<std::uint32_t> class_of_;             ///< by element
  std::vector<ElementIndex> representatives_;       ///< by class; class 0 is the identity
  std::vector<std::uint64_t> sizes_;                ///< by class
  std::vector<std::vector<std::uint32_t>> powers_;  ///< the classes of g⁰, g¹, …, g^(order−1)
  std::uint64_t prime_ = 0;
  std::vector<std::vector<std::uint64_t>> algebra_;  ///< [j][k · classes + l]: how often C_j C_k gives a member of C_l
  std::vector<std::uint32_t> degrees_;
  std::vector<std::vector<std::uint64_t>> characters_;
};

/// Real irreducible representations whose kernels meet in the identity alone; indices in `real_irreducibles()`.
struct LeastRepresentation {
  std::uint64_t value = 0;            ///< the dimension, or the most reflections of a letter
  std::vector<std::uint32_t> blocks;  ///< the dimensions of the representations that reach it
};

/// The least dimension of a faithful real representation. Exact: every representation is a sum of irreducible ones,
/// and a sum is faithful exactly when their kernels meet in the identity. O(normal subgroups · irreducibles).
LeastRepresentation least_faithful_dimension(const CharacterTable& table);

/// The least number k such that in some faithful real representation every letter is a product of k reflections: the
/// codimension of its fixed space, added over the irreducible parts. Exact. Throws LimitError past `max_steps`.
LeastRepresentation least_reflections(const CharacterTable& table, std::span<const Permutation> letters,
                                      std::uint64_t max_steps = 5'000'000);

/// The same dimension for Z_{d_1} × … × Z_{d_k} with 1 < d_1 | … | d_k: one for every d_i = 2, two for the others.
/// A faithful sum of m signs and c planes embeds the group in {±1}^m × U(1)^c, so that m + c ≥ k, and twice the group
/// in U(1)^c, so that c is at least the number of d_i > 2.
std::uint64_t least_faithful_dimension(const std::vector<Integer>& invariants);

}  // namespace krohn
