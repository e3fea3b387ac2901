#include "krohn/simulate/arithmetic/interval.h"

#include <cassert>
#include <optional>

#include "krohn/groups/base/decompositions.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxByEigenvectors = 64;

/// max over rows i of Σ_j |m_ij|.
double greatest_row_sum(const IntervalMatrix& m) {
  double greatest = 0;
  for (std::size_t i = 0; i < m.rows(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m.columns(); ++j) sum = add_up(sum, m(i, j).magnitude());
    greatest = std::max(greatest, sum);
  }
  return greatest;
}

double norm_by_sums(const IntervalMatrix& m) {
  return root_up(multiply_up(greatest_row_sum(m), greatest_row_sum(transpose(m))));
}

bool is_finite(const IntervalMatrix& m) {
  return std::all_of(m.data(), m.data() + m.rows() * m.columns(), [](const Interval& x) { return x.is_bounded(); });
}

/// An upper bound of the greatest eigenvalue of a symmetric positive semidefinite matrix.
double greatest_eigenvalue_bound(const IntervalMatrix& symmetric) {
  const std::optional<SymmetricEigen> eigen = symmetric_eigen(middle(symmetric));
  if (!eigen || !eigen->vectors.allFinite()) return directed::kInfinity;
  const IntervalMatrix v(eigen->vectors);
  IntervalMatrix gram = transpose(v) * v;
  for (std::size_t i = 0; i < gram.rows(); ++i) gram(i, i) = gram(i, i) - Interval(1);
  const double defect = greatest_row_sum(gram);
  if (!(defect < 0.5)) return directed::kInfinity;
  return divide_up(greatest_row_sum(transpose(v) * (symmetric * v)), -add_up(defect, -1));
}

}  // namespace

IntervalMatrix::IntervalMatrix(const Eigen::MatrixXd& points)
    : IntervalMatrix(static_cast<std::size_t>(points.rows()), static_cast<std::size_t>(points.cols())) {
  std::transform(points.data(), points.data() + points.size(), entries_.begin(), [](double x) { return Interval(x); });
}

IntervalMatrix operator*(const IntervalMatrix& a, const IntervalMatrix& b) {
  assert(a.columns() == b.rows());
  IntervalMatrix product(a.rows(), b.columns());
  for (std::size_t j = 0; j < b.columns(); ++j)
    for (std::size_t k = 0; k < a.columns(); ++k) {
      if (b(k, j) == Interval(0)) continue;
      for (std::size_t i = 0; i < a.rows(); ++i)
        if (a(i, k) != Interval(0)) product(i, j) = product(i, j) + a(i, k) * b(k, j);
    }
  return product;
}

IntervalMatrix operator-(const IntervalMatrix& a, const IntervalMatrix& b) {
  assert(a.rows() == b.rows() && a.columns() == b.columns());
  IntervalMatrix difference = a;
  for (std::size_t i = 0; i < a.rows() * a.columns(); ++i) difference.data()[i] = a.data()[i] - b.data()[i];
  return difference;
}

IntervalMatrix transpose(const IntervalMatrix& a) {
  IntervalMatrix transposed(a.columns(), a.rows());
  for (std::size_t j = 0; j < a.columns(); ++j)
    for (std::size_t i = 0; i < a.rows(); ++i) transposed(j, i) = a(i, j);
  return transposed;
}

Eigen::MatrixXd middle(const IntervalMatrix& a) {
  Eigen::MatrixXd points(static_cast<Eigen::Index>(a.rows()), static_cast<Eigen::Index>(a.columns()));
  std::transform(a.data(), a.data() + a.rows() * a.columns(), points.data(),
                 [](const Interval& x) { return middle(x); });
  return points;
}

IntervalMatrix inverse_of_upper_triangular(const IntervalMatrix& r) {
  assert(r.rows() == r.columns());
  const std::size_t n = r.rows();
  IntervalMatrix inverse(n, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j + 1; i-- > 0;) {
      Interval sum(i == j ? 1.0 : 0.0);
      for (std::size_t k = i + 1; k <= j; ++k) sum = sum - r(i, k) * inverse(k, j);
      inverse(i, j) = sum / r(i, i);
    }
  return inverse;
}

double frobenius_norm_bound(const IntervalMatrix& m) {
  double sum = 0;
  for (std::size_t i = 0; i < m.rows() * m.columns(); ++i) sum = add_up(sum, square(m.data()[i]).upper());
  return root_up(sum);
}

double spectral_norm_bound(const IntervalMatrix& m) {
  if (m.rows() == 0 || m.columns() == 0) return 0;
  if (!is_finite(m)) return directed::kInfinity;
  if (m.rows() > kMaxByEigenvectors) return norm_by_sums(m);
  const IntervalMatrix gram = transpose(m) * m;
  if (!is_finite(gram)) return directed::kInfinity;
  return std::min(norm_by_sums(m), root_up(greatest_eigenvalue_bound(gram)));
}

}  // namespace krohn
