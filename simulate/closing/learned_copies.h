// simulate/closing/learned_copies.h — a learned representation of a group, copy by copy of its irreducible parts, each
// with a lattice that the group keeps.
//
// Where letters permute the points they act on R^points by permutations, and the mean of the points' Gram matrix over
// that group commutes with them. Its eigenspaces are the copies of irreducible representations that were learned, and
// the eigenvalues say how large each was learned: what training left over is small copies. A representation that stands
// there several times, its copies in general position, generates no lattice; one copy does, wherever some subgroup
// fixes one direction of it: the class means of that subgroup's congruence are an orbit of a rational vector.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

/// Copies side by side: point q lies about at basis · points.col(q). In this basis the group's letters are exactly
/// integers, and no coordinate of a point passes 2.
struct LearnedCopies {
  Eigen::MatrixXd basis, points;
  double gap = 0;  ///< the size of the least copy by that of the greatest left out
};

/// The copies above every gap of a factor of 1.5 between their sizes, or to a thousandth of the greatest, most
/// copies first. Those without a lattice (the
/// turn by a fifth alone) are left out unless they have one together. None where letters do not permute the points that
/// some letter leads to, another moves like none of these, or there are more than 200. O(points³ + 1000 · letters ·
/// points²).
std::vector<LearnedCopies> learned_copies(const Eigen::MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                          std::size_t letters);

}  // namespace krohn
