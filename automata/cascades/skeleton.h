// automata/cascades/skeleton.h — image sets, subduction, heights and tiles: the skeleton of the holonomy decomposition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/set_orbit.h"

namespace krohn {

/// The skeleton of an automaton (Eilenberg 1976; Egri-Nagy & Nehaniv; MATH.md §3): the extended image sets Q·w and {q}.
/// P *subducts* from R when P lies inside an image of R. Mutual subduction of image sets is the strong connection of
/// the orbit; the order on its classes is graded by height.
class Skeleton {
 public:
  using Set = SetOrbit::Index;

  /// O(sets · letters · n) for the orbit; for the tiles of each class what it takes to find the sets inside its first
  /// one: in a tree of at most three nodes a set, along the branches that lie inside. Throws LimitError past
  /// `max_sets`.
  static Skeleton of(const Dfa& dfa, std::uint64_t max_sets = 2'000'000);

  const SetOrbit& sets() const { return sets_; }
  /// The longest strict chain below the set in the subduction order; singletons have height 0.
  std::uint32_t height(Set set) const { return height_of_class_[sets_.class_of(set)]; }
  /// The maximal image sets properly inside `set`, in an order that its class shares: along the spanning tree of the
  /// class, the letter that leads from one set to the next takes tile i to tile i. Empty for singletons.
  std::span<const Set> tiles(Set set) const {
    return {tiles_.data() + tile_begin_[set], tile_begin_[set + 1] - tile_begin_[set]};
  }

 private:
  explicit Skeleton(SetOrbit sets) : sets_(std::move(sets)) {}
  class Tree;
  void find_tiles(std::span<const Set> by_size);
  void find_heights(std::span<const Set> by_size);
  std::vector<Set> maximal_inside(Set set, std::span<const Set> by_size, Tree& tree) const;

  SetOrbit sets_;
  std::vector<std::uint32_t> height_of_class_;
  std::vector<std::size_t> tile_begin_;
  std::vector<Set> tiles_;
};

}  // namespace krohn
