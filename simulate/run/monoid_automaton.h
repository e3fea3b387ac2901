// simulate/run/monoid_automaton.h — the transition monoid of an automaton as an automaton itself: what a piece of a
// word does to all states is one state of it.
#pragma once

#include <cstdint>
#include <optional>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

/// State e of `graph` is element e of `monoid`; it starts from the identity, and a letter multiplies from the right.
struct MonoidGraph {
  TransformationMonoid monoid;
  Dfa graph;
};

/// Nothing when the monoid has more than `max_elements` elements, or the automaton more states than elements can be
/// stored for. O(elements · (states + letters)).
std::optional<MonoidGraph> monoid_graph(const Dfa& dfa, std::uint64_t max_elements);

}  // namespace krohn
