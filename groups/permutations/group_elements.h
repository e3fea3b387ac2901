// groups/permutations/group_elements.h — every element of a small group, with words, Cayley graph and Cayley table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// The index of an element in `GroupElements`.
using ElementIndex = std::uint32_t;

/// All elements of a permutation group in lexicographic order of their images: the identity is element 0, residues of a
/// cyclic group stand in their order, and the numbering does not depend on which generators were given.
class GroupElements {
 public:
  /// Throws LimitError naming the exact order and `--max-states` when the group has more than `max_elements`,
  /// or when |G| · degree exceeds 10^8.
  /// O(|G| · generators · degree) time, O(|G| · (degree + generators)) memory.
  static GroupElements enumerate(const PermutationGroup& group, std::uint64_t max_elements = 1'000'000);

  const PermutationGroup& group() const { return group_; }
  ElementIndex size() const { return static_cast<ElementIndex>(parent_.size()); }
  std::span<const Point> images(ElementIndex element) const {
    return {images_.data() + std::size_t{element} * group_.degree(), group_.degree()};
  }
  Permutation operator[](ElementIndex element) const;
  std::string name(ElementIndex element) const { return group_.element_name((*this)[element]); }

  /// The index, or nothing when the permutation is not in the group. O(degree · log |G|).
  std::optional<ElementIndex> find(const Permutation& permutation) const;

  /// Cayley graph: the element e·g, first e then generator g of `group().generators()`.
  ElementIndex times_generator(ElementIndex element, std::size_t generator) const {
    return cayley_graph_[std::size_t{element} * group_.generators().size() + generator];
  }

  /// A shortest product of generators that gives the element, the first in lexicographic order among those.
  std::vector<std::uint32_t> word(ElementIndex element) const;

  /// Columns of the Cayley table: out[e · factors.size() + i] = e·factors[i]. O(|G| · length of the factors' words).
  /// Throws LimitError past `max_entries`.
  std::vector<ElementIndex> right_multiplication(std::span<const ElementIndex> factors,
                                                 std::uint64_t max_entries = 100'000'000) const;

  /// The whole Cayley table: out[e · |G| + f] = e·f. O(1) for an entry. Throws LimitError past `max_entries`.
  std::vector<ElementIndex> cayley_table(std::uint64_t max_entries = 100'000'000) const;

 private:
  explicit GroupElements(PermutationGroup group) : group_(std::move(group)) {}
  PermutationGroup group_;
  std::vector<Point> images_;  ///< |G| rows of `degree` images
  std::vector<ElementIndex> cayley_graph_;
  std::vector<ElementIndex> parent_;        ///< breadth-first tree from the identity; its own for the identity
  std::vector<std::uint32_t> parent_edge_;  ///< the generator that leads from the parent here
};

}  // namespace krohn
