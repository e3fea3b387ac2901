#include "krohn/simulate/closing/group_copies.h"

#include <algorithm>
#include <cmath>

#include "krohn/groups/linear/decompositions.h"
#include "krohn/simulate/closing/point_moves.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMostPoints = 200;
constexpr double kSame = 1e-6;        ///< of the greater of two sizes, in which they may differ and be one
constexpr double kRoundings = 1e-11;  ///< of the greatest square of a size, the same of two squares

/// All but the vectors and the copies; nothing where the letters are no permutations.
std::optional<GroupCopies> permuted(const std::vector<LearnedCode::Move>& moves, std::size_t letters,
                                    std::size_t points) {
  const PointMoves by = point_moves(moves, letters, points);
  GroupCopies found;
  found.at.assign(points, kNoPoint);
  for (std::size_t i = 0; i < points; ++i) {
    if (by.like[i] == kNoPoint) return std::nullopt;
    if (by.like[i] != i) continue;
    found.at[i] = static_cast<std::uint32_t>(found.points.size());
    found.points.push_back(static_cast<Index>(i));
  }
  for (std::size_t i = 0; i < points; ++i) found.at[i] = found.at[by.like[i]];
  for (const std::vector<std::uint32_t>& images : by.next) {
    std::vector<std::uint32_t> own;
    for (const Index point : found.points) {
      const std::uint32_t image = images[static_cast<std::size_t>(point)];
      if (image == kNoPoint) return std::nullopt;
      own.push_back(found.at[image]);
    }
    std::vector<std::uint32_t> sorted = own;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != i) return std::nullopt;
    found.next.push_back(std::move(own));
  }
  return found;
}

/// The mean of g M gᵀ over the group that the letters generate: that over the letters and the identity, again and
/// again. Nothing where that does not come to rest.
std::optional<MatrixXd> mean_over_group(MatrixXd matrix, const std::vector<std::vector<std::uint32_t>>& next) {
  constexpr int kMostRounds = 1000;
  const double near = 1e-14 * matrix.cwiseAbs().maxCoeff();
  for (int round = 0; round < kMostRounds; ++round) {
    MatrixXd mean = matrix;
    for (const auto& images : next)
      for (Index j = 0; j < matrix.cols(); ++j)
        for (Index i = 0; i < matrix.rows(); ++i)
          mean(images[static_cast<std::size_t>(i)], images[static_cast<std::size_t>(j)]) += matrix(i, j);
    mean /= static_cast<double>(next.size() + 1);
    const double change = (mean - matrix).cwiseAbs().maxCoeff();
    matrix = std::move(mean);
    if (change <= near) return matrix;
  }
  return std::nullopt;
}

/// Of the squares of sizes, falling.
std::vector<GroupCopies::Copy> copies_of(const VectorXd& squares) {
  std::vector<GroupCopies::Copy> copies;
  for (Index i = 0; i < squares.size(); ++i) {
    const double size = std::sqrt(std::max(squares(i), 0.0));
    const bool is_same = i > 0 && (copies.back().size - size <= kSame * copies.back().size ||
                                   squares(i - 1) - squares(i) <= kRoundings * squares(0));
    if (is_same)
      ++copies.back().count;
    else
      copies.push_back({i, 1, size});
  }
  return copies;
}

}  // namespace

std::optional<GroupCopies> group_copies(const MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                        std::size_t letters) {
  if (points.cols() > kMostPoints) return std::nullopt;
  auto found = permuted(moves, letters, static_cast<std::size_t>(points.cols()));
  if (!found || found->points.empty()) return std::nullopt;
  const MatrixXd own = points(Eigen::all, found->points);
  const auto shape = mean_over_group(own.transpose() * own, found->next);
  if (!shape) return std::nullopt;
  const auto parts = symmetric_eigen(*shape);
  if (!parts) return std::nullopt;
  found->vectors = parts->vectors.rowwise().reverse();
  found->copies = copies_of(parts->values.reverse());
  return found;
}

}  // namespace krohn
