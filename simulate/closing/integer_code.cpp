#include "krohn/simulate/closing/integer_code.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "krohn/simulate/closing/lattice_coordinates.h"
#include "krohn/simulate/closing/learned_copies.h"
#include "krohn/simulate/learned/linear_systems.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastShare = 1e-3;  ///< singular values below that of the greatest are noise
constexpr double kMostMove = 0.35;    ///< of a coordinate; a farther one was not nearly an integer
constexpr double kMostShift = 0.25;   ///< of a point, by the greatest coordinate of all
constexpr double kMostEntry = 1 << 20;

double greatest(const MatrixXd& numbers) { return numbers.size() == 0 ? 0 : numbers.cwiseAbs().maxCoeff(); }

bool holds(const IntegerCode& code, const std::vector<LearnedCode::Move>& moves) {
  return std::ranges::all_of(moves, [&](const LearnedCode::Move& move) {
    return code.letters[move.letter] * code.points.col(move.from) == code.points.col(move.to);
  });
}

/// The trained letters in a basis, and rounded.
struct LettersInBasis {
  std::vector<MatrixXd> trained, rounded;
};

std::optional<LettersInBasis> letters_in(const MatrixXd& basis, const LearnedCode& learned,
                                         const MatrixXd& directions) {
  const MatrixXd of_basis = directions.transpose() * basis;
  LettersInBasis letters;
  for (const MatrixXd& letter : learned.letters) {
    letters.trained.push_back(solution(of_basis, directions.transpose() * letter * basis));
    if (!letters.trained.back().allFinite() || greatest(letters.trained.back()) > kMostEntry) return std::nullopt;
    letters.rounded.push_back(nearest_integers(letters.trained.back()));
  }
  return letters;
}

/// Nothing where a move does not hold, or the learned points or what the trained letters make of the rounded ones lie
/// too far off: then another representation was found than the learned one.
std::optional<IntegerCode> checked(MatrixXd basis, MatrixXd points, LettersInBasis letters, const LearnedCode& learned,
                                   const MatrixXd& directions) {
  const MatrixXd trained = solution(directions.transpose() * basis, directions.transpose() * learned.points);
  if (!(greatest(trained - points) <= kMostShift * greatest(points))) return std::nullopt;
  IntegerCode code{std::move(basis), std::move(points), std::move(letters.rounded), 0};
  if (!holds(code, learned.moves)) return std::nullopt;
  for (const auto& [from, letter, to] : learned.moves)
    code.moved = std::max(code.moved, greatest(letters.trained[letter] * code.points.col(from) - code.points.col(to)));
  if (code.moved > kMostMove) return std::nullopt;
  return code;
}

/// The lattice that the points generate.
std::optional<IntegerCode> code_of_points(const LearnedCode& learned, const MatrixXd& directions) {
  const auto coordinates = lattice_coordinates(directions.transpose() * learned.points);
  if (!coordinates) return std::nullopt;
  const MatrixXd basis = directions * coordinates->basis;
  auto letters = letters_in(basis, learned, directions);
  if (!letters) return std::nullopt;
  return checked(basis, coordinates->points, *std::move(letters), learned, directions);
}

/// The first point on a grid, the others where the rounded letters take it.
std::optional<MatrixXd> orbit(const VectorXd& first, const std::vector<MatrixXd>& letters,
                              const std::vector<LearnedCode::Move>& moves, Index count) {
  constexpr double kGrid = 64;  // of the power of two below the greatest coordinate
  const double unit = std::exp2(std::floor(std::log2(std::max(greatest(first), 1e-9)))) / kGrid;
  MatrixXd points(first.size(), count);
  std::vector<bool> is_known(static_cast<std::size_t>(count), false);
  points.col(0) = unit * nearest_integers(first / unit);
  is_known[0] = true;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& [from, letter, to] : moves) {
      if (!is_known[static_cast<std::size_t>(from)] || is_known[static_cast<std::size_t>(to)]) continue;
      points.col(to) = letters[letter] * points.col(from);
      is_known[static_cast<std::size_t>(to)] = goes_on = true;
    }
  }
  if (!std::ranges::all_of(is_known, std::identity())) return std::nullopt;
  return points;
}

/// Lattices that the letters keep, where that of the points is none.
std::optional<IntegerCode> code_of_copies(const LearnedCode& learned, const LearnedCopies& copies) {
  const MatrixXd directions = orthonormal_basis(copies.basis);
  auto letters = letters_in(copies.basis, learned, directions);
  if (!letters) return std::nullopt;
  const auto rounded = orbit(copies.points.col(0), letters->rounded, learned.moves, copies.points.cols());
  if (!rounded) return std::nullopt;
  return checked(copies.basis, *rounded, *std::move(letters), learned, directions);
}

}  // namespace

std::optional<IntegerCode> integer_code(const LearnedCode& learned, Index most_rank,
                                        const std::function<bool(const IntegerCode&)>& fits) {
  if (learned.points.size() == 0 || !learned.points.allFinite()) return std::nullopt;
  const SingularValues svd = thin_singular_values(learned.points);
  const auto& values = svd.values;
  const auto count = std::min(most_rank, values.size());
  const auto is_noise = [&](Index i) { return i >= values.size() || values(i) <= kLeastShare * values(0); };
  for (Index rank = count; rank > 0; --rank)
    if (!is_noise(rank - 1))
      if (auto code = code_of_points(learned, svd.left.leftCols(rank)); code && fits(*code)) return code;
  for (const LearnedCopies& copies : learned_copies(learned.points, learned.moves, learned.letters.size()))
    if (copies.basis.cols() <= most_rank)
      if (auto code = code_of_copies(learned, copies); code && fits(*code)) return code;
  return std::nullopt;
}

}  // namespace krohn
