#include "krohn/simulate/closing/learned_copies.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "krohn/simulate/closing/lattice_coordinates.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMostPoints = 200;
constexpr std::size_t kMostCongruences = 4000;
constexpr double kLeastShare = 1e-3;  ///< of the greatest copy; smaller ones are noise
constexpr double kGap = 1.5;          ///< between the sizes of copies that count and those that do not
constexpr double kSame = 1e-6;        ///< eigenvalues so near, by the greatest, are one
constexpr double kExact = 1e-6;       ///< how near to integers letters have to be that are exact but for roundings

/// Point ↦ the least point of its class.
using Classes = std::vector<std::uint32_t>;

/// next[letter][point].
using Action = std::vector<std::vector<std::uint32_t>>;

/// Points that letters permute, and the others: what no letter leads to, such as the state before a word where the
/// empty word is not asked about, moves like one that some letter leads to.
struct Permuted {
  std::vector<Index> points;      ///< those that are permuted
  std::vector<std::uint32_t> at;  ///< point ↦ its place, or that of its like, among them
  Action next;                    ///< by place
};

std::optional<Permuted> permuted(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  Action next(letters, std::vector<std::uint32_t>(points, kNone));
  std::vector<bool> is_reached(points, false);
  for (const auto& [from, letter, to] : moves) {
    next[letter][static_cast<std::size_t>(from)] = static_cast<std::uint32_t>(to);
    is_reached[static_cast<std::size_t>(to)] = true;
  }
  Permuted found{{}, std::vector<std::uint32_t>(points, kNone), {}};
  for (std::size_t i = 0; i < points; ++i)
    if (is_reached[i]) {
      found.at[i] = static_cast<std::uint32_t>(found.points.size());
      found.points.push_back(static_cast<Index>(i));
    }
  for (std::size_t i = 0; i < points; ++i) {
    const auto moves_alike = [&](Index other) {
      return std::ranges::all_of(
          next, [&](const auto& images) { return images[i] == images[static_cast<std::size_t>(other)]; });
    };
    if (is_reached[i]) continue;
    const auto like = std::ranges::find_if(found.points, moves_alike);
    if (like == found.points.end()) return std::nullopt;
    found.at[i] = found.at[static_cast<std::size_t>(*like)];
  }
  for (const std::vector<std::uint32_t>& images : next) {
    std::vector<std::uint32_t> own;
    for (const Index point : found.points) {
      const std::uint32_t image = images[static_cast<std::size_t>(point)];
      if (image == kNone) return std::nullopt;
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

/// The least congruence above `classes` in which a and b are one.
Classes merged(Classes classes, std::uint32_t a, std::uint32_t b, const Action& next) {
  const auto root = [&](std::uint32_t x) {
    while (classes[x] != x) x = classes[x] = classes[classes[x]];
    return x;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue{{a, b}};
  while (!queue.empty()) {
    auto [x, y] = queue.back();
    queue.pop_back();
    x = root(x), y = root(y);
    if (x == y) continue;
    classes[std::max(x, y)] = std::min(x, y);
    for (const auto& images : next) queue.emplace_back(images[x], images[y]);
  }
  for (std::uint32_t x = 0; x < classes.size(); ++x) classes[x] = root(x);
  return classes;
}

/// Those that one or two pairs with point 0 generate, few classes first.
std::vector<Classes> congruences(const Action& next, std::size_t points) {
  Classes apart(points);
  std::iota(apart.begin(), apart.end(), 0);
  std::set<Classes> found{apart};
  for (int round = 0; round < 2; ++round)
    for (const Classes& classes : std::vector<Classes>(found.begin(), found.end()))
      for (std::uint32_t point = 1; point < points && found.size() < kMostCongruences; ++point)
        if (classes[point] != classes[0]) found.insert(merged(classes, 0, point, next));
  std::vector<Classes> all(found.begin(), found.end());
  std::ranges::stable_sort(all, {},
                           [](const Classes& classes) { return std::set(classes.begin(), classes.end()).size(); });
  return all;
}

MatrixXd class_means(const MatrixXd& points, const Classes& classes) {
  MatrixXd means = MatrixXd::Zero(points.rows(), points.cols());
  VectorXd counts = VectorXd::Zero(points.cols());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    means.col(static_cast<Index>(classes[i])) += points.col(static_cast<Index>(i));
    counts(static_cast<Index>(classes[i])) += 1;
  }
  Index kept = 0;  // a class stands at its least point
  for (Index i = 0; i < means.cols(); ++i)
    if (counts(i) > 0) means.col(kept++) = means.col(i) / counts(i);
  return means.leftCols(kept);
}

/// The mean of g M gᵀ over the group that the letters generate: that over the letters and the identity, again and
/// again. Nothing where that does not come to rest.
std::optional<MatrixXd> mean_over_group(MatrixXd matrix, const Action& next) {
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

/// A basis of a lattice of full rank that the letters keep, in the coordinates of `level`; nothing where class means
/// generate none.
std::optional<MatrixXd> lattice_of(const MatrixXd& level, const std::vector<Classes>& all, const Action& next) {
  const Index rank = level.rows();
  const double least = kLeastShare * std::sqrt(static_cast<double>(rank) / static_cast<double>(level.cols()));
  MatrixXd basis(rank, 0), spanned(rank, 0);
  for (const Classes& classes : all) {
    MatrixXd means = class_means(level, classes);
    means -= spanned * (spanned.transpose() * means);
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(means);
    const Index more = (qr.matrixQR().diagonal().cwiseAbs().array() > least).count();
    if (more == 0 || basis.cols() + more > rank) continue;
    const MatrixXd directions = MatrixXd(qr.householderQ()).leftCols(more);
    const auto part = lattice_coordinates(directions.transpose() * means);
    if (!part) continue;
    basis.conservativeResize(Eigen::NoChange, basis.cols() + more);
    basis.rightCols(more) = directions * part->basis;
    spanned.conservativeResize(Eigen::NoChange, basis.cols());
    spanned.rightCols(more) = directions;
    if (basis.cols() == rank) break;
  }
  if (basis.cols() < rank) return std::nullopt;
  const Eigen::PartialPivLU<MatrixXd> of_basis(basis);
  const MatrixXd points = of_basis.solve(level);
  for (const auto& images : next) {
    MatrixXd moved(points.rows(), points.cols());
    for (std::size_t i = 0; i < images.size(); ++i) moved.col(static_cast<Index>(i)) = points.col(images[i]);
    const MatrixXd letter = moved * level.transpose() * basis;  // level has orthonormal rows
    if (!((letter - nearest_integers(letter)).cwiseAbs().maxCoeff() <= kExact)) return std::nullopt;
  }
  return basis * std::exp2(std::floor(std::log2(points.cwiseAbs().maxCoeff())));
}

/// Eigenvectors of one size.
struct Copy {
  Index first = 0, count = 0;  ///< columns
  double size = 0;
};

std::vector<Copy> copies_of(const VectorXd& values) {  // falling
  std::vector<Copy> copies;
  for (Index i = 0; i < values.size(); ++i) {
    const double size = std::sqrt(std::max(values(i), 0.0));
    if (i > 0 && values(i - 1) - values(i) <= kSame * values(0))
      ++copies.back().count;
    else
      copies.push_back({i, 1, size});
  }
  return copies;
}

}  // namespace

std::vector<LearnedCopies> learned_copies(const MatrixXd& all_points, const std::vector<LearnedCode::Move>& moves,
                                          std::size_t letters) {
  if (all_points.cols() > kMostPoints) return {};
  const auto action = permuted(moves, letters, static_cast<std::size_t>(all_points.cols()));
  if (!action || action->points.empty()) return {};
  const MatrixXd points = all_points(Eigen::all, action->points);
  const Action& next = action->next;
  const Index count = points.cols();
  const auto shape = mean_over_group(points.transpose() * points, next);
  if (!shape) return {};
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(*shape);
  const MatrixXd vectors = solver.eigenvectors().rowwise().reverse();
  const std::vector<Copy> copies = copies_of(solver.eigenvalues().reverse());
  const std::vector<Classes> all = congruences(next, static_cast<std::size_t>(count));
  const double least = kLeastShare * copies.front().size;
  std::vector<LearnedCopies> found;
  LearnedCopies kept{MatrixXd(points.rows(), 0), MatrixXd(0, count), 0};
  MatrixXd waiting(count, 0);  // copies that have no lattice by themselves
  for (std::size_t i = 0; i < copies.size() && copies[i].size > least; ++i) {
    const MatrixXd own = vectors.middleCols(copies[i].first, copies[i].count);
    MatrixXd both(count, waiting.cols() + own.cols());
    both << waiting, own;
    bool is_kept = false;
    for (const MatrixXd* part : {&own, static_cast<const MatrixXd*>(&both)}) {
      const auto lattice = lattice_of(part->transpose(), all, next);
      if (!lattice) continue;
      const Index rank = kept.points.rows();
      kept.basis.conservativeResize(Eigen::NoChange, rank + part->cols());
      kept.basis.rightCols(part->cols()) = points * *part * *lattice;
      kept.points.conservativeResize(rank + part->cols(), Eigen::NoChange);
      kept.points.bottomRows(part->cols()) = Eigen::PartialPivLU<MatrixXd>(*lattice).solve(part->transpose());
      if (part == &both) waiting.resize(count, 0);
      is_kept = true;
      break;
    }
    if (!is_kept) waiting = both;
    const double below = i + 1 < copies.size() ? std::max(copies[i + 1].size, least) : least;
    kept.gap = copies[i].size / below;
    if (kept.gap > kGap && kept.points.rows() > 0) found.push_back(kept);
  }
  for (LearnedCopies& copies : found) copies.points = MatrixXd(copies.points(Eigen::all, action->at));
  std::ranges::reverse(found);
  return found;
}

}  // namespace krohn
