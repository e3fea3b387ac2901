// automata/cascades/holonomy.h — the holonomy decomposition: a cascade whose groups all divide the transition monoid.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

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

/// The layers of the holonomy cascade of a skeleton, topmost first.
struct HolonomyLayers {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> of_class;  ///< class of sets ↦ the layer whose labels are its tiles; kNone for singletons
  std::uint32_t count = 0;
  std::uint32_t heights_with_groups = 0;  ///< where some class has a holonomy group that is not trivial
};

/// Higher classes first. Inequivalent classes of one height never move at once, so they may share the labels of one
/// layer; but what they generate together may be larger than either group (Z_4 and Z_2 make S_4). They therefore share
/// a layer only where the holonomy group of one of them, as a group of permutations of the labels, contains those of
/// all the others. So the group of every layer is the holonomy group of a class, which is a quotient of a subgroup of
/// the transition monoid. Classes of trivial group share with any. O(sets · letters · tiles²), and a stabiliser chain
/// for each of their groups.
HolonomyLayers holonomy_layers(const Skeleton& skeleton);

/// The facts about a machine that are known before its layers are built, which may take far longer.
struct HolonomyOutline {
  std::uint64_t sets = 0, classes = 0;  ///< image sets and singletons, and their classes
  std::uint32_t heights = 0;
  /// Heights with a class whose holonomy group is not trivial. The monoid divides a cascade with a layer for every
  /// height, whose group is the product of that height's holonomy groups (Eilenberg 1976): its Krohn–Rhodes complexity
  /// is at most this, and 0 only if this is.
  std::uint32_t heights_with_groups = 0;
};

struct HolonomyOptions {
  std::uint64_t max_sets = 2'000'000;                     ///< image sets; LimitError beyond
  std::uint64_t max_contexts = 20'000'000;                ///< over all layers; LimitError beyond
  std::function<void(const HolonomyOutline&)> outline{};  ///< is told as soon as it is known
};

/// The holonomy decomposition (Eilenberg; Egri-Nagy & Nehaniv; MATH.md §3): one layer per height of the subduction
/// order, or several where inequivalent classes of one height have groups that must not mix; labels
/// are tiles. A layer's bijections generate the holonomy group of a class, or of the labels that trimming leaves, so
/// every group in the cascade divides the transition monoid: aperiodic automata get resets and identities only, group
/// automata a single layer. Unreachable states are dropped first; the result is trimmed. May have more than n−1 layers.
Cascade holonomy_decomposition(const Dfa& dfa, const HolonomyOptions& options = {});

// A cascade of resets below a counter of positions: quasi-aperiodic stamps
// (Barrington, Compton, Straubing & Thérien 1992; MATH.md §4).

struct PositionCascadeOptions {
  std::uint64_t max_elements = 20'000;  ///< of the transition monoid; LimitError beyond
  HolonomyOptions holonomy;
};

/// Emulates an automaton whose stamp is quasi-aperiodic. The first layer counts the letters read modulo t, the least t
/// for which the rest is aperiodic: every letter adds 1. All other layers have only the identity and constants. They
/// are the holonomy cascade of the automaton over (letter a, position i) whose states are pairs (position, state):
///     (i, q) ↦ (i+1, q·a),        (j, q) ↦ (i+1, c_i·a) for j ≠ i, with any one state c_i that is reached at i.
/// A word over pairs acts without a cycle: when its positions do not follow each other, all its images come from one
/// point; otherwise it moves positions by its length, and when that is a multiple of t its word of letters acts without
/// a cycle by the choice of t. For aperiodic automata t = 1 and there is no counter.
///
/// Throws InputError with a witness when the stamp is not quasi-aperiodic, LimitError past the limits.
Cascade position_cascade(const Dfa& dfa, const PositionCascadeOptions& options = {});

}  // namespace krohn
