// simulate/closing/lattice_coordinates.h — the lattice that points near to one generate.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace krohn {

/// A basis, and integers: basis · points is about the points that were asked about.
struct LatticeCoordinates {
  Eigen::MatrixXd basis, points;
};

/// Of points given by `pivots`, which are as many of them as there are dimensions, and by coordinates in these. The
/// basis is the pivots, where the others are integer combinations of them; otherwise it consists of fractions of them
/// by 2 to 12 (Hermite's normal form; Cohen 1993, §2.4.2). Multiples within a quarter of
/// an integer are taken for that. Nothing where no such fractions serve.
std::optional<LatticeCoordinates> lattice_coordinates(const Eigen::MatrixXd& pivots, const Eigen::MatrixXd& in_pivots);

/// The same of points (columns) that span their space, the pivots chosen among them by QR.
std::optional<LatticeCoordinates> lattice_coordinates(const Eigen::MatrixXd& points);

/// The nearest integer to every entry, +0 for 0.
Eigen::MatrixXd nearest_integers(const Eigen::MatrixXd& numbers);

}  // namespace krohn
