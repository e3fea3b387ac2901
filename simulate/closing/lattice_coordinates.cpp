#include "krohn/simulate/closing/lattice_coordinates.h"

#include <cmath>

#include "krohn/simulate/learned/linear_systems.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int kMostDenominator = 12;
constexpr double kClear = 0.25;  ///< coordinates farther from an integer are not taken for one
constexpr double kMostEntry = 1 << 20;

double greatest(const MatrixXd& numbers) { return numbers.size() == 0 ? 0 : numbers.cwiseAbs().maxCoeff(); }

double modulo(double x, double d) { return x - d * std::floor(x / d); }

/// Columns that generate the same group as the integer columns of `generators` and d times every unit vector: a lower
/// triangular basis (Hermite's normal form; Cohen 1993, §2.4.2, numbers reduced modulo d).
MatrixXd lattice_basis(const MatrixXd& generators, double d) {
  const Index size = generators.rows();
  MatrixXd all(size, generators.cols() + size), basis = MatrixXd::Zero(size, size);
  all << generators, d * MatrixXd::Identity(size, size);
  for (Index row = 0; row < size; ++row) {
    // The column of d e_row stays, so that the pivot divides d.
    const Index pivot = generators.cols() + row;
    for (Index j = 0; j < generators.cols(); ++j)
      while (all(row, j) != 0) {
        const double quotient = std::floor(all(row, pivot) / all(row, j));
        all.col(pivot) -= quotient * all.col(j);
        all.col(pivot).swap(all.col(j));
        // d times later unit vectors are generators too.
        for (Index i = row + 1; i < size; ++i) {
          all(i, j) = modulo(all(i, j), d);
          all(i, pivot) = modulo(all(i, pivot), d);
        }
      }
    basis.col(row) = all.col(pivot) * (all(row, pivot) < 0 ? -1 : 1);
  }
  return basis;
}

}  // namespace

MatrixXd nearest_integers(const MatrixXd& numbers) { return (numbers.array().round() + 0.0).matrix(); }

std::optional<LatticeCoordinates> lattice_coordinates(const MatrixXd& pivots, const MatrixXd& in_pivots) {
  for (int d = 1; d <= kMostDenominator; ++d) {
    const MatrixXd multiples = d * in_pivots, rounded = nearest_integers(multiples);
    if (greatest(multiples - rounded) > kClear || greatest(rounded) > kMostEntry) continue;
    if (d == 1) return LatticeCoordinates{pivots, rounded};
    const MatrixXd lattice = lattice_basis(rounded, d);
    const MatrixXd points = nearest_integers(lattice.triangularView<Eigen::Lower>().solve(rounded));
    if (lattice * points != rounded) return std::nullopt;
    return LatticeCoordinates{pivots * lattice / d, points};
  }
  return std::nullopt;
}

std::optional<LatticeCoordinates> lattice_coordinates(const MatrixXd& points) {
  const Index rank = points.rows();
  if (points.cols() < rank) return std::nullopt;
  const PivotedQr qr = pivoted_qr(points);
  MatrixXd pivots(rank, rank);
  for (Index i = 0; i < rank; ++i) pivots.col(i) = points.col(qr.order[static_cast<std::size_t>(i)]);
  return lattice_coordinates(pivots, solution(pivots, points));
}

}  // namespace krohn
