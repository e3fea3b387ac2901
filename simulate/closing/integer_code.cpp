#include "krohn/simulate/closing/integer_code.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kLeastShare = 1e-3;  ///< singular values below that of the greatest are noise
constexpr int kMostDenominator = 12;
constexpr double kClear = 0.25;  ///< coordinates farther from an integer are not taken for one
constexpr double kMostEntry = 1 << 20;

MatrixXd nearest_integers(const MatrixXd& numbers) { return numbers.array().round().matrix(); }

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
    for (Index j = 0; j < pivot; ++j)
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

/// The points' coordinates, and a basis in which they are integers.
struct Coordinates {
  MatrixXd basis, points;
};

std::optional<Coordinates> integer_coordinates(const MatrixXd& pivots, const MatrixXd& in_pivots) {
  for (int d = 1; d <= kMostDenominator; ++d) {
    const MatrixXd multiples = d * in_pivots, rounded = nearest_integers(multiples);
    if (greatest(multiples - rounded) > kClear || greatest(rounded) > kMostEntry) continue;
    if (d == 1) return Coordinates{pivots, rounded};
    const MatrixXd lattice = lattice_basis(rounded, d);
    const MatrixXd points = nearest_integers(lattice.triangularView<Eigen::Lower>().solve(rounded));
    if (lattice * points != rounded) return std::nullopt;
    return Coordinates{pivots * lattice / d, points};
  }
  return std::nullopt;
}

bool holds(const IntegerCode& code, const std::vector<LearnedCode::Move>& moves) {
  return std::ranges::all_of(moves, [&](const LearnedCode::Move& move) {
    return code.letters[move.letter] * code.points.col(move.from) == code.points.col(move.to);
  });
}

/// In the space of the first `rank` singular vectors.
std::optional<IntegerCode> code_of_rank(const LearnedCode& learned, const MatrixXd& directions) {
  const MatrixXd points = directions.transpose() * learned.points;
  const Index rank = points.rows();
  const Eigen::ColPivHouseholderQR<MatrixXd> order(points);
  MatrixXd pivots(rank, rank);
  for (Index i = 0; i < rank; ++i) pivots.col(i) = points.col(order.colsPermutation().indices()(i));
  const Eigen::PartialPivLU<MatrixXd> of_pivots(pivots);
  const auto coordinates = integer_coordinates(pivots, of_pivots.solve(points));
  if (!coordinates) return std::nullopt;
  const Eigen::PartialPivLU<MatrixXd> of_basis(coordinates->basis);
  IntegerCode code{directions * coordinates->basis, coordinates->points, {}, 0};
  std::vector<MatrixXd> trained;
  for (const MatrixXd& letter : learned.letters) {
    const MatrixXd in_basis = of_basis.solve(directions.transpose() * letter * code.basis);
    code.letters.push_back(nearest_integers(in_basis));
    if (!in_basis.allFinite() || greatest(code.letters.back()) > kMostEntry) return std::nullopt;
    trained.push_back(in_basis);
  }
  if (!holds(code, learned.moves)) return std::nullopt;
  for (const auto& [from, letter, to] : learned.moves)
    code.moved = std::max(code.moved, greatest(trained[letter] * code.points.col(from) - code.points.col(to)));
  return code;
}

}  // namespace

std::optional<IntegerCode> integer_code(const LearnedCode& learned, Index most_rank) {
  if (learned.points.size() == 0 || !learned.points.allFinite()) return std::nullopt;
  const Eigen::JacobiSVD<MatrixXd> svd(learned.points, Eigen::ComputeThinU);
  const auto& values = svd.singularValues();
  for (Index rank = std::min(most_rank, values.size()); rank > 0; --rank) {
    if (values(rank - 1) < kLeastShare * values(0) || values(0) == 0) continue;
    if (auto code = code_of_rank(learned, svd.matrixU().leftCols(rank))) return code;
  }
  return std::nullopt;
}

}  // namespace krohn
