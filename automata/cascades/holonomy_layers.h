// automata/cascades/holonomy_layers.h — which classes of sets share a layer of the holonomy cascade.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/automata/cascades/skeleton.h"

namespace krohn {

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

}  // namespace krohn
