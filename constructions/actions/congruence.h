// constructions/actions/congruence.h — congruences of an automaton: partitions of its states that every letter
// respects. Those of a transitive permutation automaton are its block systems (Atkinson, Math. Comp. 29, 1975).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// The class of each point; classes are numbered in the order of their first points, so equal partitions are `==`.
using Congruence = std::vector<Point>;

Congruence discrete_partition(Point points);
Point class_count(const Congruence& partition);

/// The finest congruence with p and q in one class. O(n · maps) merges of a union-find.
Congruence congruence_generated_by(std::span<const Transformation> maps, Point p, Point q);

/// The finest partition coarser than both (again a congruence when both are), and the coarsest finer than both. O(n)
/// expected.
Congruence join(const Congruence& a, const Congruence& b);
Congruence meet(const Congruence& a, const Congruence& b);

/// What the map does to the classes of a congruence. O(n).
Transformation quotient(const Transformation& map, const Congruence& congruence);

}  // namespace krohn
