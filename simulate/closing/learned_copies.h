// simulate/closing/learned_copies.h — a learned representation of a group, copy by copy of its irreducible parts, each
// with a lattice that the group keeps.
//
// A representation that stands there several times, its copies in general position, generates no lattice; one copy
// (simulate/closing/group_copies.h) does, wherever some subgroup fixes one direction of it: the class means of that
// subgroup's congruence are an orbit of a rational vector.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

/// Copies side by side: point q lies about at basis · points.col(q). In this basis the group's letters are exactly
/// integers, and no coordinate of a point passes 2.
struct LearnedCopies {
  Eigen::MatrixXd basis, points;
};

/// The copies above every gap of more than a factor of 1.5 between the least copy and the greatest left out, or a
/// thousandth of the greatest of all, most copies first. Those without a lattice (the turn by a fifth alone) are left
/// out unless they have one together. None where the points have no copies. O(points³) beside those.
std::vector<LearnedCopies> learned_copies(const Eigen::MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                          std::size_t letters);

}  // namespace krohn
