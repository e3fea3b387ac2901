// automata/cascades/holonomy.h — the holonomy decomposition: a cascade whose groups all divide the transition monoid.
#pragma once

#include <cstdint>
#include <functional>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// What is known of a machine before its layers are built, which may take far longer.
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
/// order, or several where inequivalent classes of one height have groups that must not mix (holonomy_layers.h); labels
/// are tiles. A layer's bijections generate the holonomy group of a class, or of the labels that trimming leaves, so
/// every group in the cascade divides the transition monoid: aperiodic automata get resets and identities only, group
/// automata a single layer. Unreachable states are dropped first; the result is trimmed. May have more than n−1 layers.
Cascade holonomy_decomposition(const Dfa& dfa, const HolonomyOptions& options = {});

}  // namespace krohn
