// groups/base/decompositions.h — decompositions of real matrices by Eigen, compiled once: each of them takes the
// compiler seconds wherever it is spelled out.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace krohn {

/// A = V diag(values) Vᵀ, the values in increasing order, the columns of V orthonormal.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// For a symmetric matrix, whose upper triangle is not read. Nothing where the iteration does not end. O(n³).
std::optional<SymmetricEigen> symmetric_eigen(const Eigen::MatrixXd& symmetric);

/// A = U diag(values) Vᵀ, the values in decreasing order, the columns of U and of V orthonormal.
struct SingularValues {
  Eigen::VectorXd values;
  Eigen::MatrixXd left, right;
};

/// By Jacobi's rotations: small singular values are as accurate as great ones; U and V are square. O(n³).
SingularValues singular_value_decomposition(const Eigen::MatrixXd& matrix);
/// The same with only the first min(rows, columns) columns of U and of V.
SingularValues thin_singular_values(const Eigen::MatrixXd& matrix);
Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix);

/// R of A = QR, square as A is. O(n³).
Eigen::MatrixXd triangular_factor(const Eigen::MatrixXd& matrix);

/// The number of pivots above `threshold` times the greatest, of a QR decomposition with column pivoting. O(n³).
Eigen::Index numerical_rank(const Eigen::MatrixXd& matrix, double threshold);

}  // namespace krohn
