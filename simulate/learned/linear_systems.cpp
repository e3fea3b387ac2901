#include "krohn/simulate/learned/linear_systems.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace krohn {

std::optional<ComplexEigen> complex_eigen(const Eigen::MatrixXd& matrix) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(matrix);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return ComplexEigen{solver.eigenvalues(), solver.eigenvectors()};
}

PivotedQr pivoted_qr(const Eigen::MatrixXd& matrix) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(matrix);
  const auto& order = qr.colsPermutation().indices();
  return {qr.householderQ(), qr.matrixQR().diagonal(), {order.begin(), order.end()}};
}

Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Eigen::PartialPivLU<Eigen::MatrixXd>(a).solve(b);
}

std::optional<Eigen::MatrixXcd> solution_if_conditioned(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b,
                                                        double least) {
  const Eigen::FullPivLU<Eigen::MatrixXcd> lu(a);
  if (!lu.isInvertible() || !(lu.rcond() > least)) return std::nullopt;
  return lu.solve(b);
}

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, std::optional<double> threshold) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  if (threshold) solver.setThreshold(*threshold);
  solver.compute(a);
  return solver.solve(b);
}

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix) {
  return least_squares(matrix, Eigen::MatrixXd::Identity(matrix.rows(), matrix.rows()));
}

}  // namespace krohn
