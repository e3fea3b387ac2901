// simulate/closing/dyadic_roots.h — unit vectors whose reflections floats compute exactly.
//
// I − 2 k kᵀ is exact in binary arithmetic where the entries of k are dyadic and k is exactly of norm 1. The vectors
// ±e_i and ½(±1, ±1, ±1, ±1) on the words of weight four of the extended Hamming code [8, 4] are such; in eight
// dimensions they are the 240 roots of E_8 (Conway & Sloane 1999, ch. 4 §8.1, construction A, turned), in six those of
// D_6, in four of D_4. So swaps of up to nine points have exact reflections, which e_i − e_j over √2 has not.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

namespace krohn {

/// All of them in `dimensions` coordinates; behind the eighth coordinate the code begins anew.
std::vector<Eigen::VectorXd> dyadic_roots(Eigen::Index dimensions);

/// Roots with the inner products of the vectors (columns, of norm about 1), each rounded to a multiple of ½; nothing
/// where one is farther than `tolerance` from that, or no roots have them. The first of each class of equal or opposite
/// vectors is searched for by backtracking.
std::optional<Eigen::MatrixXd> nearest_roots(const Eigen::MatrixXd& vectors, double tolerance);

/// The unit vector nearest to `direction` among those with entries that are multiples of 1/8, as far as a search of up
/// to three changed entries finds one; ±e_i where it finds none.
Eigen::VectorXd nearest_dyadic_unit(const Eigen::VectorXd& direction);

}  // namespace krohn
