// groups/permutations/permutation_group.h — a permutation group: a degree and named generators.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// A permutation with the name that an alphabet gives it.
struct NamedPermutation {
  std::string name;
  Permutation value = Permutation::identity(0);
  friend bool operator==(const NamedPermutation&, const NamedPermutation&) = default;
};

/// Names for the elements of a group that acts freely on a block of consecutive points: the element that takes the
/// first point of the block to point `first + i` is called `names[i]`. Cyclic groups are named by residues so,
/// quaternion groups by ±1, ±i, ±j, ±k.
struct FreeBlock {
  Point first = 0;
  std::vector<std::string> names;
  friend bool operator==(const FreeBlock&, const FreeBlock&) = default;
};

/// The group that its generators generate. A value; generators all have the group's degree. No generators: the trivial
/// group. Identity generators and repeated generators are allowed.
class PermutationGroup {
 public:
  /// Generators named by their cycles, or "a", "b", … (then "g27", …) in order once any of them is longer than 40
  /// bytes. Throws InputError when a degree differs.
  static PermutationGroup from_generators(Point degree, std::vector<Permutation> generators, std::string name = {});

  /// The same group whose elements are named by blocks on which it acts freely; one block: "3", several: "(1,3)".
  /// Generators are renamed. Throws InputError when a block leaves the points.
  PermutationGroup with_blocks(std::vector<FreeBlock> blocks) &&;

  /// The same group with these names for its generators. Throws InputError unless there is one for each.
  PermutationGroup with_generator_names(std::vector<std::string> names) &&;

  /// "S5", "Z2xZ4"; may be empty.
  const std::string& name() const { return name_; }
  Point degree() const { return degree_; }
  std::span<const NamedPermutation> generators() const { return generators_; }
  std::vector<Permutation> generator_values() const;
  std::span<const FreeBlock> blocks() const { return blocks_; }

  /// The element's name: by blocks when the group has them, otherwise its cycles. Injective on the group.
  std::string element_name(const Permutation& element) const;

  friend bool operator==(const PermutationGroup&, const PermutationGroup&) = default;

 private:
  PermutationGroup() = default;
  void name_generators();
  std::string name_;
  Point degree_ = 0;
  std::vector<NamedPermutation> generators_;
  std::vector<FreeBlock> blocks_;
};

/// A × B on disjoint supports, A's points first: degree a + b.
PermutationGroup direct_product(const PermutationGroup& a, const PermutationGroup& b);

/// A ≀ B in its imprimitive action: b blocks of a points, A inside a block, B moving blocks whole. Order |A|^b · |B|.
PermutationGroup wreath_product(const PermutationGroup& a, const PermutationGroup& b);

/// The orbits of the points, each increasing, in increasing order of their least point. O(degree · generators).
std::vector<std::vector<Point>> orbits(const PermutationGroup& group);

/// One orbit at most (degree 0 and 1 included).
bool is_transitive(const PermutationGroup& group);

/// The generators commute in pairs, hence all elements. O(degree · generators²).
bool is_abelian(const PermutationGroup& group);

}  // namespace krohn
