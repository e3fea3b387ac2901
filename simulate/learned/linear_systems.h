// simulate/learned/linear_systems.h — decompositions and solutions that only training and a look into trained models
// need; others are in groups/linear. Compiled once: each takes the compiler seconds.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "krohn/groups/linear/decompositions.h"

namespace krohn {

/// A V = V diag(values), the columns of V of length 1.
struct ComplexEigen {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

/// Of a square matrix. Nothing where the iteration does not end. O(n³).
std::optional<ComplexEigen> complex_eigen(const Eigen::MatrixXd& matrix);

/// A P = QR with P a permutation of columns that leaves the diagonal of R decreasing in modulus.
struct PivotedQr {
  Eigen::MatrixXd q;                ///< square, rows × rows
  Eigen::VectorXd diagonal;         ///< of R, min(rows, columns) numbers
  std::vector<Eigen::Index> order;  ///< column i of A P is this column of A
};

PivotedQr pivoted_qr(const Eigen::MatrixXd& matrix);

/// An orthonormal basis of the columns' span, rows × columns, for linearly independent columns. O(n³).
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns);

/// A⁻¹ B, by LU with partial pivoting: A square and invertible; otherwise numbers without meaning or that are not
/// finite.
Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// A⁻¹ B by LU with full pivoting, or nothing where the estimate of A's reciprocal condition number is at most `least`.
std::optional<Eigen::MatrixXcd> solution_if_conditioned(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b,
                                                        double least);
/// The X of least norm among those of least ‖A X − B‖. Pivots up to `threshold` times the greatest count as zero;
/// without one those of rounding. O(n³).
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, std::optional<double> threshold = {});
/// A⁺ of Moore and Penrose. O(n³).
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix);

}  // namespace krohn
