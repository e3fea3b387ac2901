#include "krohn/groups/base/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace krohn {

std::optional<SymmetricEigen> symmetric_eigen(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return SymmetricEigen{solver.eigenvalues(), solver.eigenvectors()};
}

SingularValues singular_value_decomposition(const Eigen::MatrixXd& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

SingularValues thin_singular_values(const Eigen::MatrixXd& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues();
}

Eigen::MatrixXd triangular_factor(const Eigen::MatrixXd& matrix) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix).matrixQR().triangularView<Eigen::Upper>();
}

Eigen::Index numerical_rank(const Eigen::MatrixXd& matrix, double threshold) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(matrix);
  qr.setThreshold(threshold);
  return qr.rank();
}

}  // namespace krohn
