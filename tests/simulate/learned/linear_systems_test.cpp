#include "krohn/simulate/learned/linear_systems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

constexpr double kNear = 1e-9;

/// Of rank `rank`, with singular values between about 1/4 and 4.
MatrixXd random_matrix(Index rows, Index columns, Index rank, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto draw = [&](Index m, Index n) {
    return MatrixXd::NullaryExpr(m, n, [&] { return normal(random); }).eval();
  };
  if (rank == 0) return MatrixXd::Zero(rows, columns);
  const SingularValues left = singular_value_decomposition(draw(rows, rank)),
                       right = singular_value_decomposition(draw(columns, rank));
  const MatrixXd sizes = MatrixXd::NullaryExpr(rank, 1, [&] { return std::exp2(2 * std::sin(normal(random))); });
  return left.left.leftCols(rank) * sizes.col(0).asDiagonal() * right.left.leftCols(rank).transpose();
}

bool is_orthonormal(const MatrixXd& columns) { return (columns.transpose() * columns).isIdentity(kNear); }

template <class Body>
void for_all_shapes(Body body) {
  std::mt19937_64 random(3);
  // 16 columns are where the division into parts begins.
  for (const Index rows : {1, 2, 3, 5, 8, 15, 16, 17, 40})
    for (const Index columns : {1, 2, 3, 5, 8, 15, 16, 17, 40})
      for (const Index rank : {Index{0}, Index{1}, std::min(rows, columns) / 2, std::min(rows, columns)}) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(rank);
        body(random_matrix(rows, columns, rank, random), rank, random);
      }
}

}  // namespace

TEST_CASE("singular values and their vectors make up the matrix") {
  for_all_shapes([](const MatrixXd& a, Index, std::mt19937_64&) {
    const Index least = std::min(a.rows(), a.cols());
    const SingularValues thin = thin_singular_values(a), full = singular_value_decomposition(a);
    REQUIRE(thin.left.cols() == least);
    REQUIRE(thin.right.cols() == least);
    REQUIRE((full.left.cols() == a.rows() && full.right.cols() == a.cols()));
    for (const SingularValues* of : {&thin, &full}) {
      REQUIRE(is_orthonormal(of->left));
      REQUIRE(is_orthonormal(of->right));
      REQUIRE((of->left.leftCols(least) * of->values.asDiagonal() * of->right.leftCols(least).transpose() - a).norm() <
              kNear);
      for (Index i = 1; i < least; ++i) REQUIRE(of->values(i - 1) >= of->values(i));
    }
    REQUIRE((thin.values - singular_values(a)).norm() < kNear);
  });
}

TEST_CASE("QR with pivots, the basis of columns, and ranks") {
  for_all_shapes([](const MatrixXd& a, Index rank, std::mt19937_64&) {
    const PivotedQr qr = pivoted_qr(a);
    REQUIRE(is_orthonormal(qr.q));
    REQUIRE(qr.q.cols() == a.rows());
    REQUIRE(qr.diagonal.size() == std::min(a.rows(), a.cols()));
    std::vector<Index> sorted = qr.order;
    std::ranges::sort(sorted);
    REQUIRE(sorted.size() == static_cast<std::size_t>(a.cols()));
    for (Index i = 0; i < a.cols(); ++i) REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
    const MatrixXd r = qr.q.transpose() * a(Eigen::all, qr.order);
    for (Index i = 0; i < qr.diagonal.size(); ++i) {
      REQUIRE(std::abs(r(i, i) - qr.diagonal(i)) < kNear);
      if (i > 0) REQUIRE(std::abs(qr.diagonal(i)) <= std::abs(qr.diagonal(i - 1)) + kNear);
      REQUIRE(r.col(i).tail(a.rows() - i - 1).norm() < kNear);
    }
    REQUIRE((qr.diagonal.cwiseAbs().array() > 1e-7).count() == rank);
    REQUIRE(numerical_rank(a, 1e-7) == rank);
    if (rank == a.cols()) {
      const MatrixXd basis = orthonormal_basis(a);
      REQUIRE(is_orthonormal(basis));
      REQUIRE((basis * basis.transpose() * a - a).norm() < kNear);
    }
  });
}

TEST_CASE("solutions of square systems, of ill-conditioned ones, and of least squares") {
  for_all_shapes([](const MatrixXd& a, Index rank, std::mt19937_64& random) {
    const MatrixXd b = random_matrix(a.rows(), 3, std::min<Index>(a.rows(), 3), random);
    const MatrixXd x = least_squares(a, b, 1e-9);
    REQUIRE((a.transpose() * (a * x - b)).norm() < kNear);
    // Of least norm: nothing of it in the kernel.
    const SingularValues svd = singular_value_decomposition(a);
    REQUIRE((svd.right.rightCols(a.cols() - rank).transpose() * x).norm() < kNear);
    if (rank == std::min(a.rows(), a.cols())) REQUIRE((least_squares(a, b) - x).norm() < kNear);
    if (rank == std::min(a.rows(), a.cols())) REQUIRE((pseudo_inverse(a) * b - x).norm() < kNear);
    if (a.rows() != a.cols()) return;
    const auto conditioned =
        solution_if_conditioned(a.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 1e-6);
    REQUIRE(conditioned.has_value() == (rank == a.cols()));
    if (rank < a.cols()) return;
    REQUIRE((a * solution(a, b) - b).norm() < kNear);
    REQUIRE((a.cast<std::complex<double>>() * *conditioned - b.cast<std::complex<double>>()).norm() < kNear);
    // As nearly singular as is said, and a little more.
    if (a.cols() < 2) return;
    MatrixXd near = MatrixXd::Identity(a.cols(), a.cols());
    near(0, 0) = 1e-3;
    REQUIRE(solution_if_conditioned(near.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 0.99e-3));
    REQUIRE(!solution_if_conditioned(near.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 1.01e-3));
  });
}

TEST_CASE("eigenvalues, real and complex; nothing where there are none") {
  for_all_shapes([](const MatrixXd& a, Index, std::mt19937_64&) {
    if (a.rows() != a.cols()) return;
    const MatrixXd symmetric = a + a.transpose();
    const auto real = symmetric_eigen(symmetric);
    REQUIRE(real);
    REQUIRE(is_orthonormal(real->vectors));
    REQUIRE((symmetric * real->vectors - real->vectors * real->values.asDiagonal()).norm() < kNear);
    for (Index i = 1; i < a.rows(); ++i) REQUIRE(real->values(i - 1) <= real->values(i));
    const auto complex = complex_eigen(a);
    REQUIRE(complex);
    REQUIRE((a * complex->vectors - complex->vectors * complex->values.asDiagonal()).norm() < 1e-7);
    for (Index i = 0; i < a.rows(); ++i) REQUIRE(complex->vectors.col(i).norm() == doctest::Approx(1));
  });
  MatrixXd none = MatrixXd::Identity(3, 3);
  none(2, 1) = none(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!symmetric_eigen(none));
  CHECK(!complex_eigen(none));
}
