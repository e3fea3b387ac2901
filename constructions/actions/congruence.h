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

Point class_count(const Congruence& partition);

/// The finest congruence with p and q in one class. O(n · maps) merges of a union-find.
Congruence congruence_generated_by(std::span<const Transformation> maps, Point p, Point q);

/// For permutations that lead from 0 everywhere: where 0 goes by the inverse of a word that takes 0 to the point. That
/// inverse takes the pair (0, q) to (mirrored q, 0), so that both generate the same congruence; and every pair of
/// points is taken to one with 0.
class MirroredPoints {
 public:
  /// O(n · maps).
  explicit MirroredPoints(std::span<const Transformation> maps);
  /// O(letters of the word): at most n.
  Point operator[](Point point) const;

 private:
  std::vector<std::vector<Point>> inverses_;
  std::vector<std::uint32_t> letter_to_;  ///< the last letter of the point's word
};

/// The finest partition coarser than both (again a congruence when both are), and the coarsest finer than both. O(n)
/// expected.
Congruence join(const Congruence& a, const Congruence& b);
Congruence meet(const Congruence& a, const Congruence& b);

/// What the map does to the classes of a congruence. O(n).
Transformation quotient(const Transformation& map, const Congruence& congruence);

}  // namespace krohn
